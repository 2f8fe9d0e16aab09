import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { printName } from '#dns/rdata-text/name-text.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RecordList } from '#dns/zone-file/record-list.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import type { ZoneFileOptions } from '#dns/zone-file/zone-file.ts'
import { zoneFileLimits } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const origin = wireName('example.com.')

function parse(text: string | Uint8Array, options: ZoneFileOptions = { origin }) {
  return parseZoneFile({ path: 'zone', octets: Buffer.from(text as string) }, options)
}

function read(text: string | Uint8Array, options?: ZoneFileOptions) {
  const { records, faults, isCut } = parse(text, options)
  return {
    records: [...records].map(({ owner, ttl, type, rdata }) =>
      [printName(owner), ttl, rdataTypeOf(type).name, rdataTypeOf(type).print(rdata)].join(' '),
    ),
    faults: faults.map(
      ({ path, line, column, message }) => `${path}:${line}:${column}: ${message}`,
    ),
    isCut,
  }
}

const rows: readonly [title: string, text: string, records: readonly string[]][] = [
  ['a relative owner', 'www 60 A 192.0.2.1', ['www.example.com. 60 A 192.0.2.1']],
  [
    'texts that touch, as other servers take them',
    'a 60 TXT "b ""c"',
    ['a.example.com. 60 TXT "b " "c"'],
  ],
  ['the origin as @', '@ 60 NS @', ['example.com. 60 NS example.com.']],
  [
    'TTL and class in either order',
    'a 60 IN A 192.0.2.1\nb IN 1h A 192.0.2.2\nc in 1 a 192.0.2.3',
    [
      'a.example.com. 60 A 192.0.2.1',
      'b.example.com. 3600 A 192.0.2.2',
      'c.example.com. 1 A 192.0.2.3',
    ],
  ],
  [
    'a blank owner as the one before',
    'a 60 A 192.0.2.1\n\tA 192.0.2.2\n',
    ['a.example.com. 60 A 192.0.2.1', 'a.example.com. 60 A 192.0.2.2'],
  ],
  ['units of time', '$TTL 1w2d3h4m5s\na A 192.0.2.1', ['a.example.com. 788645 A 192.0.2.1']],
  [
    '$TTL before the TTL of the record above',
    '$TTL 5\na 60 A 192.0.2.1\na A 192.0.2.2',
    ['a.example.com. 60 A 192.0.2.1', 'a.example.com. 5 A 192.0.2.2'],
  ],
  [
    'the minimum of the SOA for a $TTL line where there was no TTL at all',
    '@ SOA a b 1 2 3 4 77\na 60 A 192.0.2.1\n@ NS x.',
    [
      'example.com. 77 SOA a.example.com. b.example.com. 1 2 3 4 77',
      'a.example.com. 60 A 192.0.2.1',
      'example.com. 77 NS x.',
    ],
  ],
  [
    'the TTL of the record above, also of one whose type is not known',
    'a 60 A 192.0.2.1\nb A 192.0.2.2\nc 77 NSAP 0x47\nd A 192.0.2.3',
    [
      'a.example.com. 60 A 192.0.2.1',
      'b.example.com. 60 A 192.0.2.2',
      'd.example.com. 77 A 192.0.2.3',
    ],
  ],
  [
    'parentheses over lines, with comments',
    'a 60 TXT ( one ; (first\n "two;" ) three ; end',
    ['a.example.com. 60 TXT "one" "two;" "three"'],
  ],
  [
    'lines that end in CR LF, and in CR',
    'a 60 TXT (a\r\nb)\r\n\r\n; x\r\nb 60 TXT c\rc 60 TXT d',
    ['a.example.com. 60 TXT "a" "b"', 'b.example.com. 60 TXT "c"', 'c.example.com. 60 TXT "d"'],
  ],
  [
    '$ORIGIN, also relative',
    '$ORIGIN a\nx 1 A 192.0.2.1\n$ORIGIN b\n@ A 192.0.2.2\n$ORIGIN .\nnet A 192.0.2.3',
    ['x.a.example.com. 1 A 192.0.2.1', 'b.a.example.com. 1 A 192.0.2.2', 'net. 1 A 192.0.2.3'],
  ],
  ['a byte order mark', '\ufeffa 1 A 192.0.2.1', ['a.example.com. 1 A 192.0.2.1']],
  ['UTF-8 in comments and texts', 'a 1 TXT ü ; ö', ['a.example.com. 1 TXT "\\195\\188"']],
  [
    'any type',
    'a 1 TYPE65280 \\# 2 ( ab cd )\na CLASS1 1 TYPE1 1.2.3.4',
    ['a.example.com. 1 TYPE65280 \\# 2 abcd', 'a.example.com. 1 A 1.2.3.4'],
  ],
  [
    'an owner that is a number or a type',
    '10 1 PTR a.\nMX 1 MX 1 a.',
    ['10.example.com. 1 PTR a.', 'MX.example.com. 1 MX 1 a.'],
  ],
  [
    '$GENERATE with steps',
    '$GENERATE 0-4/2 h$ 60 A 192.0.2.$',
    [
      'h0.example.com. 60 A 192.0.2.0',
      'h2.example.com. 60 A 192.0.2.2',
      'h4.example.com. 60 A 192.0.2.4',
    ],
  ],
  [
    '$GENERATE with offset, width and base',
    '$GENERATE 10-10 ${-1,3}x${0,4,X} 1 MX "${0,0,d} m${+1,0,o}"',
    ['009x000A.example.com. 1 MX 10 m13.example.com.'],
  ],
  [
    '$GENERATE with nibbles',
    '$GENERATE 26-26 ${0,7,n} 1 PTR a.',
    ['a.1.0.0.example.com. 1 PTR a.'],
  ],
  [
    '$GENERATE with a dollar sign',
    '$GENERATE 1-1 a$ 1 TXT "x$$ \\$ $"',
    ['a1.example.com. 1 TXT "x$" "$" "1"'],
  ],
  [
    '$GENERATE with quotes in what is quoted',
    '$GENERATE 1-1 a$ 1 TXT "\\"b $\\" c\\;d"',
    ['a1.example.com. 1 TXT "b 1" "c;d"'],
  ],
  [
    '$GENERATE, and then the owner from above it',
    'w 1 A 192.0.2.1\n$GENERATE 1-1 a$ TXT x\n  A 192.0.2.2\nw A 192.0.2.3',
    [
      'w.example.com. 1 A 192.0.2.1',
      'a1.example.com. 1 TXT "x"',
      'w.example.com. 1 A 192.0.2.2',
      'w.example.com. 1 A 192.0.2.3',
    ],
  ],
]

