// What the API tells of answers that went by what browsers measured, or by TXT records written at
// run time, and to whom.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { PastQuery } from '#api/ports/past.ts'
import type { MeasuredOfClient } from '#why/sides/measured-table.ts'
import { PastAnswers } from '#node/past/past-answers.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import { wordsOfUid } from '#routing/rum/targets.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { journalAt } from '#test/support/journals.ts'
import { MemoryJournals } from '#test/support/memory-journals.ts'
import { pastModel as model } from '#test/support/past-model.ts'
import { storedTxt } from '#test/support/txt-records.ts'
import { entryOf, viewOf } from '#test/support/config-view.ts'

const bundle = bundleOf(model)
const dataDir = mkdtempSync(join(tmpdir(), 'gslbd-past-sides-'))
afterAll(() => rmSync(dataDir, { recursive: true }))

/** It is 04:00. */
const parts = {
  ...{ nodeName: 'fra1', isAnswering: true, journal: { flush: async () => undefined } },
  clock: new FakeTime(Date.UTC(2027, 2, 1, 4)).clock,
  geo: { status: () => [], buffers: noGeoBuffers },
  copies: { journals: new MemoryJournals(), exists: () => false },
  config: viewOf(),
}

/** A node whose journal has what browsers measured: those of 203.0.113.0/24 until 03:10. */
async function measuring(more: object = {}): Promise<PastAnswers> {
  const directory = join(dataDir, `measuring-${Object.keys(more).length}`)
  const then = new FakeTime(Date.UTC(2027, 2, 1, 3))
  const rum = new RumStore(then.clock)
  const keeping = journalAt(directory, then, 'fra1', more)
  keeping.measures(rum)
  new BundleStore(directory).add(bundle.digest, bundle.bytes)
  const state = createRoutingState(bundle, 1)
  keeping.serves({ digest: bundle.digest, commit: model.commit, seq: 1 }, bundle, state)
  keeping.settled()
  const samples = [
    [0, 30],
    [1, 20],
  ] as const
  for (let i = 0; i < 10; i++) {
    for (const [row, latencyMs] of samples) {
      rum.record(Uint8Array.of(203, 0, 113, 9), wordsOfUid(bundle, row), latencyMs + i / 8)
    }
    then.pass(60_000)
  }
  for (let i = 0; i < 2; i++) {
    rum.record(Uint8Array.of(203, 0, 113, 9), wordsOfUid(bundle, 0), 1)
  }
  then.pass(50 * 60_000)
  await keeping.stop()
  return new PastAnswers({ ...parts, dataDir: directory })
}

test('what browsers measured chooses as it did then, for who owns the service', async () => {
  const node = await measuring()
  const why = async (more: Partial<PastQuery>, tenant: string | null = null) => {
    const client = '203.0.113.77'
    const done = await node.why({ ...fast, type: 'A', at: '03:05', client, ...more }, tenant)
    return done.ok ? done.value : done.error
  }
  const told = await why({}, 'acme')
  expect(told).toMatchObject({
    ...{ isCertain: true, notes: [] },
    records: ['fast.example.com. 60 IN A 192.0.2.2'],
    measured: {
      network: '203.0.113.0/24',
      averages: [{ member: '192.0.2.1' }, { member: '192.0.2.2' }],
    },
  })
  const { averages } = (told as { measured: MeasuredOfClient }).measured
  expect(averages.map(({ latencyMs }) => Math.round(latencyMs!))).toEqual([30, 20])
  expect((told as { text: string }).text).toContain(
    'browsers  of 203.0.113.0/24 had measured 192.0.2.2 20.4 ms, 192.0.2.1 30.4 ms',
  )
  // The next report made another one the fastest.
  const later = { records: ['fast.example.com. 60 IN A 192.0.2.1'] }
  expect(await why({ at: '03:10' })).toMatchObject({ isCertain: true, ...later })
  expect(await why({ at: '03:09:59.999' })).not.toMatchObject(later)
  // Nobody had measured for this network: round trips decide, and of these there are none.
  expect(await why({ client: '198.51.100.7' })).toMatchObject({
    ...{ isCertain: true, notes: [], ...later },
    measured: { network: '198.51.100.0/24', averages: [{ latencyMs: null }, { latencyMs: null }] },
  })
  expect(await why({}, 'zenith')).toEqual({ code: 'not-found' })
  expect(await why({ name: 'www.example.com.' })).toMatchObject({ measured: null })
  await node.close()
})

test('an answer is unsure where what browsers measured was too much for a day', async () => {
  const node = await measuring({ ageMaxMs: 1e15 })
  const query = { ...fast, type: 'A', at: '03:05', client: '203.0.113.77' }
  expect(await node.why(query, null)).toMatchObject({
    value: {
      ...{ isCertain: false, measured: null, mayAnswer: ['192.0.2.1', '192.0.2.2'] },
      notes: [expect.stringContaining('had used up its octets of the day for it')],
    },
  })
  await node.close()
})
const fast = { name: 'fast.example.com.' }

