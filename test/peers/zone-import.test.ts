// gslbd import zone, beside named-compilezone: the same file is the same zone.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Exit } from '#system/process/command.ts'
import { compiledByBind } from '#test/support/dns/compiled-zone.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const zone = 'c.example'
const soa = '@ SOA ns hostmaster 7 4 3 2 120\n'
const servers = '@ NS ns\nns A 192.0.2.53\n'
const head = `$TTL 3600\n${soa}${servers}`
/** Without $TTL. */
const untimed = `@ 300 SOA ns hostmaster 7 4 3 2 120\n${servers}`
const hosts = '@ A 192.0.2.2\nhost A 192.0.2.2\nhost.sub A 192.0.2.2\n'

/** The zone file, and what it includes as $INCLUDE part and $INCLUDE more/part. */
function written(...texts: readonly string[]): string {
  const directory = tempDir('zone-import')
  mkdirSync(join(directory, 'more'))
  const files = ['zone', 'part', 'more/part']
  for (const [i, text] of texts.entries()) writeFileSync(join(directory, files[i]!), text)
  return directory
}

/**
 * Letters of owners and of the zone's own name are lower case, and the serial is the number of
 * commits.
 */
function shown(compiled: string): string[] {
  const lines = compiled.split('\n').flatMap((line) => {
    const record = /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/.exec(line)
    if (record === null) return []
    const [, owner, ttl, type, rdata] = record
    const value = rdata!.replaceAll(/c\.example\./gi, `${zone}.`)
    const ofSoa = type === 'SOA' ? value.replace(/ \d+/, ' SERIAL') : value
    return [`${owner!.toLowerCase()} ${ttl} ${type} ${ofSoa}`]
  })
  return lines.sort()
}

const readByBind = (directory: string): string[] =>
  shown(compiledByBind(join(directory, 'zone'), zone))

async function imported(directory: string) {
  const target = join(directory, 'config')
  const file = join(directory, 'zone')
  const { exit, out, err } = await runCli('import', 'zone', file, '-o', target, '--origin', zone)
  const short = (text: string): string => text.replaceAll(`${directory}/`, '')
  return { target, exit, out: short(out), err: short(err) }
}

/** What the imported zone is, and what the import says. */
async function readByUs(directory: string) {
  const { target, exit, out, err } = await imported(directory)
  expect([exit, err]).toEqual([Exit.Ok, ''])
  const printed = await runCli('export', 'zone', zone, '--config', target)
  writeFileSync(join(directory, 'printed'), printed.out)
  return { records: shown(compiledByBind(join(directory, 'printed'), zone)), out }
}

const place = `${head}outer TXT x\n$INCLUDE part`
const below = '\n A 192.0.2.3\nlast A 192.0.2.4\n'
const key = 'AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ=='

type Row = readonly [title: string, ...texts: readonly string[]]

const nibbles = ['0,0', '0,1', '0,2', '0,5', '0,7'].map((width): Row => {
  const generated = `$GENERATE 0-4000/800 \${${width},n}x 60 TXT x\n`
  return [`$GENERATE with nibbles, ${width}`, head + generated]
})

