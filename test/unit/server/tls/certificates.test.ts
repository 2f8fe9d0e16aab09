// The certificates of a listener: which one is for a name, and what becomes of each.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SecureContext } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TlsCertificates } from '#server/tls/certificates.ts'
import { pairsIn, sourcesOf } from '#server/tls/sources.ts'
import type { GivenPairs, ListedPair } from '#server/tls/sources.ts'
import { makeTempDir, removeTempDir, tempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'

const silence = { info: () => undefined, warn: () => undefined, error: () => undefined }
const directory = makeTempDir('certificates')
const listed: Record<string, { cert: string; key: string }> = {}
afterAll(() => removeTempDir(directory))
beforeAll(() => {
  for (const [name, host] of Object.entries({
    a: 'a.example',
    wild: '*.b.example',
    late: 'c.b.example',
  })) {
    const path = join(directory, name)
    mkdirSync(path)
    const { certFile: cert, keyFile: key } = makeTlsFiles(path, host)
    listed[name] = { cert, key }
  }
})

function loaded(
  certificates: Readonly<Record<string, ListedPair>>,
  given?: () => GivenPairs,
  nowMs: () => number = Date.now,
) {
  const pairs = pairsIn('dns.tls', { certificates, acme: given !== undefined })
  const all = new TlsCertificates(sourcesOf(pairs, given), silence, nowMs)
  return { all, result: all.load() }
}

/** What a client is shown that asks for the name. */
const shownFor = (all: TlsCertificates, name: string): SecureContext | undefined => {
  let chosen: SecureContext | undefined
  all.byName?.(name, (_error, context) => (chosen = context))
  return chosen ?? all.context
}

test.each([
  ['a.example', 'a'],
  ['A.EXAMPLE', 'a'],
  ['x.b.example', 'wild'],
  ['c.b.example', 'wild'],
  ['b.example', 'a'],
  ['x.y.b.example', 'a'],
  ['*.b.example', 'wild'],
  ['unknown.example', 'a'],
  ['\u00e9', 'a'],
  ['.', 'a'],
  ['a.example.', 'a'],
  ['x'.repeat(300), 'a'],
])('for %s the certificate is %s', (name, expected) => {
  const { all } = loaded(listed)
  const known = { a: all.contextFor('a.example'), wild: all.contextFor('x.b.example') }
  expect(known.a).not.toBe(known.wild)
  expect(shownFor(all, name)).toBe(known[expected as 'a' | 'wild'])
})

test('a single certificate is not chosen by name', () => {
  const { all } = loaded({ a: listed['a']! })
  expect([all.byName, all.context === undefined]).toEqual([undefined, false])
})

test('what an ACME server gives is behind files, and is taken once it is there', () => {
  let given: GivenPairs = {}
  const more = { a: listed['a']!, own: { acme: 'inner' } }
  const { all, result } = loaded(more, () => given)
  expect(result.ok).toBe(true)
  expect(all.contextFor('x.b.example')).toBeUndefined()
  expect(all.status.map(({ name, fault }) => [name, fault])).toEqual([
    ['dns.tls.certificates.a', null],
    ['dns.tls.certificates.own', 'there is no certificate yet'],
    ['dns.tls.acme', 'there is no certificate yet'],
  ])
  const pairOf = (name: string) => loaded({ name: listed[name]! }).all.pair!
  given = { '': pairOf('wild') }
  all.look()
  const wild = all.contextFor('c.b.example')
  expect(wild).toBeDefined()
  expect(all.pair?.cert).toBe(pairOf('a').cert)
  // What is in the list goes before that of all names.
  given = { ...given, inner: pairOf('late') }
  all.look()
  expect(all.contextFor('c.b.example')).not.toBe(wild)
  expect(all.contextFor('x.b.example')).toBe(wild)
  expect(all.status.map(({ fault }) => fault)).toEqual([null, null, null])
})

test('one that cannot be used is named, and the others serve', () => {
  const none = { cert: '/nowhere/cert.pem', key: '/nowhere/key.pem' }
  const { all, result } = loaded({ none, a: listed['a']! })
  const error =
    'dns.tls.certificates.none: /nowhere/cert.pem with /nowhere/key.pem cannot be used: ENOENT'
  expect(result).toEqual({ ok: false, error })
  expect(all.context).toBe(all.contextFor('a.example'))
})

test('each is read again by itself, and says by itself what is wrong with it', () => {
  const path = tempDir('again')
  const { certFile: cert, keyFile: key } = makeTlsFiles(path, 'old.example')
  const { all } = loaded({ a: listed['a']!, own: { cert, key } })
  const [first, own] = [all.context, all.contextFor('old.example')]
  makeTlsFiles(path, 'new.example')
  all.look()
  expect(all.contextFor('old.example')).toBeUndefined()
  expect(all.contextFor('new.example')).not.toBe(own)
  writeFileSync(cert, 'none')
  all.look()
  expect(all.contextFor('new.example')).toBeDefined()
  expect(all.context).toBe(first)
  expect(all.status.map(({ fault }) => fault === null)).toEqual([true, false])
})

test.each([
  ['is over', 'late', 1, 'a.example'],
  ['is not over', 'next', 5, 'next.example'],
] as const)('a pair whose time %s, in the place of one that is valid', (_w, name, days, host) => {
  const path = tempDir('out-of-time')
  const { certFile: cert, keyFile: key } = makeTlsFiles(path, 'a.example')
  const inTwoDays = Date.now() + 2 * 86_400_000
  const { all } = loaded({ one: { cert, key } }, undefined, () => inTwoDays)
  const before = all.context
  makeTlsFiles(path, `${name}.example`, days)
  all.look()
  expect(all.context === before).toBe(host === 'a.example')
})
