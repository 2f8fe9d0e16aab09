// The keys of a node: which files count, what is made where there is none, and what is said.
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { keyUses } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import type { KeySource } from '#server/signing/key-source.ts'
import { readStoredKeys, storeKey } from '#server/signing/key-store.ts'
import { ZoneKeys } from '#server/signing/zone-keys.ts'
import type { ZoneKeysParts } from '#server/signing/zone-keys.ts'
import { bundleOf, pool, service, zone } from '#test/support/bundle-models.ts'
import { bareModel } from '#test/support/bundle-models.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const name = 'example.org.'
const keyOf = (algorithm = 13) => ({
  zone: wireName(name),
  key: generateZoneKey(signingAlgorithm(algorithm)!),
})
const bundle = bundleOf({
  ...bareModel,
  zones: [{ ...zone(name), algorithm: 13 }, zone('plain.example.')],
})
const secretKey = Buffer.alloc(32, 7)

let directory = ''
const opened: ZoneKeys[] = []
beforeEach(() => {
  vi.useFakeTimers()
  directory = join(makeTempDir('keys'), 'dnssec')
})
afterEach(() => {
  for (const keys of opened.splice(0)) keys.stop()
  vi.useRealTimers()
  removeTempDir(join(directory, '..'))
})

function open(parts: Partial<ZoneKeysParts> = {}): ZoneKeys {
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const clock = { nowMs: () => Date.now() }
  const own = { directory, secretKey: null, mayGenerate: false, clock, log }
  const keys = new ZoneKeys({ ...own, ...parts })
  opened.push(keys)
  return keys
}

test('a first key is made where that is permitted, for its owner alone', () => {
  const keys = open({ mayGenerate: true })
  expect(keys.handedFor(bundle)?.number).toBe(1)
  expect(keys.missing()).toEqual([])
  const files = readdirSync(directory)
  expect(files).toHaveLength(2)
  const secret = files.find((file) => file.endsWith('.private'))!
  expect(statSync(join(directory, secret)).mode & 0o777).toBe(0o600)
  // The next process has the same one, and a bundle that changes nothing of it makes none.
  expect(keys.handedFor(bundle)?.number).toBe(1)
  expect(open({ mayGenerate: true }).handedFor(bundle)).not.toBeNull()
  expect(readdirSync(directory)).toEqual(files)
})

test('where it is not, the zone is said to have none, until the key comes', () => {
  const keys = open()
  let changes = 0
  keys.onChange(() => changes++)
  expect(keys.handedFor(bundle)).toBeNull()
  expect(keys.missing()).toEqual([`${directory} has no key of ${name}: bring it there`])
  vi.advanceTimersByTime(30_000)
  expect(changes).toBe(0)
  storeKey(directory, keyOf(), null, 0)
  vi.advanceTimersByTime(30_000)
  expect(changes).toBe(1)
  expect(keys.handedFor(bundle)).not.toBeNull()
  expect(keys.missing()).toEqual([])
})

test('while a key is missing, the folder is read each ten seconds, not at each publication', () => {
  const keys = open()
  expect(keys.handedFor(bundle)).toBeNull()
  storeKey(directory, keyOf(), null, 0)
  expect(keys.handedFor(bundle)).toBeNull()
  vi.advanceTimersByTime(10_000)
  expect(keys.handedFor(bundle)).not.toBeNull()
})

test.each([
  ['why it gets no key', 'its parent has a DS', 1],
  ['that it comes', null, 0],
])('a zone without a first key is said to have none, and %s', (_what, refused, errors) => {
  const said: unknown[] = []
  const log = { info: () => {}, warn: () => {}, error: (all: unknown) => void said.push(all) }
  const made: (readonly KeyRecord[])[] = []
  const source: KeySource = {
    ...{ place: 'the store', keys: () => new Map(), faults: () => new Map() },
    onChange: () => undefined,
    makeFirst: (_zone, make) => {
      for (const isSplit of [false, true]) made.push(make({ isSplit }))
      return refused
    },
  }
  const keys = open({ mayGenerate: true, source, log })
  expect(keys.handedFor(bundle)).toBeNull()
  expect(keys.missing()).toEqual([refused ?? `the store has no key of ${name} yet`])
  expect([said.length, keys.signedAtStart()]).toEqual([errors, new Set([name])])
  expect(made.map((records) => records.map(({ role }) => role))).toEqual([['csk'], ['ksk', 'zsk']])
  expect(keyUses(made[1]!).map(({ use }) => use)).toEqual([5, 3])
})

