// Names and addresses: what is accepted, in which form, and what is said about the rest.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkAddress } from '#compiler/values/addresses.ts'
import { derivedUid, memberUid, objectUid } from '#compiler/read/identity.ts'
import { checkName } from '#compiler/values/names.ts'

const label63 = 'a'.repeat(63)
const longest = `${label63}.${label63}.${label63}.${'b'.repeat(61)}.`

const names: readonly [text: string, key: string | undefined, code: string | undefined][] = [
  ['www.example.com.', 'www.example.com.', undefined],
  ['WWW.Example.COM.', 'www.example.com.', undefined],
  ['_dmarc.xn--bcher-kva.example.', '_dmarc.xn--bcher-kva.example.', undefined],
  ['com.', 'com.', undefined],
  ['*.example.com.', '*.example.com.', undefined],
  [longest, longest, undefined],
  ['0/25.2.0.192.in-addr.arpa.', '0/25.2.0.192.in-addr.arpa.', undefined],
  ['0/1.8.B.D.0.ip6.arpa', '0/1.8.b.d.0.ip6.arpa.', 'name-not-absolute'],
  ['a/b.example.com.', undefined, 'name-invalid'],
  ['https://2.0.192.in-addr.arpa.', undefined, 'name-invalid'],
  ['www.example.com', 'www.example.com.', 'name-not-absolute'],
  [`${label63}a.com.`, undefined, 'name-label-too-long'],
  [`a${longest}`, undefined, 'name-label-too-long'],
  [`a.${longest}`, undefined, 'name-too-long'],
  ['www..com.', undefined, 'name-invalid'],
  ['.com.', undefined, 'name-invalid'],
  ['.', undefined, 'name-invalid'],
  ['bücher.example.', undefined, 'name-invalid'],
  ['a b.example.', undefined, 'name-invalid'],
  ['a\\.b.example.', undefined, 'name-invalid'],
  ['https://example.com/', undefined, 'name-invalid'],
  ['hostmaster@example.com.', undefined, 'name-invalid'],
  ['a*.example.com.', undefined, 'name-wildcard'],
  ['a.*.example.com.', undefined, 'name-wildcard'],
  ['*.*.example.com.', undefined, 'name-wildcard'],
  ['*.', undefined, 'name-wildcard'],
]
for (const [text, key, code] of names) {
  test(`the service domain ${text.slice(0, 40)} is ${code ?? 'accepted'}`, () => {
    const checked = checkName(text, true)
    expect([checked.key, checked.fault?.code]).toEqual([key, code])
  })
}

test('a zone or a name server cannot have a wildcard', () => {
  expect(checkName('*.example.com.', false).fault?.code).toBe('name-wildcard')
})

test('a mailbox in place of a name is answered with the name', () => {
  expect(checkName('hostmaster@example.com.', false).fault?.suggestion).toBe(
    'hostmaster.example.com.',
  )
})

test('no text makes the check of names throw, and every key is stable', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), fc.boolean(), (text, wildcard) => {
      const { key } = checkName(text, wildcard)
      if (key !== undefined) expect(checkName(key, wildcard)).toEqual({ key, fault: undefined })
    }),
  )
})

const addresses: readonly [
  text: string,
  canonical: string | undefined,
  code: string | undefined,
][] = [
  ['192.0.2.1', '192.0.2.1', undefined],
  ['127.0.0.11', '127.0.0.11', undefined],
  ['169.254.1.1', '169.254.1.1', undefined],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1', undefined],
  ['::1', '::1', undefined],
  ['192.0.2.01', undefined, 'address-invalid'],
  ['192.0.2.256', undefined, 'address-invalid'],
  ['192.0.2', undefined, 'address-invalid'],
  ['www.example.com', undefined, 'address-invalid'],
  ['192.0.2.1/24', undefined, 'address-invalid'],
  ['fe80::1%eth0', undefined, 'address-invalid'],
  ['::ffff:192.0.2.1', undefined, 'address-mapped'],
  ['0.0.0.0', undefined, 'address-unusable'],
  ['0.1.2.3', undefined, 'address-unusable'],
  ['::', undefined, 'address-unusable'],
  ['224.0.0.1', undefined, 'address-unusable'],
  ['240.0.0.1', undefined, 'address-unusable'],
  ['255.255.255.255', undefined, 'address-unusable'],
  ['ff02::1', undefined, 'address-unusable'],
]
for (const [text, canonical, code] of addresses) {
  test(`the address ${text} is ${code ?? 'accepted'}`, () => {
    const checked = checkAddress(text)
    expect([checked.canonical, checked.fault?.code]).toEqual([canonical, code])
  })
}

test('derived ids never change: every bundle and every status depends on them', () => {
  const pool = objectUid('default', 'Pool', 'web')
  expect(pool).toBe('ce29a67e-7bd0-5018-af13-2406613ed13f')
  expect(memberUid(pool, '192.0.2.1', 443)).toBe('36bc35cd-a787-50ea-8c19-deb33501eed2')
})

test('parts of a name cannot be shifted into one another', () => {
  expect(derivedUid('a', 'b/c')).not.toBe(derivedUid('a/b', 'c'))
  expect(derivedUid('a","b')).not.toBe(derivedUid('a', 'b'))
})