const same: readonly Row[] = [
  ['an included file', `${place}${below}`, 'inner A 192.0.2.9\n'],
  ['and its origin', `${place} sub.c.example.${below}`, 'inner A 192.0.2.9\n@ A 192.0.2.8\n'],
  ['a relative one', `${place} sub${below}`, '@ A 192.0.2.8\n$ORIGIN deep\nx A 192.0.2.7\n'],
  ['its $TTL, which goes on below', `${place}${below}`, '$TTL 77\ninner A 192.0.2.9\n'],
  ['$TTL of it alone', `${untimed}$INCLUDE part${below}`, '$TTL 9\ninner A 192.0.2.9\n'],
  ['its last TTL', `${untimed}$INCLUDE part${below}`, 'inner 99 A 192.0.2.9\n'],
  ['the owner above in it', `${place} sub\n`, ' A 192.0.2.9\n'],
  ['a file in quotes, a comment', `${head}$include "part" Sub ; x\n`, 'a A 192.0.2.9'],
  ['an empty file', `${place} sub${below}`, ''],
  [
    'a file in a file, from the folder of the first',
    `${place} sub${below}`,
    'p A 192.0.2.1\n$INCLUDE more/part x\n TXT y\n',
    'm A 192.0.2.1\n TXT z\n',
  ],
  ['a file that begins the zone', '$INCLUDE part\nb A 192.0.2.3\n', head],
  ['a file twice', `${head}$INCLUDE part a\n$INCLUDE part b\n`, '@ A 192.0.2.1\nq CNAME @\n'],

  ['no $TTL: the last TTL that was stated', `${untimed}www 60 A 192.0.2.1\n TXT x\n`],
  ['no TTL before the SOA record: its minimum', `${soa}${servers}www 60 A 192.0.2.1\nb TXT x\n`],
  ['and a $TTL below', `${soa}${servers}www 60 A 192.0.2.1\n$TTL 9\nb TXT x\n`],
  ['$TTL below records', `${untimed}$TTL 20\na A 192.0.2.1\nb 60 A 192.0.2.1\nc A 192.0.2.1\n`],
  ['several $TTL, and zero', `${head}$TTL 2h\na TXT x\n$TTL 0\nb TXT x\nc 5 TXT x\nd TXT x\n`],
  [
    'times in units',
    `$TTL 1h30m\n@ SOA ns hostmaster 1 1h30m 15m 2w 1m30s\n${servers}` +
      'a 1W2D3H4M5S TXT x\nb 30m1h TXT x\nc 01h TXT x\nd 0s TXT x\ne 1h1h TXT x\n',
  ],
  ['TTL and class in either order', `${head}a IN 1h TXT x\nb 60 IN TXT x\nc class1 txt x\n`],
  ['owners that look like a type, a class, a TTL', `${head}A A 192.0.2.1\nIN TXT x\n60 5 TXT 60\n`],

  [
    '$GENERATE with d, o, x, X, n and N',
    `${head}$GENERATE 16-18 d\${0,3,d} A 192.0.2.$\n$GENERATE 7-9 o\${0,3,o} TXT \${0,0,o}\n` +
      '$GENERATE 26-28 x${0,3,x} TXT ${0,3,X}\n$GENERATE 26-28 ${0,3,n} TXT ${0,4,N}\n',
  ],
  ...nibbles,
  [
    '$GENERATE with offsets',
    `${head}$GENERATE 1-3 h\${10} A 192.0.2.\${-1}\n$GENERATE 1-3 \${+2,4} TXT \${100,0,x}\n`,
  ],
  ['$GENERATE in steps', `${head}$GENERATE 1-9/3 h$ A 192.0.2.$\n$GENERATE 1-2/5 i$ TXT $\n`],
  [
    '$GENERATE with TTL and class',
    `${head}$GENERATE 1-2 h$ 60 IN TXT $\n$GENERATE 1-2 i$ IN 1h TXT $\n`,
  ],
  ['its TTL below it', `${untimed}$GENERATE 1-2 h$ 60 A 192.0.2.$\nx A 192.0.2.1\n`],
  ['the owner below it', `${head}w TXT x\n$GENERATE 1-2 h$ TXT $\n A 192.0.2.9\nw TXT y\n`],
  [
    'the owner below it in an included file',
    `${place} sub${below}`,
    '$GENERATE 1-2 i$ A 192.0.2.$\n AAAA 2001:db8::1\n',
  ],
  [
    '$GENERATE of several words in quotes',
    `${head}$GENERATE 1-2 mail$ A 192.0.2.$\n$GENERATE 1-2 @ MX "\${0}0 mail$"\n` +
      '$GENERATE 1-2 s$ SRV "0 1 $ mail$"\n$GENERATE 1-2 h$ HTTPS "$ svc$ port=44$"\n' +
      '$GENERATE 1-2 t$ TXT "a $ b"\n$GENERATE 1-2 h$ TYPE1 "\\# 4 c000020$"\n',
  ],
  [
    '$GENERATE with quotes in them',
    `${head}$GENERATE 1-2 n$ NAPTR "$ 1 \\"s\\" \\"x\\" \\"\\" t$"\n` +
      '$GENERATE 1-2 u$ TXT "\\"a $ b\\" c\\;d"\n',
  ],
  ['$GENERATE with dollar signs', `${head}$GENERATE 1-2 a$$$ TXT $$\\$$\n`],
  [
    '$GENERATE below another origin',
    `${head}$ORIGIN sub\n$generate 1-2 $ ptr h$.c.example.\n$GENERATE 1-2 *.w$ CNAME @\n`,
  ],

  [
    'relative targets',
    `${head}${hosts}cname CNAME host\nmx MX 1 host\n_s._tcp SRV 1 1 1 host\nafsdb AFSDB 1 host\n` +
      'rp RP host host\nhttps HTTPS 1 host\nalias HTTPS 0 host\nsvcb SVCB 1 host alpn=h2\n' +
      'naptr NAPTR 1 1 "s" "x" "" host\nkx KX 1 host\nlp LP 1 host\npx PX 1 host @\n' +
      `rt RT 1 host\nptr PTR host\ndname DNAME host\nipseckey IPSECKEY 10 3 2 host ${key}\n`,
  ],
  [
    'the origin and the root as targets',
    `${head}${hosts}@ MX 1 @\na HTTPS 1 @\nb HTTPS 1 .\nc NAPTR 1 1 "u" "x" "!^.*$!sip:x@y!" .\n` +
      '$ORIGIN sub\nd HTTPS 1 host\ne NAPTR 1 1 "s" "x" "" @\nf SVCB 1 @\n',
  ],
  [
    'parameters of SVCB',
    `${head}a HTTPS 1 . port=443 alpn="h2,h3" key667="a;b" mandatory=port,alpn no-default-alpn\n` +
      'b HTTPS 1 . ipv4hint=192.0.2.1,192.0.2.2 key667=a\\;b\nc SVCB 1 . key668="a b" key667\n' +
      'd SVCB 1 . alpn="f\\\\\\\\oo\\\\,bar,h2"\ne SVCB 1 . dohpath=/q{?dns}\n' +
      'f SVCB 1 . key1=\\002h2\n',
  ],

  [
    'escaped owners',
    `${head}${['a\\.b', 'a\\;b', '\\097\\098', 'a\\"b', 'a\\@b', '\\@', 'a@b', '\\* ', 'a\\ b']
      .concat('\\$x', 'a$', 'a\\\\b', 'a\\(b', 'a\\255', 'a\\000', '\\0011', 'x/y', '_x._y')
      .map((owner) => `${owner} TXT x\n`)
      .join('')}`,
  ],
  ['an owner written in two ways', `${head}ab A 192.0.2.1\n\\097b A 192.0.2.2\n\\065B TXT x\n`],
  ['texts that touch', `${head}a TXT "v=DKIM1; ""p=abc"\nb TXT "a""""c" d\n`],
  [
    'quotes and semicolons',
    `${head}a TXT "a;b" "c d" e\nb TXT "a\\"b" \\" ; x\nc TXT a\\;b;c\nd TXT "\\065\\\\"\n` +
      'e TXT ""\nf TXT ( "a"\n "b" ; c\n )\ng TXT "(a)"\nh HINFO a\\ b "c\\\\d"\n' +
      'i CAA 0 issue "ca.example; a=b"\nj URI 1 1 "http://h/a\\"b;c"\nk TXT @ "@" $x\n' +
      'l TXT café\nm PTR a\\;b\nn TXT "a\tb"\n',
  ],
  [
    'upper case',
    `$origin C.Example.\n${head}WWW A 192.0.2.1\nwww A 192.0.2.2\nfoo cname Www.Sub\n` +
      '_HTTP._tcp PTR My\\ Printer\n@ caa 0 ISSUE "Ca.Example"\nC.EXAMPLE. TXT X\n' +
      'n NAPTR 1 1 "S" "SIP+D2U" "" _Sip\n',
  ],
  [
    'blank owners, parentheses, and lines in CR LF',
    (
      `${head}a ( A\n 192.0.2.1 )\n\n ; x\n\tTXT x;y\n(b\n) A 192.0.2.2\n` +
      '$ORIGIN sub\n AAAA ::1\n'
    ).replaceAll('\n', '\r\n'),
  ],
  ['records that stand there twice', `${head}a TXT x\na TXT "x"\na A 192.0.2.1\na A 192.0.2.1\n`],
  ['two TTLs, the lowest first', `${head}a 300 A 192.0.2.1\na TXT x\na 600 A 192.0.2.2\n`],
  ['two TTLs of two types', `${head}a 300 A 192.0.2.1\na 200 AAAA ::1\n`],
]