describe('a zone file is read with', () => {
  test.each(rows)('%s', (_title, text, records) => {
    expect(read(text)).toEqual({ records, faults: [], isCut: false })
  })
})

const faults: readonly [title: string, text: string | Uint8Array, fault: string][] = [
  [
    'rdata that is wrong',
    '\na 1 MX 10 ( ; x\n  b..c )',
    '3:5: expected the name of a mail server: a label before this dot',
  ],
  ['rdata that is missing', 'a 1 MX 10 ; none', '1:10: expected the name of a mail server'],
  ['a type without data', 'a 1 IN NOPE', '1:8: expected a record type that a zone can hold'],
  [
    'a type that no zone can hold',
    'a IN ANY',
    '1:6: expected a TTL or a record type that a zone can hold',
  ],
  ['no type', 'a 1 IN', '1:7: expected a record type'],
  ['another class', 'a 1 CH TXT x', '1:5: expected the class IN'],
  [
    'a TTL that is too long',
    'a 2147483648 A 192.0.2.1',
    '1:3: expected a TTL of at most 2147483647 seconds',
  ],
  ['no TTL anywhere', 'a A 192.0.2.1', '1:3: expected a TTL before the type, or a $TTL line above'],
  ['no owner yet', '  1 A 192.0.2.1', '1:3: expected an owner before the first record'],
  [
    'an owner that is wrong',
    'a..b 1 A 192.0.2.1',
    '1:3: expected an owner: a label before this dot',
  ],
  ['an open parenthesis', 'a 1 TXT ( b\nc', '1:9: expected a closing parenthesis for this one'],
  [
    'a parenthesis too many',
    'a 1 TXT b )',
    '1:11: expected an opening parenthesis before this one',
  ],
  [
    'an open quote',
    'a 1 TXT "b\nc 1 A 192.0.2.1',
    '1:9: expected a closing quote on the same line',
  ],
  [
    'a directive that nobody knows',
    '$FOO x',
    '1:1: expected $ORIGIN, $TTL, $INCLUDE or $GENERATE, or \\$ in a name',
  ],
  [
    'a $TTL that is none',
    '$TTL never',
    '1:6: expected a time up to 2147483647: seconds, or numbers with w, d, h, m or s (1h30m)',
  ],
  ['an $ORIGIN that is none', '$ORIGIN', '1:8: expected the name that relative names are below'],
  [
    'an $INCLUDE where there is one file',
    '$INCLUDE x',
    '1:10: expected no $INCLUDE: only one file is read here',
  ],
  [
    'a $GENERATE of a billion',
    '$GENERATE 1-1000000000 a$ A 192.0.2.1',
    '1:11: expected at most 65536 records',
  ],
  [
    'a $GENERATE backwards',
    '$GENERATE 9-1 a$ A 192.0.2.1',
    '1:11: expected a range, start-stop or start-stop/step, from 0 to 2147483647',
  ],
  [
    'a $GENERATE beyond its type',
    '$GENERATE 254-999 a$ 1 A 192.0.2.$',
    '1:19: expected an IPv4 address (192.0.2.1), in "a256 1 A 192.0.2.256"',
  ],
  [
    'a $GENERATE as wide as memory',
    '$GENERATE 1-2 ${0,999} 1 A 192.0.2.1',
    '1:15: expected ${offset,width,base}: a width up to 255, and d, o, x, X, n or N',
  ],
  [
    'Latin-1',
    Buffer.from('a 1 TXT x\r\nb 1 TXT "caf\u00e9" ; x', 'latin1'),
    '2:13: octet 233 is not UTF-8, as in a file in Latin-1; save the file as UTF-8, or write \\233 in a text',
  ],
  [
    'a zero octet',
    'a\0 1 A 192.0.2.1',
    '1:2: expected an owner in ASCII (xn--… for other letters), \\DDD for other octets',
  ],
]

