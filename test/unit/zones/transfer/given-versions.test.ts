// What a node knows of the versions that it gave to its secondaries.
import { expect, test } from 'vitest'
import { RrType } from '#dns/rrtype.ts'
import { GivenVersions, secondaryOf } from '#zones/transfer/given-versions.ts'
import type { GivenVersion } from '#zones/transfer/given-versions.ts'
import { givenLimits } from '#zones/transfer/limits.ts'

const versionOf = (serial: number, content: number): GivenVersion => {
  const rdata = Buffer.alloc(22)
  rdata.writeUInt32BE(serial, 2)
  const soa = { owner: Uint8Array.of(0), type: RrType.SOA, ttlSeconds: 60, rdata }
  return { content, soa, isDigested: false, digest: undefined, wholeBytes: 100 }
}

test('a version is found by client, zone and serial', () => {
  const given = new GivenVersions()
  given.add('one', 'zone', versionOf(7, 3))
  const found = (client: string, zone: string, serial: number): number | undefined =>
    given.find(client, zone, serial)?.content
  expect(found('one', 'zone', 7)).toBe(3)
  expect(found('one', 'zone', 8)).toBeUndefined()
  expect(found('one', 'other', 7)).toBeUndefined()
  expect(found('other', 'zone', 7)).toBeUndefined()
})

test('the last ones are kept, and a serial that is given again counts once', () => {
  const given = new GivenVersions({ ...givenLimits, clientsTimesZones: 10, versionsOfEach: 2 })
  for (const serial of [1, 2, 2, 3, 3]) given.add('one', 'zone', versionOf(serial, serial))
  const known = [1, 2, 3].map((serial) => given.find('one', 'zone', serial)?.content)
  expect(known).toEqual([undefined, 2, 3])
})

test('two contents under one serial are none that is known, whatever comes later', () => {
  const given = new GivenVersions()
  for (const content of [3, 4, 4]) given.add('one', 'zone', versionOf(7, content))
  expect(given.find('one', 'zone', 7)).toBeUndefined()
  given.add('one', 'zone', versionOf(8, 5))
  expect(given.find('one', 'zone', 8)?.content).toBe(5)
})

test('with too many clients and zones the one longest not given anything is forgotten', () => {
  const given = new GivenVersions({ ...givenLimits, clientsTimesZones: 2 })
  given.add('one', 'zone', versionOf(1, 1))
  given.add('two', 'zone', versionOf(1, 1))
  given.add('one', 'zone', versionOf(2, 2))
  given.add('three', 'zone', versionOf(2, 2))
  expect(given.find('two', 'zone', 1)).toBeUndefined()
  expect(given.find('one', 'zone', 1)?.content).toBe(1)
})

test('beyond the octets that are remembered those longest not given anything are forgotten', () => {
  const given = new GivenVersions({ ...givenLimits, bytesMax: 10_000 })
  for (let client = 0; client < 100; client++) {
    for (const serial of [1, 2, 2, 3]) given.add(`c${client}`, 'zone', versionOf(serial, serial))
    expect(given.bytes).toBeLessThanOrEqual(10_000)
  }
  const known = (client: number): boolean => given.find(`c${client}`, 'zone', 3) !== undefined
  expect([0, 50, 99].map(known)).toEqual([false, false, true])
  const [first] = Array.from({ length: 100 }, (_, client) => client).filter(known)
  expect(first).toBeLessThan(95)
})

test('a version that alone is beyond the octets is not remembered', () => {
  const given = new GivenVersions({ ...givenLimits, bytesMax: 100 })
  given.add('one', 'zone', versionOf(1, 1))
  expect(given.find('one', 'zone', 1)).toBeUndefined()
  expect(given.bytes).toBe(0)
})

test('a version is kept in octets of its own, as it was when it was given', () => {
  const given = new GivenVersions()
  const version = { ...versionOf(7, 3), digest: versionOf(9, 3).soa }
  given.add('one', 'zone', version)
  version.soa.rdata.fill(0)
  const found = given.find('one', 'zone', 7)
  const [was, digest] = [versionOf(7, 3).soa, versionOf(9, 3).soa]
  expect(found).toMatchObject({ content: 3, wholeBytes: 100 })
  expect(Buffer.from(found!.soa.rdata)).toEqual(was.rdata)
  expect(Buffer.from(found!.digest!.rdata)).toEqual(digest.rdata)
  expect(found!.soa.rdata.buffer.byteLength).toBeLessThan(100)
})

test.each([
  ['IPv4', [192, 0, 2, 1], 'k', 'c0000201 k'],
  ['mapped IPv4', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1], 'k', 'c0000201 k'],
  [
    'IPv6, all of it',
    [32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    undefined,
    `20010db8${'0'.repeat(23)}1 `,
  ],
])('a secondary by %s and its key', (_what, address, key, expected) => {
  expect(secondaryOf(Uint8Array.from(address), key)).toBe(expected)
})
