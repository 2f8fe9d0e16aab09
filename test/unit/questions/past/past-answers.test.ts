// Tests the API about a node's past: its answers, and who gets them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { PastQuery } from '#ports/past.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'
import { PastAnswers, pastLimits } from '#questions/past/past-answers.ts'
import { uidOf } from '#bundle/format/bundle.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { Journal } from '#journal/journal.ts'
import { JournalCopier } from '#journal/journal-copier.ts'
import type { CopySink } from '#journal/journal-copier.ts'
import { storePart } from '#journal/segment-part.ts'
import { err } from '#lib/result.ts'
import { journalAt } from '#test/support/journals.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { pastModel } from '#test/support/past-model.ts'
import { MemoryJournals } from '#test/support/memory-journals.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { viewOf } from '#test/support/config-view.ts'

const model = pastModel
const bundle = bundleOf(model)
const time = new FakeTime(Date.UTC(2027, 2, 1, 3))
const dataDir = mkdtempSync(join(tmpdir(), 'gslbd-past-'))
const silent = (): void => undefined
const journal = new Journal({
  ...{ directory: join(dataDir, 'journal'), bytesMax: 1e8, ageMaxMs: 1e10 },
  ...{ node: 'fra1', version: '0', clock: time.clock, after: time.after },
  log: { info: silent, warn: silent, error: silent },
})
// A thread takes seconds to start where much else is running.
const parts = {
  ...{ dataDir, nodeName: 'fra1', isAnswering: true, journal, clock: time.clock },
  geo: { status: () => [], buffers: noGeoBuffers },
  copies: { journals: new MemoryJournals(), exists: () => false },
  config: viewOf(),
}
const past = new PastAnswers(parts)

/** The first member is down from 03:10 to 03:20; it is 04:00. */
beforeAll(() => {
  new BundleStore(dataDir).add(bundle.digest, bundle.bytes)
  const state = createRoutingState(bundle, 1)
  journal.serves({ digest: bundle.digest, commit: model.commit, seq: 1 }, bundle, state)
  journal.settled()
  for (const healthy of [0, 1]) {
    time.pass(10 * 60_000)
    state.memberHealthy[0] = healthy
    rebuildPool(bundle, state, 0)
    journal.poolChanged(state, 0, true)
  }
  time.pass(40 * 60_000)
})
afterAll(async () => {
  await past.close()
  await journal.stop()
  rmSync(dataDir, { recursive: true })
})

async function ask(name: string, more: Partial<PastQuery>, tenant: string | null = null) {
  const done = await past.why({ name, type: 'A', at: '03:15', ...more }, tenant)
  return done.ok ? done.value : done.error
}

test('an answer of then has its health, service, bundle and commit', async () => {
  expect(await ask('www.example.com.', { client: '203.0.113.9' })).toMatchObject({
    ...{ name: 'www.example.com.', type: 'A', at: '2027-03-01T03:15:00.000Z', node: 'fra1' },
    ...{ digest: bundle.digest, bundleFrom: 'the data directory', rcode: 'NOERROR' },
    ...{ isCertain: true, notes: [], since: '2027-03-01T03:00:00.000Z' },
    commit: { id: model.commit, author: null, date: null, subject: null },
    records: ['www.example.com. 60 IN A 192.0.2.2'],
    shares: [{ member: '192.0.2.2', pool: 'web', probability: 1 }],
    service: { name: 'service-1', members: [{ standing: 'unhealthy' }, { standing: 'candidate' }] },
  })
})

test('before and after a member was down it was answered', async () => {
  const first = { records: ['www.example.com. 60 IN A 192.0.2.1'] }
  expect(await ask('www.example.com.', { at: '03:09:59.999' })).toMatchObject(first)
  expect(await ask('www.example.com.', { at: '03:20' })).toMatchObject(first)
})

test('where turns chose, all that may have come is there', async () => {
  expect(await ask('turns.example.com.', { at: '5m' })).toMatchObject({
    isCertain: false,
    shares: [
      { member: '192.0.2.1', probability: 0.5 },
      { member: '192.0.2.2', probability: 0.5 },
    ],
    mayAnswer: ['192.0.2.1', '192.0.2.2'],
  })
})