describe('a fault has its line and column', () => {
  test.each(faults)('%s', (_title, text, fault) => {
    expect(read(text).faults[0]).toBe(`zone:${fault}`)
  })

  test('and what follows is read all the same', () => {
    const { records, faults: found } = read('a 1 A x\nb 1 A 192.0.2.1\nc 1 TXT "\nd 1 A 192.0.2.2')
    expect([records.length, found.length]).toEqual([2, 2])
  })

  test('up to a hundred of them', () => {
    const { faults: found, isCut } = read('a 1 A x\n'.repeat(5_000))
    expect([found.length, isCut]).toEqual([zoneFileLimits.faultsMax, true])
  })
})

test('each record has its place; a generated one, that of its line', () => {
  const include = () => ok({ path: 'sub', octets: Buffer.from('\nx 1 A 192.0.2.1') })
  const text = 'a 1 A (\n 192.0.2.1 )\n\tAAAA ::1\n$GENERATE 1-2 b$ TXT x\n$INCLUDE sub\nc MX 1 a'
  const { records, placeOf } = parse(text, { origin, include })
  const places = Array.from(records, (_record, index) => {
    const { path, line, column } = placeOf(index)
    return `${path}:${line}:${column}`
  })
  expect(places).toEqual(['zone:1:1', 'zone:3:2', 'zone:4:15', 'zone:4:15', 'sub:2:1', 'zone:6:1'])
})

test('an owner is read anew under another origin', () => {
  const text = 'a 1 A 192.0.2.1\n$ORIGIN b\na 1 A 192.0.2.2\n$INCLUDE sub c\na 1 A 192.0.2.3'
  const include = () => ok({ path: 'sub', octets: Buffer.from('a 1 A 192.0.2.9') })
  const owners = read(text, { origin, include }).records.map((line) => line.split(' ')[0])
  expect(owners).toEqual([
    'a.example.com.',
    'a.b.example.com.',
    'a.c.b.example.com.',
    'a.b.example.com.',
  ])
})

