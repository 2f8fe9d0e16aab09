// A node of the role dns tells its journal to control nodes over HTTP: what they take.
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemKey } from '#access/auth/policy.ts'
import { createApp } from '#api/server/app.ts'
import { loadSettings } from '#settings/settings.ts'
import { JournalKeeper } from '#node/journal/journal-keeper.ts'
import { storedSegments } from '#questions/past/stored-segments.ts'
import { JournalSender } from '#fleet/journal/journal-sender.ts'
import { readJournalUpload, journalUploadLimits } from '#fleet/journal/journal-upload.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import { JournalCopier } from '#journal/journal-copier.ts'
import { findMoment, segmentsIn } from '#journal/moment.ts'
import { frame, frameJson, magic, RecordKind } from '#journal/format/records.ts'
import type { Journals } from '#state/ports/journals.ts'
import { devMode, portsOf, silentLog } from '#test/support/api-ports.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { journalEpochMs, journalModel, JournalScene } from '#test/support/journal-scene.ts'
import { MemoryJournals } from '#test/support/memory-journals.ts'

const token = 'b'.repeat(40)
const run = '01234567-89ab-cdef-0123-456789abcdef'
const times = { wallMs: 1_000, monotonicMs: 1 }
const head = { format: 1, node: 'ams1', version: '0', run, why: 'started' }
const first = Buffer.concat([magic, frameJson(RecordKind.Head, times, head)])
const alive = frame(RecordKind.Alive, times, Buffer.alloc(0))
const part = { node: 'ams1', run, number: 1, at: 0, octets: first }

const journals = new MemoryJournals()
let pruned = 0
const prune: Journals['prune'] = async () => ok(pruned++)
const loaded = loadSettings({ env: { GSLB_NODE_NAME: 'c1' }, flags: { 'data-dir': '/none' } })
const settings = loaded.ok ? loaded.value : undefined
let hasDatabase = true
const keeper = new JournalKeeper({
  ...{ settings: settings!, dataDir: '/none', clock: systemClock, log: silentLog },
  journals: { append: journals.append, prune },
  exists: () => hasDatabase,
})
const taken = portsOf({}).bundles
const app = createApp(
  portsOf({
    auth: { ...devMode, systemKey: systemKey('a'.repeat(40)), bundleToken: systemKey(token) },
    bundles: { ...taken, journal: (told) => keeper.take(told) },
  }),
  [],
)
let url = ''
beforeAll(async () => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
})
afterAll(() => app.close())

const sender = (urls: readonly string[], secret: string | null = token): JournalSender =>
  new JournalSender({ urls, token: secret })

test('a journal arrives whole, and gives for each instant what its files give', async () => {
  const scene = new JournalScene()
  const { clock } = scene.time
  const copier = new JournalCopier({
    ...{ directory: scene.directory, sink: sender([url]), clock, log: silentLog },
  })
  scene.swap(journalModel('a'))
  for (let i = 0; i < 4; i++) {
    scene.time.pass(1_900_000)
    scene.flip(i)
    await scene.journal.flush()
    await copier.look()
  }
  await copier.stop()
  for (let atMs = journalEpochMs; atMs < clock.nowMs(); atMs += 600_000) {
    const stored = await storedSegments(journals, 'n1', atMs)
    const segments = stored.ok ? stored.value.map((one) => Buffer.from(one)) : []
    expect(findMoment(segments, atMs)).toEqual(findMoment(segmentsIn(scene.directory), atMs))
  }
  expect(copier.status()).toMatchObject({ error: null, refused: 0 })
  // Received records are searched for old ones once an hour.
  await keeper.look()
  await keeper.look()
  expect(pruned).toBe(1)
  await scene.remove()
})