const noTexts = 'which records had been written at run time is not in the journal'
const noTimes = 'what browsers had measured is not in the journal'
test.each([
  ['an address of a name that was there', 'www.example.com.', 'A', true, []],
  ['a text of a name that was there', 'www.example.com.', 'TXT', false, [noTexts]],
  ['all of a name that was there', 'www.example.com.', 'ANY', false, [noTexts]],
  ['a name that was not there', '_acme-challenge.www.example.com.', 'A', false, [noTexts]],
  ['a name of a wildcard', 'any.wild.example.com.', 'A', false, [noTexts]],
  ['a name of another zone', 'www.example.net.', 'TXT', true, []],
  ['a choice that goes by what browsers measured', 'fast.example.com.', 'A', false, [noTimes]],
  ['a step before it had left one member', 'stays.example.com.', 'A', true, []],
] as const)('missing data makes no answer certain: %s', async (_, name, type, isCertain, notes) => {
  const told = await ask(name, { type, at: '03:05' })
  expect(told).toMatchObject({
    isCertain,
    notes: notes.map((note) => expect.stringContaining(note) as string),
  })
  const { text } = told as { readonly text: string }
  const word = isCertain ? 'certain' : 'unsure'
  expect(text).toMatch(new RegExp(`^${word} `, 'm'))
})

test('what updates may write makes less certain; what is there names its writer', async () => {
  const written = { name: 'www.example.com.', tenantId: 'acme', ttlSeconds: 60 }
  const record = (id: string, type: number, rdata: string, createdAtMs: number): StoredRecord => ({
    ...{ ...written, id, type, rdata, createdAtMs, writtenBy: 'key:dhcp.example.' },
  })
  const records = [
    record('a', 12, 'AWEA', Date.UTC(2027, 2, 1, 3, 1)),
    record('b', 12, 'AWIA', Date.UTC(2027, 2, 1, 3, 30)),
  ]
  const byTicket = { ...records[0]!, id: 'c', rdata: 'AWMA', writtenBy: 'kerberos:PC1$@EXAMPLE' }
  records.push(byTicket)
  const typed = new PastAnswers({ ...parts, writtenTypes: [12], writtenAt: () => records })
  onTestFinished(() => typed.close())
  const asked = { name: 'WWW.example.com', type: 'PTR', at: '03:05' }
  const there = 'www.example.com. PTR a. was written at run time by key dhcp.example. at 2027-03-01'
  expect(await typed.why(asked, null)).toMatchObject({
    value: {
      isCertain: false,
      notes: [noTexts, there, 'PTR c. was written at run time by PC1$@EXAMPLE at'].map(
        (note) => expect.stringContaining(note) as string,
      ),
    },
  })
  // An address of the configuration is never written over.
  const address = await typed.why({ ...asked, type: 'A' }, null)
  expect(address).toMatchObject({ value: { isCertain: true } })
  expect(await typed.why(asked, 'zenith')).not.toMatchObject({ value: { notes: [{}, {}] } })
})

test('measurements of browsers do not matter with one candidate', async () => {
  const told = await ask('fast.example.com.', { at: '03:15' })
  expect(told).toMatchObject({ isCertain: true, notes: [], mayAnswer: ['192.0.2.2'] })
})

test('an instant ahead of the clock is explained where the journal has it', async () => {
  const earlier = new FakeTime(Date.UTC(2027, 2, 1, 3, 5))
  const back = new PastAnswers({ ...parts, clock: earlier.clock })
  const why = (more: Partial<PastQuery>) =>
    back.why({ name: 'www.example.com.', type: 'A', at: '2027-03-01T03:15:00Z', ...more }, null)
  expect(await why({})).toMatchObject({
    value: { records: ['www.example.com. 60 IN A 192.0.2.2'] },
  })
  expect(await why({ at: '2027-03-01T05:00:00Z' })).toMatchObject({
    error: {
      ...{ code: 'invalid', field: 'at' },
      reason: expect.stringContaining('is in the future') as string,
    },
  })
  await back.close()
})