describe('a zone file is the zone that it is for BIND, with', () => {
  test.each(same)('%s', async (_title, ...texts) => {
    const directory = written(...texts)
    const { records } = await readByUs(directory)
    expect(records).toEqual(readByBind(directory))
  })
})

/** BIND takes the first, or the last where another name stands between; servers differ. */
const twoTtls: readonly [title: string, lines: string, bind: number, ours: number][] = [
  ['the first is higher', 'a 600 A 192.0.2.1\na 300 A 192.0.2.2', 600, 300],
  ['another name stands between', 'a 300 A 192.0.2.1\nb TXT x\na 600 A 192.0.2.2', 600, 300],
  ['they are of one record', 'a 300 A 192.0.2.1\na 200 A 192.0.2.1', 300, 200],
]

describe('of two TTLs in a set the lowest is taken, and told (RFC 2181 section 5.2), where', () => {
  test.each(twoTtls)('%s', async (_title, lines, bind, ours) => {
    const directory = written(`${head}${lines}\n`)
    const ttls = (records: readonly string[]): number[] => [
      ...new Set(
        records.filter((line) => line.startsWith('a.')).map((line) => Number(line.split(' ')[1])),
      ),
    ]
    const { records, out } = await readByUs(directory)
    expect([ttls(readByBind(directory)), ttls(records)]).toEqual([[bind], [ours]])
    expect(out).toMatch(new RegExp(`zone:\\d:1: a A: TTL ${ours} for all of its records, some had`))
  })
})

