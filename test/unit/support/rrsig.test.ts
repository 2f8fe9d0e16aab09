// Signatures of rrsets, by the examples of RFC 6605, RFC 8080 and RFC 4034.
import { describe, expect, test } from 'vitest'
import { signingAlgorithm, signingAlgorithms } from '#dns/dnssec/algorithms.ts'
import { coveredOctets, labelsOf, rrsigFixedBytes, signRrset } from '#test/support/dns/rrsig.ts'
import type { SignedRrset } from '#test/support/dns/rrsig.ts'
import { generateZoneKey, zoneKey } from '#dns/dnssec/zone-key.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'
import { parseRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { typeNumber } from '#test/support/dns/codes.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

function rrset(owner: string, type: string, ttlSeconds: number, ...texts: string[]): SignedRrset {
  const code = typeNumber(type)
  const rdata = texts.map((text) => {
    const parsed = parseRdata(rdataTypeOf(code), text)
    if (!parsed.ok) throw new Error(parsed.error.expected)
    return parsed.value
  })
  return { owner: wireName(owner), type: code, ttlSeconds, rdata }
}

function keyOf(algorithm: number, secret: string): ZoneKey {
  const privateKey = signingAlgorithm(algorithm)?.privateFrom(Buffer.from(secret, 'base64'))
  return zoneKey(privateKey!)!
}

const split = (rdata: Uint8Array, zone: string): [head: Buffer, signature: Buffer] => {
  const end = rrsigFixedBytes + wireName(zone).length
  return [Buffer.from(rdata.subarray(0, end)), Buffer.from(rdata.subarray(end))]
}

test.each([
  [
    'ODIyNjAzODQ2MjgwODAxMjI2NDUxOTAyMDQxNDIyNjI=',
    'oL9krJun7xfBOIWcGHi7mag5/hdZrKWw15jPGrHpjQeRAvTdszaPD+QLs3fx8A4M3e23mRZ9VrbpMngwcrqNAg==',
  ],
  [
    'DSSF3o0s0f+ElWzj9E/Osxw8hLpk55chkmx0LYN5WiY=',
    'zXQ0bkYgQTEFyfLyi9QoiY6D8ZdYo4wyUhVioYZXFdT410QPRITQSqJSnzQoSm5poJ7gD7AQR0O7KuI5k2pcBg==',
  ],
])('Ed25519 as in RFC 8080 section 6.1: %s', (secret, signature) => {
  const mx = rrset('example.com', 'MX', 3_600, '10 mail.example.com.')
  const zone = wireName('example.com')
  const validity = { inception: 1_438_207_200, expiration: 1_440_021_600 }
  const rdata = signRrset(mx, zone, keyOf(15, secret), validity)
  expect(split(rdata, 'example.com')[1].toString('base64')).toBe(signature)
})

test('ECDSA P-256 as in RFC 6605 section 6.1: the signature there is one of ours', () => {
  const a = rrset('www.example.net', 'A', 3_600, '192.0.2.1')
  const key = keyOf(13, 'GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=')
  const validity = { inception: 1_281_607_479, expiration: 1_284_026_679 }
  const [head] = split(signRrset(a, wireName('example.net'), key, validity), 'example.net')
  const known =
    'qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw=='
  const signature = Buffer.from(known, 'base64')
  expect(key.algorithm.verify(coveredOctets(head, a), signature, key.privateKey)).toBe(true)
})

describe.each(signingAlgorithms)('$name', (algorithm) => {
  const key = generateZoneKey(algorithm)
  const zone = wireName('Example.org')
  const validity = { inception: 1, expiration: 4_294_967_295 }
  const covered = (one: SignedRrset): string => {
    const [head, signature] = split(signRrset(one, zone, key, validity), 'example.org')
    const octets = coveredOctets(head, one)
    expect(algorithm.verify(octets, signature, key.privateKey)).toBe(true)
    expect(algorithm.verify(octets, Buffer.from(signature).reverse(), key.privateKey)).toBe(false)
    return Buffer.from(octets).toString('latin1')
  }

  test.each([
    ['the order of records', rrset('a.example.org', 'A', 5, '192.0.2.9', '192.0.2.10')],
    [
      'a record that comes twice',
      rrset('a.example.org', 'A', 5, '192.0.2.10', '192.0.2.9', '192.0.2.9'),
    ],
    ['the case of the owner', rrset('A.EXAMPLE.org', 'A', 5, '192.0.2.10', '192.0.2.9')],
  ])('%s does not matter', (_name, one) => {
    expect(covered(one)).toBe(covered(rrset('a.example.org', 'A', 5, '192.0.2.9', '192.0.2.10')))
  })

  test('names in rdata are in lower case, where RFC 4034 section 6.2 says so', () => {
    const mx = (host: string): string => covered(rrset('example.org', 'MX', 5, `10 ${host}`))
    expect(mx('MAIL.Example.org.')).toBe(mx('mail.example.org.'))
    const https = (host: string): string => covered(rrset('example.org', 'HTTPS', 5, `1 ${host}`))
    expect(https('WWW.example.org.')).not.toBe(https('www.example.org.'))
  })

  test('records made from a wildcard are signed as the wildcard', () => {
    const made = { ...rrset('x.y.star.example.org', 'A', 5, '192.0.2.9'), labels: 3 }
    expect(covered(made)).toBe(covered(rrset('*.star.example.org', 'A', 5, '192.0.2.9')))
  })
})

test.each([
  ['.', 0],
  ['org', 1],
  ['www.example.org', 3],
  ['*.example.org', 2],
  ['*', 0],
  ['*a.example.org', 3],
  ['a.*.example.org', 4],
])('%s has %i labels that count', (owner, labels) => {
  expect(labelsOf(wireName(owner))).toBe(labels)
})