test('names that were of others do not exist for a tenant', async () => {
  expect(await ask('www.example.com.', {}, 'acme')).toMatchObject({ isCertain: true })
  expect(await ask('theirs.example.com.', {}, 'acme')).toEqual({ code: 'not-found' })
  expect(await ask('none.example.com.', {}, 'acme')).toEqual({ code: 'not-found' })
  expect(await ask('theirs.example.com.', {}, 'zenith')).toMatchObject({ isCertain: true })
})

test('a tenant learns no more about an unknown instant than that', async () => {
  const reason = 'nothing is known of that instant here'
  expect(await ask('www.example.com.', { at: '02:00' }, 'acme')).toEqual({
    code: 'unknown',
    reason,
  })
  expect(await ask('www.example.com.', { at: '02:00' })).toMatchObject({
    reason: expect.stringContaining('which begins at 2027-03-01T03:00:00.000Z') as string,
  })
})

test.each([
  ['name', { name: 'a..b' }],
  ['type', { type: 'AB' }],
  ['client', { client: '192.0.2' }],
  ['subnet', { subnet: '192.0.2.0/40' }],
  ['at', { at: 'once' }],
  ['at', { at: '2027-03-01T05:00:00Z' }],
  ['node', { node: 'fra2' }],
])('a wrong %s is named: %j', async (field, wrong) => {
  expect(await ask('www.example.com.', wrong)).toMatchObject({ code: 'invalid', field })
})

/** What the node ams1, which is gone, has copied: the same hour, at which no member was down. */
async function copiesOfAms1(): Promise<MemoryJournals> {
  const directory = join(dataDir, 'ams1')
  const then = new FakeTime(Date.UTC(2027, 2, 1, 3))
  const other = journalAt(directory, then, 'ams1')
  const state = createRoutingState(bundle, 1)
  other.serves({ digest: bundle.digest, commit: model.commit, seq: 1 }, bundle, state)
  other.settled()
  for (let i = 0; i < 20; i++) {
    then.pass(60_000)
    await other.flush()
  }
  await other.stop()
  const journals = new MemoryJournals()
  const add: CopySink['add'] = async (part) => {
    const stored = await storePart(journals, part, then.clock.nowMs())
    return stored.ok && stored.value.ok ? stored.value : err({ code: 'refused', message: '' })
  }
  const { clock } = then
  const log = { info: silent, warn: silent, error: silent }
  await new JournalCopier({
    directory: join(directory, 'journal'),
    sink: { add },
    clock,
    log,
  }).look()
  return journals
}

test('the journal of another node says what that one answered', async () => {
  const copies = { journals: await copiesOfAms1(), exists: () => true }
  const control = new PastAnswers({ ...parts, copies, isAnswering: false, journal: null })
  const why = async (more: Partial<PastQuery>, tenant: string | null = null) =>
    control.why({ name: 'www.example.com.', type: 'A', at: '03:15', ...more }, tenant)
  expect(await why({ node: 'ams1' })).toMatchObject({
    value: {
      ...{ node: 'ams1', digest: bundle.digest, isCertain: true },
      records: ['www.example.com. 60 IN A 192.0.2.1'],
    },
  })
  expect(await why({ node: 'ams1' }, 'acme')).toMatchObject({ ok: true })
  expect(await why({ node: 'ams1', at: '03:40' })).toMatchObject({
    error: {
      code: 'unknown',
      reason: expect.stringContaining('the node was stopped at') as string,
    },
  })
  const known = 'ams1 from 2027-03-01T03:00:00.000Z to 2027-03-01T03:20:00.000Z'
  const reason = `there is no journal of ams9 here; known are ${known}`
  expect(await why({ node: 'ams9' })).toEqual(err({ code: 'invalid', field: 'node', reason }))
  expect(await why({ node: 'ams9' }, 'acme')).toMatchObject({
    error: { reason: 'there is no journal of ams9 here' },
  })
  expect(await why({ node: 'ams1', at: 'once' })).toMatchObject({ error: { field: 'at' } })
  await control.close()
})

