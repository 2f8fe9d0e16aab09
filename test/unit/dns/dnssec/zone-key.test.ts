// Keys of zones: tags and digests as the RFCs print them.
import { expect, test } from 'vitest'
import { algorithmOfKey, signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { DigestType, dsRdata, keyTag, zoneKey } from '#dns/dnssec/zone-key.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { generateKeyPairSync } from 'node:crypto'

const { Sha256, Sha384 } = DigestType

test.each([
  // RFC 6605 section 6.1 and RFC 8080 section 6.1.
  [
    13,
    'example.net',
    'GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=',
    'GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==',
    55_648,
    'b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17',
  ],
  [
    15,
    'example.com',
    'ODIyNjAzODQ2MjgwODAxMjI2NDUxOTAyMDQxNDIyNjI=',
    'l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=',
    3_613,
    '3aa5ab37efce57f737fc1627013fee07bdf241bd10f3b1964ab55c78e79a304b',
  ],
])('algorithm %i: key, tag and digest of an RFC', (number, zone, secret, octets, tag, digest) => {
  const algorithm = signingAlgorithm(number)!
  const key = zoneKey(algorithm.privateFrom(Buffer.from(secret, 'base64'))!)!
  expect(Buffer.from(key.rdata.subarray(4)).toString('base64')).toBe(octets)
  expect([...key.rdata.subarray(0, 4)]).toEqual([1, 1, 3, number])
  expect(Buffer.from(algorithm.privateOctets(key.privateKey)).toString('base64')).toBe(secret)
  expect(key.tag).toBe(tag)
  const head = Buffer.from([tag >> 8, tag & 0xff, number, Sha256]).toString('hex')
  expect(Buffer.from(dsRdata(wireName(zone), key, Sha256)).toString('hex')).toBe(head + digest)
  const upper = wireName(zone.toUpperCase())
  expect(dsRdata(upper, key, Sha384)).toEqual(dsRdata(wireName(zone), key, Sha384))
  expect(dsRdata(upper, key, Sha384)).toHaveLength(4 + 48)
})

test.each([
  [Uint8Array.of(1, 0, 3, 13), 0x040d],
  [Uint8Array.of(0xff, 0xff, 0xff, 0xff), 0xffff],
  [Uint8Array.of(1, 0, 3), 0x0400],
])('the tag of %o', (rdata, tag) => {
  expect(keyTag(rdata)).toBe(tag)
})

test('keys of other kinds sign nothing here', () => {
  const others = [
    generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
    generateKeyPairSync('x25519').privateKey,
  ]
  for (const key of others) {
    expect(algorithmOfKey(key)).toBeUndefined()
    expect(zoneKey(key)).toBeUndefined()
  }
})