/** A node that answered TXT records written at run time until 03:10. */
async function writing(): Promise<PastAnswers> {
  const directory = join(dataDir, 'writing')
  const then = new FakeTime(Date.UTC(2027, 2, 1, 3))
  const keeping = journalAt(directory, then)
  const texts = keeping.keepsTexts()
  new BundleStore(directory).add(bundle.digest, bundle.bytes)
  keeping.serves(
    { digest: bundle.digest, commit: model.commit, seq: 1 },
    bundle,
    createRoutingState(bundle, 1),
  )
  keeping.settled()
  const createdAtMs = then.clock.nowMs()
  const record = (name: string, text: string, tenantId: string, writtenBy: string) => ({
    ...storedTxt([`${name}example.com.`, text]),
    ...{ tenantId, writtenBy, createdAtMs },
  })
  const added = [
    record('_acme.www.', 'own', 'acme', 'key:certbot.example.com.'),
    record('_both.www.', 'own', 'acme', 'user:u1'),
    record('_both.www.', 'operator', 'default', 'system'),
    record('_operator.www.', 'operator', 'default', 'system'),
    record('_theirs.www.', 'theirs', 'zenith', 'user:u2'),
    record('_mixed.www.', 'own', 'acme', 'user:u1'),
    record('_mixed.www.', 'theirs', 'zenith', 'user:u2'),
    record('x.wild.', 'theirs', 'zenith', 'user:u2'),
    record('theirs.', 'own', 'acme', 'user:u1'),
    record('*.any.', 'wild', 'acme', 'user:u1'),
  ]
  texts.changed({ revision: 1, added, removed: [] })
  texts.served(1)
  then.pass(10 * 60_000)
  texts.changed({ revision: 2, added: [], removed: added.map(({ id }) => id) })
  texts.served(2)
  then.pass(50 * 60_000)
  await keeping.stop()
  const services = model.services.map(({ domain, tenant }, i) =>
    entryOf('Service', `tenants/${tenant}/services/s${i}.yaml`, `s${i}`, { domain, pool: null }),
  )
  const config = viewOf(...services)
  return new PastAnswers({ ...parts, dataDir: directory, config })
}

test('TXT records of then are answered as they were, with who wrote them and when', async () => {
  const node = await writing()
  const why = async (name: string, more: Partial<PastQuery> = {}) => {
    const query = { name: `${name}example.com.`, type: 'TXT', at: '03:05', ...more }
    const done = await node.why(query, null)
    return done.ok ? done.value : done.error
  }
  const told = await why('_acme.www.')
  expect(told).toMatchObject({
    ...{ isCertain: true, notes: [], rcode: 'NOERROR' },
    records: ['_acme.www.example.com. 60 IN TXT "own"'],
    texts: [
      {
        ...{ name: '_acme.www.example.com.', value: '"own"', ttl: 60, tenantId: 'acme' },
        ...{ writtenBy: 'key:certbot.example.com.', writtenAt: '2027-03-01T03:00:00.000Z' },
      },
    ],
  })
  expect((told as { text: string }).text).toContain(
    'written   "own" at _acme.www.example.com. by key:certbot.example.com. of tenant acme, ' +
      '2027-03-01T03:00:00.000Z',
  )
  const gone = { isCertain: true, notes: [], rcode: 'NXDOMAIN', records: [], texts: [] }
  expect(await why('_acme.www.', { at: '03:10' })).toMatchObject(gone)
  expect(await why('_acme.www.', { at: '03:09:59.999' })).toMatchObject({ rcode: 'NOERROR' })
  expect(await why('none.')).toMatchObject(gone)
  // There is no answer of other types, and a wildcard of the configuration does not stand in.
  const other = await why('x.wild.', { type: 'A' })
  expect(other).toMatchObject({ ...gone, rcode: 'NOERROR', service: null, texts: [{}] })
  expect((other as { text: string }).text).toContain('exists by TXT records written at run time')
  expect(await why('y.wild.', { type: 'A' })).toMatchObject({ service: { tenantId: 'acme' } })
  expect(await why('b.any.')).toMatchObject({
    records: ['b.any.example.com. 60 IN TXT "wild"'],
    texts: [{ name: '*.any.example.com.' }],
  })
  // They have no part in an address of a name that has one.
  expect(await why('theirs.', { type: 'A' })).toMatchObject({ isCertain: true, texts: [] })
  await node.close()
})

test('TXT records of one tenant are shown to no other', async () => {
  const node = await writing()
  const seen = async (name: string, tenant: string) => {
    const query = { name: `${name}example.com.`, type: 'TXT', at: '03:05' }
    const done = await node.why(query, tenant)
    if (!done.ok) return done.error.code
    return (done.value as { texts: readonly { writtenBy: string }[] }).texts.map(
      ({ writtenBy }) => writtenBy,
    )
  }
  expect(await seen('_acme.www.', 'acme')).toEqual(['key:certbot.example.com.'])
  expect(await seen('_acme.www.', 'zenith')).toBe('not-found')
  expect(await seen('_both.www.', 'acme')).toEqual(['user:u1'])
  expect(await seen('_operator.www.', 'acme')).toEqual([])
  expect(await seen('_operator.www.', 'zenith')).toBe('not-found')
  expect(await seen('_theirs.www.', 'acme')).toBe('not-found')
  expect(await seen('_theirs.www.', 'zenith')).toEqual(['user:u2'])
  for (const tenant of ['acme', 'zenith'])
    expect(await seen('_mixed.www.', tenant)).toBe('not-found')
  expect(await seen('x.wild.', 'acme')).toBe('not-found')
  // At a name of others there are their records, too.
  expect(await seen('theirs.', 'acme')).toBe('not-found')
  expect(await seen('theirs.', 'zenith')).toBe('not-found')
  await node.close()
})