test('a list keeps what was added beyond one chunk of it', () => {
  const list = new RecordList()
  const records = Array.from({ length: 40_000 }, (_, i) => ({
    owner: origin,
    ttl: i,
    type: i % 65_536,
    rdata: new Uint8Array(i % 500 === 0 ? 65_535 : i % 50).fill(i),
  }))
  for (const [i, record] of records.entries()) list.add(record, { text: 0, position: i })
  expect([list.length, list.at(20_500), list.originOf(20_500).position]).toEqual([
    40_000,
    records[20_500],
    20_500,
  ])
  const wrong = [...list].findIndex(({ rdata }, i) => !Buffer.from(rdata).equals(records[i]!.rdata))
  expect(wrong).toBe(-1)
})

describe('$INCLUDE', () => {
  const files: Readonly<Record<string, string>> = {
    sub: 'x 1 A 192.0.2.1\n$ORIGIN elsewhere.\ny 1 A 192.0.2.2',
    self: 'x 1 A 192.0.2.1\n$INCLUDE self',
    ping: '$INCLUDE pong',
    pong: '\n$INCLUDE ping',
    many: '$INCLUDE sub\n'.repeat(300),
  }
  const include: ZoneFileOptions['include'] = (path) => {
    const level = /^deep(\d+)$/.exec(path)
    const text = level === null ? files[path] : `$INCLUDE deep${Number(level[1]) + 1}`
    if (text === undefined) return err('there is no such file')
    return ok({ path, octets: Buffer.from(text) })
  }
  const options = { origin, include }

  test('brings records, and leaves origin and owner as they were', () => {
    expect(read('w 1 A 192.0.2.9\n$INCLUDE sub o\n A 192.0.2.3\nv A 192.0.2.4', options)).toEqual({
      records: [
        'w.example.com. 1 A 192.0.2.9',
        'x.o.example.com. 1 A 192.0.2.1',
        'y.elsewhere. 1 A 192.0.2.2',
        'w.example.com. 1 A 192.0.2.3',
        'v.example.com. 1 A 192.0.2.4',
      ],
      faults: [],
      isCut: false,
    })
  })

  test.each([
    ['nothing', 'zone:1:10: nothing cannot be included: there is no such file'],
    ['self', 'self:2:10: these files include each other in a circle: zone → self → self'],
    ['ping', 'pong:2:10: these files include each other in a circle: zone → ping → pong → ping'],
    ['zone', 'zone:1:10: zone cannot be included: there is no such file'],
    ['deep1', 'deep8:1:10: expected at most 8 files inside each other'],
    ['many', 'many:256:10: expected at most 256 $INCLUDE; the rest is not read'],
  ])('refuses %s in bounded time', (path, fault) => {
    expect(read(`$INCLUDE ${path}`, options).faults).toEqual([fault])
  })
})

const corpus = new URL('../../../fuzz/corpus/zone-file/', import.meta.url)
describe('hostile files come to faults', () => {
  test.each(readdirSync(corpus))('%s', (file) => {
    expect(read(readFileSync(new URL(file, corpus))).faults).not.toEqual([])
  })
})

test('a record of a type that is not known stops nothing, nor does TSIG', () => {
  const lines = [
    'a 60 IN A 192.0.2.1',
    'b 60 IN NSAP 0x47.0005',
    'b 60 IN NSAP 0x47.0006',
    'c 60 IN BRANDNEW "x"',
    'd 60 IN NSAP \\# 1 00',
    'key.example. 0 ANY TSIG hmac-sha256. 1764000000 300 32 AAAA= 1 NOERROR 0',
    'e 60 IN A 192.0.2.2',
  ]
  const { records, faults, leftOut } = parse(lines.join('\n'))
  expect(faults).toEqual([])
  expect([...records].map(({ type }) => type)).toEqual([1, 22, 1])
  expect(leftOut.map(({ type, count, place }) => [type, count, place.line])).toEqual([
    ['NSAP', 2, 2],
    ['BRANDNEW', 1, 4],
    ['TSIG', 1, 6],
  ])
})