/** Line and column, and the beginning of what is said. */
const refused: readonly [title: string, lines: string, fault: string][] = [
  ['a TTL beyond RFC 2181 section 8', 'a 2147483648 A 192.0.2.1', '5:3: expected a TTL of at most'],
  ['a text that ends within a word', 'a TXT "b"c', '5:10: expected white space after the closing'],
  ['a text that begins within a word', 'a TXT a"b"', '5:8: expected white space before a quote'],
  ['an owner in quotes', '"a" A 192.0.2.1', '5:1: expected an owner, without quotes'],
  ['letters beyond ASCII in a name', 'café A 192.0.2.1', '5:4: expected an owner in ASCII'],
  ['a number below zero', '$GENERATE 0-1 h$ TXT ${-1}', '5:15: expected an offset that does not'],
  ['names of other zones', 'a.example. A 192.0.2.1', '5:1: a.example. is not in the zone'],
  ['$DATE, of dumps of caches', '$DATE 20260101000000', '5:1: expected $ORIGIN, $TTL'],
]

describe('BIND takes, and here is refused at its place:', () => {
  test.each(refused)('%s', async (_title, lines, fault) => {
    const directory = written(`${head}${lines}\n`)
    expect(() => readByBind(directory)).not.toThrow()
    const { exit, err } = await imported(directory)
    expect([exit, err.split('\n')[0]]).toEqual([
      Exit.ErrorsFound,
      expect.stringContaining(`zone:${fault}`),
    ])
  })
})

const refusedByBoth: readonly [title: string, zone: string][] = [
  ['a number without a unit after one with it', `${head}a 1h30 A 192.0.2.1\n`],
  ['no TTL before the first record, which is no SOA', `${servers}@ 300 SOA a b 1 2 3 4 5\n`],
  ['no owner before the first record', `$TTL 60\n SOA a b 1 2 3 4 5\n`],
  ['two words of $GENERATE that lead down', `${head}$GENERATE 5-2 h$ A 192.0.2.$\n`],
  ['steps of zero', `${head}$GENERATE 1-2/0 h$ A 192.0.2.$\n`],
  ['a text of 256 octets', `${head}a TXT ${'x'.repeat(256)}\n`],
  ['a text over two lines', `${head}a TXT "b\nc"\n`],
  ['an escape beyond 255', `${head}\\256 A 192.0.2.1\n`],
  ['names of SVCB parameters in upper case', `${head}a SVCB 1 . ALPN=h2\n`],
  ['an alias beside other records', `${head}a CNAME b\na A 192.0.2.1\n`],
]

describe('BIND refuses, and so does the import:', () => {
  test.each(refusedByBoth)('%s', async (_title, text) => {
    const directory = written(text)
    expect(() => readByBind(directory)).toThrow('named-compilezone')
    expect((await imported(directory)).exit).toBe(Exit.ErrorsFound)
  })
})