test('health over time is told of this node and of those in the database', async () => {
  const copies = { journals: await copiesOfAms1(), exists: () => true }
  const asked = { tenant: 'acme', members: [uidOf(bundle.memberUid, 0)], rangeMs: 3_600_000 }
  const known = new PastAnswers({ ...parts, copies })
  const told = async (from: PastAnswers, ofAll: boolean, node?: string) => {
    const done = await from.health({ ...asked, ofAll, ...(node === undefined ? {} : { node }) })
    if (!done.ok) return done.error.code
    return done.value.nodes.map((one) => [
      one.node,
      one.members[0]!.stretches.map(({ standing }) => standing).join(),
    ])
  }
  const own = ['fra1', 'up,down,up']
  const other = ['ams1', 'up,unknown']
  expect(await told(known, true)).toEqual([own, other])
  expect(await told(known, true, 'ams1')).toEqual([other])
  expect(await told(known, true, 'fra1')).toEqual([own])
  expect(await told(known, true, 'ams9')).toBe('unknown')
  // Names of nodes are not for tenants.
  expect(await told(known, false)).toEqual([own])
  expect(await told(known, false, 'ams1')).toBe('unknown')
  await known.close()

  const control = new PastAnswers({ ...parts, copies, isAnswering: false, journal: null })
  expect(await told(control, true)).toEqual([other])
  expect(await told(control, false)).toBe('unknown')
  copies.journals.nodes = async () => err({ code: 'store-away', message: 'it is away' })
  expect(await told(control, true)).toBe('away')
  expect(await told(known, true)).toEqual([own])
  await control.close()
  await known.close()
})

test('a database that is away is not taken for a node without a journal', async () => {
  const journals = new MemoryJournals()
  journals.segmentsOf = async () => err({ code: 'store-away', message: 'it is away' })
  const other = new PastAnswers({ ...parts, copies: { journals, exists: () => true } })
  const query = { name: 'www.example.com.', type: 'A', at: '03:15', node: 'ams1' }
  expect(await other.why(query, null)).toEqual(err({ code: 'away', reason: 'it is away' }))
  await other.close()
})

test('a disk that hangs is waited for by so many questions, and by no more', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const hanging = new PastAnswers({ ...parts, journal: { flush: () => promise } })
  const query = { name: 'www.example.com.', type: 'A', at: '03:15' }
  const waiting = Array.from({ length: pastLimits.waitingMax }, () => hanging.why(query, null))
  expect(await hanging.why(query, null)).toEqual(err({ code: 'busy' }))
  resolve(undefined)
  for (const done of await Promise.all(waiting)) expect(done).toMatchObject({ ok: true })
  await hanging.close()
  const hurried = new PastAnswers({ ...parts, journal: { flush: never }, jobMs: 1 })
  expect(await hurried.why(query, null)).toEqual(err({ code: 'too-slow' }))
  await hurried.close()
})
const never = (): Promise<void> => new Promise(() => undefined)

test.each([
  [{ isAnswering: false, journal: null }, 'this node answers no queries (roles: [control])'],
  [{ journal: null }, 'the settings of this node keep no journal'],
])('%j: %s', async (other, sentence) => {
  const without = new PastAnswers({ ...parts, ...other })
  const query = { name: 'www.example.com.', type: 'A', at: '03:15' }
  const reason = expect.stringContaining(sentence) as string
  expect(await without.why(query, null)).toEqual({ ok: false, error: { code: 'unknown', reason } })
  await without.close()
})

test('a tenant that asks for much at once leaves places to others', async () => {
  const query = { name: 'www.example.com.', type: 'A', at: '03:15' } as const
  const own = Array.from({ length: pastLimits.perTenantMax + 2 }, () => past.why(query, 'acme'))
  const [others, everybody] = [past.why(query, 'zenith'), past.why(query, null)]
  const codes = (await Promise.all(own)).map((done) => (done.ok ? '' : done.error.code))
  expect(codes.filter((code) => code === 'busy')).toHaveLength(2)
  expect(await others).not.toEqual(err({ code: 'busy' }))
  expect((await everybody).ok).toBe(true)
})
