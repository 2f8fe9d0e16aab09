// Rollovers: which step comes when, what it waits for, and what a person may begin. That no order
// of events breaks a zone is in test/property/key-rollover.test.ts.
import { expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { KeyUse, keyUses, recordOfKey } from '#dns/dnssec/key-record.ts'
import type { KeyRecord, KeyRole, KeyTimes } from '#dns/dnssec/key-record.ts'
import { beginRoll, dsText, isDsOf, look, roll } from '#dns/dnssec/rollover.ts'
import type { ParentView, RollInput, RollPolicy } from '#dns/dnssec/rollover.ts'
import { DigestType, generateZoneKey } from '#dns/dnssec/zone-key.ts'

const hour = 3_600_000
const day = 24 * hour
const start = Date.UTC(2026, 10, 29)
const policy: RollPolicy = {
  ...{ model: null, algorithm: null, defaultAlgorithm: 13, kskMs: null, zskMs: null },
  ...{ propagationMs: hour, parentMs: 25 * hour },
}
const used: Partial<KeyTimes> = {
  ...{ createdMs: start, publishedMs: start, activeMs: start, dsSubmittedMs: start },
}

function keyOf(role: KeyRole, times: Partial<KeyTimes> = {}, algorithm = 13): KeyRecord {
  const flags = role === 'zsk' ? 256 : 257
  const { rdata, ...key } = generateZoneKey(signingAlgorithm(algorithm)!)
  const own = Uint8Array.from(rdata)
  own[1] = flags & 0xff
  return { ...recordOfKey('example.org.', { ...key, rdata: own, flags }, role, times), flags }
}

const given = (records: readonly KeyRecord[], more: Partial<RollInput> = {}): RollInput => ({
  ...{ records, policy, parent: null, keyTtlMs: hour, longestTtlMs: 2 * hour },
  ...{ isParentFresh: true, nowMs: start, heldUntilMs: 0, ...more },
})
const seen = (...records: readonly KeyRecord[]): ParentView => {
  const ds = records.map((record) => dsText(record))
  return { onAll: ds, onAny: ds }
}

test.each<[string, Partial<RollPolicy>, readonly object[]]>([
  ['a zone without keys', {}, [{ role: 'csk', algorithm: 13 }]],
  ['of another algorithm', { algorithm: 15 }, [{ role: 'csk', algorithm: 15 }]],
  [
    'with two keys',
    { model: 'kskzsk' },
    [
      { role: 'ksk', algorithm: 13 },
      { role: 'zsk', algorithm: 13 },
    ],
  ],
])('%s: its keys are asked for', (_name, change, wanted) => {
  const rolled = roll(given([], { policy: { ...policy, ...change } }))
  expect(rolled).toEqual({ records: [], wanted, waiting: [], nextMs: null })
})

test('a first key signs at once, and its DS waits until nothing unsigned is cached', () => {
  const first = roll(given([keyOf('csk')]))
  const [key] = first.records
  expect(key!.times).toMatchObject({ publishedMs: start, activeMs: start, dsSubmittedMs: null })
  const untilMs = start + 4 * hour
  expect(first.waiting).toEqual([{ for: 'time', tag: key!.tag, step: 'give-ds', untilMs }])
  expect(first.nextMs).toBe(untilMs)
  // Nothing to do: the same object.
  expect(roll(given(first.records, { nowMs: untilMs - 1 })).records).toBe(first.records)
  const held = roll(given(first.records, { nowMs: untilMs, heldUntilMs: untilMs + day }))
  expect(held.nextMs).toBe(untilMs + day)
  const then = roll(given(first.records, { nowMs: untilMs }))
  const ds = dsText(key!)
  expect(then.waiting).toEqual([{ for: 'parent', tag: key!.tag, ds, sinceMs: untilMs }])
  expect(then.nextMs).toBeNull()
})

test('a DS record at the parent is noted, and no longer when it is gone', () => {
  const key = keyOf('csk', used)
  const nowMs = start + day
  const [there] = roll(given([key], { nowMs, parent: seen(key) })).records
  expect(there!.times.dsSeenMs).toBe(nowMs)
  const [half] = roll(given([there!], { parent: { onAll: [], onAny: [dsText(key)] } })).records
  expect(half!.times.dsSeenMs).toBeNull()
  const stale = { parent: { onAll: [], onAny: [] }, isParentFresh: false }
  expect(roll(given([there!], { nowMs, ...stale })).records[0]!.times.dsSeenMs).toBe(nowMs)
  const early = roll(given([key], { nowMs, parent: seen(key), isParentFresh: false }))
  expect(early.records[0]!.times.dsSeenMs).toBeNull()
  const [unknown] = roll(given([there!], { nowMs })).records
  expect(unknown!.times.dsSeenMs).toBe(nowMs)
})

test('a key rolls when it is old, where its parent has it', () => {
  const key = keyOf('csk', { ...used, dsSeenMs: start })
  const yearly = { ...policy, kskMs: 365 * day }
  const at = (nowMs: number, parent: ParentView | null) =>
    roll(given([key], { nowMs, parent, policy: yearly }))
  const untilMs = start + 365 * day
  const before = at(untilMs - 1, seen(key))
  expect(before.waiting).toEqual([{ for: 'age', tag: key.tag, role: 'csk', untilMs }])
  expect(before).toMatchObject({ wanted: [], nextMs: untilMs })
  expect(at(untilMs, seen(key)).wanted).toEqual([{ role: 'csk', algorithm: 13 }])
  expect(at(untilMs, { onAll: [], onAny: [] }).wanted).toEqual([])
})

test('a DS record of the old algorithm is to go before its key', () => {
  const [old, next] = [keyOf('csk', used), keyOf('csk', used, 15)]
  const both = { policy: { ...policy, algorithm: 15 }, parent: seen(old, next), nowMs: start + day }
  const { waiting, records } = roll(given([old, next], both))
  expect(waiting).toContainEqual({ for: 'old-ds', tag: next.tag, ds: [dsText(old)] })
  expect(keyUses(records).map(({ use }) => use & 1)).toEqual([1, 1])
})

test('times to come are of a clock that was ahead, and keys of long ago are forgotten', () => {
  const [ahead] = roll(given([keyOf('csk', { ...used, activeMs: start + 1_000 * day })])).records
  expect(ahead!.times.activeMs).toBe(start)
  const gone = keyOf('zsk', { ...used, retiredMs: start, removedMs: start })
  const key = keyOf('csk', used)
  expect(roll(given([gone, key], { nowMs: start + 29 * day })).records).toHaveLength(2)
  expect(roll(given([gone, key], { nowMs: start + 31 * day })).records).toHaveLength(1)
})

test('after the clock went back, CDS still names the last key alone', () => {
  const former = keyOf('csk', { ...used, dsSubmittedMs: start + 10 * day })
  const latter = keyOf('csk', { ...used, dsSubmittedMs: start + 20 * day })
  const { records } = roll(given([former, latter]))
  expect(keyUses(records).map(({ use }) => use & KeyUse.InCds)).toEqual([0, KeyUse.InCds])
})

const csk = keyOf('csk', used)
const pair = [keyOf('ksk', used), keyOf('zsk', used)]
test.each<[string, readonly KeyRecord[], KeyRole | null, boolean, object]>([
  ['a CSK', [csk], null, false, [{ role: 'csk', algorithm: 13 }]],
  ['a ZSK alone', pair, 'zsk', false, [{ role: 'zsk', algorithm: 13 }]],
  ['no keys', [], null, false, { error: /no keys yet/ }],
  ['no ZSK', [csk], 'zsk', false, { error: /no ZSK: its keys are csk/ }],
  ['in the middle', [csk, keyOf('csk')], null, false, { error: /A roll of this zone goes on/ }],
  ['an emergency', [csk, keyOf('csk')], 'csk', true, [{ role: 'csk', algorithm: 13 }]],
  [
    'too many emergencies',
    [csk, ...Array.from({ length: 7 }, () => keyOf('csk'))],
    ...([null, true, { error: /7 keys that are on their way out/ }] as const),
  ],
])('a person begins a roll: %s', (_name, records, role, isEmergency, expected) => {
  const begun = beginRoll(records, policy, { role, isEmergency })
  if (begun.ok) expect(begun.value).toEqual(expected)
  else expect(begun.error).toMatch((expected as { error: RegExp }).error)
})

test('a DS record is known by either digest', () => {
  expect(isDsOf(dsText(csk, DigestType.Sha384), csk)).toBe(true)
  expect(isDsOf(dsText(pair[0]!), csk)).toBe(false)
})

const lookAt = (nowMs: number) => given([csk], { nowMs })
const wasAt = { atMs: start, heldUntilMs: 5, ttls: [] }
const heldMs = 25 * hour + hour + hour
test.each([
  ['a minute later', 60_000, false, false],
  ['a little back', -30_000, false, false],
  ['back by an hour', -hour, false, true],
  ['ahead by an hour', hour, false, true],
  ['keys that another node has changed', 60_000, true, true],
])('%s', (_name, byMs, isOthers, isHeld) => {
  const nowMs = start + byMs
  const heldUntilMs = isHeld ? nowMs + heldMs : 5
  expect(look(wasAt, lookAt(nowMs), isOthers)).toMatchObject({ atMs: nowMs, heldUntilMs })
})

test('a node that has just started holds as well', () => {
  const { heldUntilMs } = look({ atMs: null, heldUntilMs: 0, ttls: [] }, lookAt(start), false)
  expect(heldUntilMs).toBe(start + heldMs)
})

test('before the first DS of a zone a node holds for what caches have of the zone alone', () => {
  const records = [keyOf('csk', { ...used, dsSubmittedMs: null })]
  const never = { atMs: null, heldUntilMs: 0, ttls: [] }
  const held = (more: Partial<RollInput>): number =>
    look(never, { ...lookAt(start), records, parent: seen(), ...more }, false).heldUntilMs - start
  expect(held({})).toBe(4 * hour)
  const early = records.map((one) => ({ ...one, times: { ...one.times, dsSeenMs: start } }))
  expect(held({ records: early })).toBe(heldMs)
  // The records may be of a time before the DS.
  expect(held({ parent: seen(csk) })).toBe(heldMs)
  expect(held({ parent: null })).toBe(heldMs)
})

test('a node holds no longer than a TTL of seven days, also where it was told to', () => {
  const input = { ...lookAt(start), longestTtlMs: 2_147_483_647_000 }
  const untilMs = start + 7 * day + 2 * hour
  expect(look({ atMs: null, heldUntilMs: 0, ttls: [] }, input, false).heldUntilMs).toBe(untilMs)
  const years = { atMs: start, heldUntilMs: start + 2_147_483_647_000, ttls: [] }
  expect(look(years, input, false).heldUntilMs).toBe(untilMs)
  expect(look(years, lookAt(start), false).heldUntilMs).toBe(start + heldMs)
})
