// Key files of BIND and Knot: what is read back, and what is said of files that are no keys.
import { readdirSync, readFileSync } from 'node:fs'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { signingAlgorithms } from '#dns/dnssec/algorithms.ts'
import {
  bindKeyFiles,
  readBindKey,
  readPemKey,
  readPublicKey,
  zoneOfKeyFile,
} from '#dns/dnssec/key-files.ts'
import { generateZoneKey, zoneKey } from '#dns/dnssec/zone-key.ts'
import { formatName } from '#dns/name.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const zone = wireName('Example.org')
const atMs = Date.UTC(2026, 10, 29, 17, 53, 44)

test('the name of a file has the slash of a zone as BIND writes it', () => {
  const key = generateZoneKey(signingAlgorithms[0]!)
  const { stem } = bindKeyFiles({ zone: wireName('0/25.2.0.192.in-addr.arpa'), key }, atMs)
  expect(stem).toMatch(/^K0%2F25\.2\.0\.192\.in-addr\.arpa\.\+013\+\d{5}$/)
  expect(zoneOfKeyFile(`${stem}.key`)).toBe('0/25.2.0.192.in-addr.arpa.')
  expect(zoneOfKeyFile('Kexample.org.+013.key')).toBe('')
})

describe.each(signingAlgorithms)('$name', (algorithm) => {
  const key = generateZoneKey(algorithm)
  const files = bindKeyFiles({ zone, key }, atMs)
  const read = readBindKey(files.record, files.secret)

  test('a key written for BIND is read back', () => {
    expect(read).toMatchObject({ ok: true, value: { key: { tag: key.tag, flags: 257 } } })
    expect(read.ok && formatName(read.value.zone)).toBe('Example.org.')
    expect(read.ok && Buffer.from(read.value.key.rdata).equals(key.rdata)).toBe(true)
    const tag = `${key.tag}`.padStart(5, '0')
    expect(files.stem).toBe(`Kexample.org.+0${algorithm.number}+${tag}`)
    expect(files.secret).toContain('Created: 20261129175344')
  })

  test.each([
    ['Created: 20260101000000', { createdMs: Date.UTC(2026, 0, 1) }],
    ['SyncPublish: 20280229235959', { dsSubmittedMs: Date.UTC(2028, 1, 29, 23, 59, 59) }],
    ['DSPublish: 20261201000000', { dsSeenMs: Date.UTC(2026, 11, 1) }],
    ['Inactive: 20270101000000', { retiredMs: Date.UTC(2027, 0, 1) }],
    ['Delete: 20270201000000', { removedMs: Date.UTC(2027, 1, 1) }],
    ['Delete: 20271301000000', { removedMs: null }],
    ['Delete: later', { removedMs: null }],
    ['Revoke: 20270201000000', {}],
  ])('times of BIND: %s', (line, times) => {
    const one = readBindKey(files.record, `${files.secret}${line}\n`)
    const others = { publishedMs: atMs, activeMs: atMs, ...times }
    expect(one.ok && one.value.times).toMatchObject(others)
  })

  test('a PEM file of it is read', () => {
    const pem = key.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
    expect(readPemKey(pem)).toMatchObject({ ok: true, value: { tag: key.tag } })
    expect(readPemKey(pem, 256)).toMatchObject({ ok: true, value: { flags: 256 } })
  })

  const other = bindKeyFiles({ zone, key: generateZoneKey(algorithm) }, atMs)
  test.each([
    ['another key', files.record, other.secret, /not the one of the DNSKEY/],
    ['two records', files.record + other.record, files.secret, /not one DNSKEY record/],
    ['no record', '', files.secret, /not one DNSKEY record/],
    ['no secret', files.record, '', /does not begin with/],
    ['another version', files.record, files.secret.replace('v1.3', 'v2.0'), /does not begin/],
    [
      'RSA',
      files.record,
      files.secret.replace(/Algorithm.*/, 'Algorithm: 8 (RSASHA256)'),
      /of algorithm 8; 13 \(/,
    ],
    [
      'cut off',
      files.record,
      files.secret.replace(/PrivateKey: ..../, 'PrivateKey: '),
      /no private key|not the one of the DNSKEY/,
    ],
    ['a revoked key', files.record.replace(' 257 ', ' 385 '), files.secret, /flags 385/],
    ['a bad owner', files.record.replaceAll('Example', 'a..b'), files.secret, /no zone name/],
    ['too long', files.record, files.secret + ' '.repeat(20_000), /longer than a key/],
    ['too long a record', files.record + ' '.repeat(20_000), files.secret, /longer than a key/],
  ])('%s: refused with its reason', (_name, record, secret, reason) => {
    expect(readBindKey(record, secret)).toEqual({
      ok: false,
      error: expect.stringMatching(reason) as string,
    })
  })
})

// As BIND 9.18.49 writes numbers; keys of tests alone.
test.each([
  [31, 'b2929P1SK3iTEk414DuE9yJO+ISSkD1RQvSkbrPE/w=='],
  [30, 'b2929P1SK3iTEk414DuE9yJO+ISSkD1RQvSkbrPE'],
])('a scalar of P-256 without its leading zeros, in %i octets', (bytes, secret) => {
  const octets = Buffer.from(secret, 'base64')
  expect(octets).toHaveLength(bytes)
  const [p256] = signingAlgorithms
  const key = zoneKey(p256!.privateFrom(octets)!)!
  const files = bindKeyFiles({ zone, key }, atMs)
  const whole = Buffer.concat([Buffer.alloc(32 - bytes), octets]).toString('base64')
  expect(files.secret).toContain(`PrivateKey: ${whole}\n`)
  for (const text of [files.secret, files.secret.replace(whole, secret)]) {
    const read = readBindKey(files.record, text)
    expect(read).toMatchObject({ ok: true, value: { key: { tag: key.tag } } })
  }
})

test('a scalar of zero is no key of P-256', () => {
  const [p256] = signingAlgorithms
  expect(p256!.privateFrom(new Uint8Array(32))).toBeUndefined()
  expect(p256!.privateFrom(new Uint8Array(32).fill(0xff))).toBeUndefined()
  expect(p256!.privateFrom(new Uint8Array(0))).toBeUndefined()
  expect(p256!.privateFrom(Buffer.from(`00${'11'.repeat(32)}`, 'hex'))).toBeUndefined()
})

test.each([
  ['text', 'no key', /not a private key/],
  ['a long text', 'x'.repeat(20_000), /longer than a key/],
  [
    'a key of RSA',
    generateKeyPairSync('rsa', { modulusLength: 2_048 })
      .privateKey.export({ format: 'pem', type: 'pkcs8' })
      .toString(),
    /of another algorithm/,
  ],
])('%s is no PEM file for us', (_name, pem, reason) => {
  expect(readPemKey(pem)).toEqual({ ok: false, error: expect.stringMatching(reason) as string })
})

const rdataOf = (octets: Uint8Array): string => Buffer.from(octets).toString('base64')
const point = generateZoneKey(signingAlgorithms[0]!).rdata.subarray(4)
const off = Buffer.from(point)
off[63]! ^= 1

test.each([
  ['a point', `257 3 13 ${rdataOf(point)}`, null],
  ['no point', `256 3 13 ${rdataOf(off)}`, /no public key of ECDSAP256SHA256 .no point/],
  ['zeros', `257 3 13 ${rdataOf(new Uint8Array(64))}`, /no point of its curve/],
  ['numbers above the field', `257 3 13 ${rdataOf(Buffer.alloc(64, 255))}`, /no point/],
  ['half of a point', `257 3 13 ${rdataOf(point.subarray(32))}`, /64 octets, and this one has 32/],
  ['32 octets', `257 3 15 ${rdataOf(point.subarray(32))}`, null],
  ['31 octets', `257 3 15 ${rdataOf(point.subarray(33))}`, /of ED25519 has 32 octets/],
  ['an algorithm that does not sign here', '257 3 8 AwEAAQ==', null],
])('a public key of another signer: %s', (_what, rdata, reason) => {
  const read = readPublicKey(`example.org. IN DNSKEY ${rdata}`)
  expect(read.ok ? null : read.error).toEqual(
    reason === null ? null : (expect.stringMatching(reason) as string),
  )
})

test('points of P-256 are known from other octets, whatever they are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (octets) => {
      const text = `example.org. DNSKEY 257 3 13 ${rdataOf(octets)}`
      const read = readPublicKey(text)
      expect(read.ok).toBe(isOnCurve(octets))
    }),
  )
})

/** SEC 2 section 2.4.2: y² = x³ - 3x + b. */
function isOnCurve(octets: Uint8Array): boolean {
  const [x, y] = [0, 32].map((at) =>
    BigInt(`0x${Buffer.from(octets.subarray(at, at + 32)).toString('hex')}`),
  ) as [bigint, bigint]
  const p = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
  const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn
  return x < p && y < p && (y * y - (x * x * x - 3n * x + b)) % p === 0n
}

const corpus = new URL('../../../fuzz/corpus/key-files/', import.meta.url)

test.each(readdirSync(corpus))('the corpus, %s: read or refused, in either place', (name) => {
  const text = readFileSync(new URL(name, corpus), 'utf8')
  const files = bindKeyFiles({ zone, key: generateZoneKey(signingAlgorithms[0]!) }, atMs)
  expect(readBindKey(text, files.secret).ok).toBe(false)
  expect(readBindKey(files.record, text).ok).toBe(false)
  expect(readPemKey(text).ok).toBe(false)
})
