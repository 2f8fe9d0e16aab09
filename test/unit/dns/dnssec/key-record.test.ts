// Records of keys: what a key does after what has happened to it, and their form in JSON.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import {
  foreignRecord,
  keyRecordJson,
  KeyUse,
  keyUses,
  readKeyRecord,
  recordOfKey,
  zoneKeyOf,
} from '#dns/dnssec/key-record.ts'
import type { KeyRecord, KeyRole, KeyTimes } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'

const { Published, SignsRecords, SignsKeys, InCds } = KeyUse
const zone = 'example.org.'

function record(role: KeyRole, times: Partial<KeyTimes>): KeyRecord {
  return recordOfKey(zone, generateZoneKey(signingAlgorithm(13)!), role, times)
}

const shown = { createdMs: 1, publishedMs: 1 }
const active = { ...shown, activeMs: 2 }
const gone = { dsSubmittedMs: 3, retiredMs: 4, removedMs: 5 }

const cases: readonly [string, KeyRole, Partial<KeyTimes>, number][] = [
  ['made, and nothing else', 'csk', { createdMs: 1 }, 0],
  ['shown before it is used', 'zsk', shown, Published],
  ['shown before it is used', 'ksk', shown, Published | SignsKeys],
  ['shown before it is used', 'csk', shown, Published | SignsKeys],
  ['in use', 'zsk', active, Published | SignsRecords],
  ['in use', 'ksk', { ...active, dsSubmittedMs: 3 }, Published | SignsKeys | InCds],
  ['in use', 'csk', { ...active, dsSubmittedMs: 3 }, Published | SignsRecords | SignsKeys | InCds],
  ['in use before its DS may be known', 'csk', active, Published | SignsRecords | SignsKeys],
  ['of a new algorithm, which signs unseen', 'csk', { activeMs: 1 }, SignsRecords],
  ['of an old algorithm, which signs unseen', 'zsk', { ...active, removedMs: 4 }, SignsRecords],
  ['retired, for what is cached', 'zsk', { ...active, retiredMs: 3 }, Published],
  ['gone', 'csk', { ...active, dsSubmittedMs: 3, retiredMs: 4, removedMs: 5 }, 0],
]

test.each(cases)('%s: a %s with %j', (_name, role, times, use) => {
  expect(keyUses([record(role, times)]).map((one) => one.use)).toEqual([use])
})

test('the parent is to have the key that came last, and those of others beside it', () => {
  const before = record('csk', { ...active, dsSubmittedMs: 3, dsSeenMs: 4 })
  const after = record('csk', { ...active, dsSubmittedMs: 9 })
  const foreign = { ...record('csk', { ...shown, dsSubmittedMs: 2 }), secret: null }
  const left = { ...record('csk', { ...shown, dsSubmittedMs: 2, retiredMs: 5 }), secret: null }
  const uses = keyUses([before, after, foreign, left]).map(({ use }) => use & InCds)
  expect(uses).toEqual([0, InCds, InCds, 0])
})

test.each<readonly [string, readonly KeyRecord[], number]>([
  ['before the DS of the own key may be given', [record('csk', active)], 0],
  ['beside an own ZSK alone', [record('zsk', { ...active, dsSubmittedMs: 3 })], 0],
  ['beside an own key that is out', [record('csk', { ...active, ...gone })], 0],
  ['beside an own key that is there, too', [record('csk', { ...active, dsSubmittedMs: 3 })], InCds],
])('the parent is to have the key of another server %s', (_name, own, use) => {
  const foreign = foreignRecord(zone, record('ksk', {}).publicKey, 9)
  expect(keyUses([...own, foreign]).at(-1)!.use).toBe(Published | use)
})

test('a key without its private half signs nothing', () => {
  const [used] = keyUses([{ ...record('csk', active), secret: null }])
  expect(used!.use).toBe(Published)
  expect(zoneKeyOf(used!.record)).toBeUndefined()
})

describe.each([13, 15])('algorithm %i', (algorithm) => {
  const key = generateZoneKey(signingAlgorithm(algorithm)!)
  const one = recordOfKey(zone, key, 'csk', { ...active, dsSeenMs: 7 })
  const json = JSON.parse(JSON.stringify(keyRecordJson(one))) as Record<string, unknown>

  test('the record of a key comes back from JSON and its secret', () => {
    expect(readKeyRecord(json, one.secret)).toEqual({ ok: true, value: one })
    expect(zoneKeyOf(one)?.tag).toBe(key.tag)
  })

  test('JSON has nothing of the secret', () => {
    const octets = Buffer.from(key.algorithm.privateOctets(key.privateKey)).toString('base64')
    expect(JSON.stringify(json)).not.toContain(octets)
    expect(readKeyRecord(json, null)).toMatchObject({ ok: true, value: { secret: null } })
  })

  test.each([
    ['another tag', { tag: key.tag ^ 1 }, /"tag" is not that/],
    ['another algorithm', { algorithm: 8 }, /"algorithm" is not that/],
    ['other flags', { flags: 256 }, /"flags" is not that/],
    ['a name in upper case', { zone: 'Example.org.' }, /"zone" is no name/],
    ['a name that is none', { zone: 'a..org.' }, /"zone" is no name/],
    ['no role', { role: 'key' }, /none of csk, ksk, zsk/],
    ['no key', { publicKey: 'AAAA' }, /no rdata/],
    ['a key that is too long', { publicKey: 'A'.repeat(2_000) }, /no rdata/],
    ['a time that is none', { times: { createdMs: 1.5 } }, /something else than times/],
    ['a time that is unknown', { times: { madeMs: 1 } }, /something else than times/],
    ['no times', { times: null }, /something else than times/],
  ])('%s: refused with its reason', (_name, change, reason) => {
    const error = expect.stringMatching(reason) as string
    expect(readKeyRecord({ ...json, ...change }, one.secret)).toEqual({ ok: false, error })
  })

  test('a secret of another key, or none at all, is refused', () => {
    const other = recordOfKey(zone, generateZoneKey(key.algorithm), 'csk', {})
    const error = 'the private key is not the one of "publicKey"'
    expect(readKeyRecord(json, other.secret)).toEqual({ ok: false, error })
    expect(readKeyRecord(json, Uint8Array.of(1, 2))).toEqual({ ok: false, error })
  })
})

test('a revoked key is no key of a zone', () => {
  const one = record('csk', active)
  const rdata = Buffer.from(one.publicKey)
  rdata[1] = 0x81
  const json = { ...keyRecordJson(one), publicKey: rdata.toString('base64'), flags: 385 }
  expect(readKeyRecord(json, null)).toMatchObject({ ok: false })
})

const corpus = new URL('../../../fuzz/corpus/key-files/', import.meta.url)

test.each(readdirSync(corpus))('the corpus, %s, is no record', (name) => {
  expect(readKeyRecord(readFileSync(new URL(name, corpus), 'utf8'), null).ok).toBe(false)
})