test('its parent may have a DS of its key by either digest', () => {
  const keys = open({ mayGenerate: true })
  expect(keys.dsOf(name)).toBeUndefined()
  keys.handedFor(bundle)
  const found = keys.dsOf(name) ?? []
  expect(found.map((ds) => ds.split(' ').slice(1, 3))).toEqual([
    ['13', '2'],
    ['13', '4'],
  ])
  expect(keys.dsOf('plain.example.')).toBeUndefined()
  const elsewhere = open()
  rmSync(directory, { recursive: true })
  elsewhere.handedFor(bundle)
  expect(elsewhere.dsOf(name)).toEqual([])
})

test('no second key is made where the folder cannot be read, which is said once', () => {
  writeFileSync(directory, 'a file in its place')
  const said: unknown[] = []
  const error = (fields: unknown) => void said.push(fields)
  const keys = open({ mayGenerate: true, log: { info: () => {}, warn: () => {}, error } })
  expect(keys.handedFor(bundle)).toBeNull()
  expect(keys.missing()).toEqual([expect.stringContaining(`${directory} cannot be read`)])
  expect(keys.handedFor(bundle)).toBeNull()
  vi.advanceTimersByTime(60_000)
  expect(said).toHaveLength(1)
  rmSync(directory)
  vi.advanceTimersByTime(10_000)
  expect(keys.missing()).toEqual([])
})

test('a private key that others can read is warned of once', () => {
  const path = storeKey(directory, keyOf(), null, 0).replace(/key$/, 'private')
  const said: unknown[] = []
  const warn = (fields: unknown) => void said.push(fields)
  const opened = () => open({ log: { info: () => {}, warn, error: () => {} } })
  expect(opened().handedFor(bundle)).not.toBeNull()
  expect(said).toEqual([])
  chmodSync(path, 0o640)
  const keys = opened()
  keys.handedFor(bundle)
  keys.handedFor(bundleOf({ ...bareModel, zones: [{ ...zone('other.example.'), algorithm: 13 }] }))
  expect(said).toEqual([{ file: path }])
})

test('a zone that is not signed any more needs none', () => {
  const keys = open()
  keys.handedFor(bundle)
  expect(keys.handedFor(bundleOf({ ...bareModel, zones: [zone(name)] }))).toBeNull()
  expect(keys.missing()).toEqual([])
})

test('a private key is sealed by the key for secrets, and read with it alone', () => {
  const path = storeKey(directory, keyOf(), secretKey, 0)
  expect(readFileSync(path.replace(/key$/, 'private'), 'utf8')).toMatch(/^v1\.\S+\n$/)
  expect(readStoredKeys(directory, secretKey).found.get(name)?.key.algorithm.number).toBe(13)
  for (const [other, why] of [
    [null, /GSLB_SECRET_KEY is not set/],
    [Buffer.alloc(32), /not the one/],
  ] as const) {
    const { found, faults } = readStoredKeys(directory, other)
    expect(found.size).toBe(0)
    expect(faults.get(name)).toMatch(why)
  }
})

test.each([
  ['two keys', () => storeKey(directory, keyOf(), null, 0), /has two keys of example.org/],
  [
    'a private half that is damaged',
    () => {
      const file = readdirSync(directory).find((one) => one.endsWith('.private'))!
      writeFileSync(join(directory, file), 'Private-key-format: v1.3\n')
    },
    /of algorithm none/,
  ],
  [
    'no private half',
    () => {
      const file = readdirSync(directory).find((one) => one.endsWith('.private'))!
      rmSync(join(directory, file))
    },
    /ENOENT/,
  ],
])('%s: nothing is signed, nothing is made, and it is said', (_name, damage, reason) => {
  storeKey(directory, keyOf(), null, 0)
  damage()
  const keys = open({ mayGenerate: true })
  expect(keys.handedFor(bundle)).toBeNull()
  expect(keys.missing()).toEqual([expect.stringMatching(reason)])
})

test('a key of another algorithm than the zone is to be signed by is none', () => {
  storeKey(directory, keyOf(15), null, 0)
  const keys = open({ mayGenerate: true })
  expect(keys.handedFor(bundle)).toBeNull()
  expect(keys.missing()[0]).toMatch(/is of ed25519, .* by ecdsap256sha256/)
})

test('the memory of signatures is as large as what a bundle has to sign', () => {
  const keys = open({ mayGenerate: true })
  const members = pool(1, ['192.0.2.1', '192.0.2.2'])
  const large = bundleOf({
    ...bareModel,
    zones: [{ ...zone(name), algorithm: 13 }],
    pools: [members],
    services: Array.from({ length: 3_000 }, (_, i) => service(i, `s${i}.${name}`)),
  })
  const memories = [bundle, large, bundle].map((one) => keys.handedFor(one)!.signatures)
  expect(memories[1]!.byteLength / memories[0]!.byteLength).toBeCloseTo(1.5, 1)
  // It does not shrink: what was signed stays.
  expect(memories[2]).toBe(memories[1])
  expect(keys.handedFor(large)!.number).toBe(1)
})