describe('a control node', () => {
  test('says how much it has, to a question and to what does not follow', async () => {
    const { add } = sender([url])
    expect(await add({ ...part, octets: Buffer.alloc(0) })).toEqual(ok(0))
    expect(await add({ ...part, at: 7, octets: alive })).toEqual(ok(0))
    expect(await add(part)).toEqual(ok(first.length))
    expect(await add(part)).toEqual(ok(first.length))
    const more = { ...part, at: first.length, octets: alive }
    expect(await add(more)).toEqual(ok(first.length + alive.length))
  })

  test.each([
    ['of another node than it says', { node: 'ams2', number: 2 }],
    ['of another process', { run: run.replace('0', '9'), number: 2 }],
    ['cut in the middle', { number: 2, octets: first.subarray(0, -1) }],
    ['no journal', { number: 2, octets: Buffer.alloc(1_000, 7) }],
    ['of the name of the control node', { node: 'c1', number: 2 }],
    ['too long', { number: 2, octets: Buffer.alloc(journalUploadLimits.octetsMax + 1) }],
    ['far too long', { number: 2, octets: Buffer.alloc(3_000_000) }],
  ])('refuses a part that is %s', async (_what, wrong) => {
    const { added } = journals
    expect(await sender([url]).add({ ...part, ...wrong })).toMatchObject({
      error: { code: 'refused' },
    })
    expect(journals.added).toBe(added)
  })

  test('says why, and whoever sends says it on', async () => {
    const told = await sender([url]).add({ ...part, node: 'c1', number: 2 })
    expect(told.ok ? '' : told.error.message).toMatch(
      /^127\.0\.0\.1:\d+: it answered 400: node: a control node is c1: give the node another/,
    )
  })

  test.each([
    ['no JSON', 'Bad Request'],
    ['no reason', '{}'],
    ['a reason that is none', '{"error":7}'],
    ['a reason without an end', `{"error":"${'x'.repeat(100_000)}"}`],
  ])('is refused by what answers 400 with %s', async (_what, body) => {
    const web = await startStandIn(() => ({ status: 400, body }))
    const told = await sender([web.url]).add(part)
    const { host } = new URL(web.url)
    expect(told).toEqual(err({ code: 'refused', message: `${host}: it answered 400` }))
  })

  test('takes nothing without the token, and says so where it has no database', async () => {
    for (const secret of [null, 'c'.repeat(40)]) {
      const told = await sender([url], secret).add(part)
      expect(told).toMatchObject({ error: { code: 'away' } })
    }
    hasDatabase = false
    expect(await sender([url]).add(part)).toMatchObject({ error: { code: 'absent' } })
    hasDatabase = true
  })

  test.each([
    ['no object', 7],
    ['a name with a space', { ...part, node: 'a b', octets: '' }],
    ['a run that is none', { ...part, run: '../x', octets: '' }],
    ['a number below 0', { ...part, number: -1, octets: '' }],
    ['a part of a number', { ...part, at: 0.5, octets: '' }],
    ['an offset that is none', { ...part, at: 2 ** 53, octets: '' }],
    ['letters that are not Base64', { ...part, octets: 'AA=A' }],
    ['Base64 with bits to spare', { ...part, octets: 'AB==' }],
    ['Base64 for URLs', { ...part, octets: '__8=' }],
    ['octets that are a list', { ...part, octets: [1] }],
  ])('refuses %s', (_what, value) => {
    expect(readJournalUpload(value, 'c1')).toMatchObject({ ok: false })
  })
})

test('the next control node is told where one is away, and stays the first', async () => {
  const web = await startStandIn(() => ({ status: 404 }))
  const busy = await startStandIn(() => ({ status: 503, headers: { 'retry-after': '1' } }))
  const { add } = sender([web.url, busy.url, url])
  expect(await add({ ...part, octets: Buffer.alloc(0) })).toMatchObject({ ok: true })
  expect(await add({ ...part, octets: Buffer.alloc(0) })).toMatchObject({ ok: true })
  expect([web.asked.length, busy.asked.length]).toEqual([1, 1])
  expect(web.asked[0]).toMatchObject({
    path: '/bundles/journal',
    headers: { authorization: `Bearer ${token}` },
  })
  expect(await sender([web.url]).add(part)).toMatchObject({ error: { code: 'absent' } })
  expect(await sender([web.url, busy.url]).add(part)).toMatchObject({ error: { code: 'away' } })
})
