import { expect, test } from 'vitest'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import { anyReader, zoneReaders } from '#dns/zone-file/zone-readers.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

function printed(
  origin: string,
  names: 'relative' | 'absolute',
  text: string,
  reader = anyReader,
): string {
  const wire = wireName(origin)
  const octets = Buffer.from(text)
  const { records, faults } = parseZoneFile({ path: 'zone', octets }, { origin: wire })
  expect(faults).toEqual([])
  return [...zoneLines(records, { origin: wire, names, reader })].join('').replaceAll('\t', ' ')
}

test('names are in the canonical order of RFC 4034 section 6.1', () => {
  const names = ['example', 'a.example', 'yljkjljk.a.example', 'Z.a.example', 'zABC.a.EXAMPLE']
  const rest = ['z.example', '\\001.z.example', '*.z.example', '\\200.z.example']
  const text = [...names, ...rest].reverse().map((name) => `${name}. 1 A 192.0.2.1\n`)
  const owners = printed('example.', 'absolute', text.join('')).match(/^\S+(?=\.)/gm)
  expect(owners).toEqual([...names, ...rest])
})

test('SOA is first at its owner, then types by number, then rdata octet by octet', () => {
  const text =
    '@ 1 MX 9 b\n@ 1 MX 9 B.example.\n@ 1 A 10.0.0.2\n@ 1 A 9.0.0.1\n@ 1 SOA a b 1 2 3 4 5\n'
  expect(printed('example.', 'relative', text).split('\n')).toEqual([
    '$ORIGIN example.',
    '@ 1 IN SOA a.example. b.example. 1 2 3 4 5',
    '@ 1 IN A 9.0.0.1',
    '@ 1 IN A 10.0.0.2',
    '@ 1 IN MX 9 b.example.',
    '',
  ])
})

test('names in rdata, and owners outside of the zone, are absolute', () => {
  const text = 'a 1 CNAME b.EXAMPLE.\nc 1 CNAME d.notexample.\ne 1 CNAME @\n'
  expect(printed('example.', 'relative', text).split('\n').slice(1, -1)).toEqual([
    'a 1 IN CNAME b.EXAMPLE.',
    'c 1 IN CNAME d.notexample.',
    'e 1 IN CNAME example.',
  ])
})

test('a type or key that the reader has no name for is written by its number', () => {
  const text =
    'a 1 HTTPS 1 . alpn=h2 mandatory=alpn,dohpath dohpath=/q{?dns}\na 1 X25 311061700956\n'
  const numbers = ['a 1 IN TYPE19 \\# 13 0c333131303631373030393536', httpsOf('key7')]
  const names = ['a 1 IN X25 "311061700956"', httpsOf('dohpath')]
  expect(printed('example.', 'relative', text).split('\n').slice(1, -1)).toEqual(numbers)
  const bind = zoneReaders.find(({ name }) => name === 'bind9.18')
  expect(printed('example.', 'relative', text, bind).split('\n').slice(1, -1)).toEqual(names)
})

test('signs in names have a backslash for readers that need it', () => {
  const text = "bob\\'s\\032p+q 1 TXT bob's\na 1 PTR bob's.example.\nb 1 AAAA 2001:db8::1\n"
  const shown = (reader = anyReader) => printed('example.', 'relative', text, reader).split('\n')
  expect(shown().slice(1, -1)).toEqual([
    "a 1 IN PTR bob\\'s.example.",
    'b 1 IN AAAA 2001:db8::1',
    `bob\\'s\\032p\\+q 1 IN TXT "bob's"`,
  ])
  const bind = zoneReaders.find(({ name }) => name === 'bind9.18')
  expect(shown(bind)[1]).toBe("a 1 IN PTR bob's.example.")
})

test('a gateway that is not there is a dot, but for the reader that refuses it', () => {
  const text = 'a 1 IPSECKEY 10 0 2 . AQID\nb 1 IPSECKEY 10 0 0 .\n'
  const lines = (reader = anyReader) => printed('example.', 'absolute', text, reader)
  expect(lines()).toBe(
    'a.example. 1 IN IPSECKEY 10 0 2 . AQID\nb.example. 1 IN IPSECKEY 10 0 0 .\n',
  )
  const pdns = zoneReaders.find(({ name }) => name === 'pdns4.7')
  expect(lines(pdns)).toBe(
    'a.example. 1 IN IPSECKEY 10 0 2 AQID\nb.example. 1 IN IPSECKEY 10 0 0\n',
  )
})

const httpsOf = (key: string): string =>
  `a 1 IN HTTPS 1 . mandatory=alpn,${key} alpn=h2 ${key}=/q{?dns}`
