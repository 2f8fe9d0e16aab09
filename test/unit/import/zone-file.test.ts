// gslbd import zone, as a script calls it.
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileBytesMax } from '#compiler/read/source.ts'
import { jsonLinesValue } from '#compiler/yaml/parse/json-lines.ts'
import { readYaml } from '#compiler/yaml/document.ts'
import { Exit } from '#system/process/command.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const head =
  '$ORIGIN example.com.\n$TTL 300\n@ SOA ns1 hostmaster 7 4 3 2 1\n@ NS ns1\nns1 A 192.0.2.53\n'

/** Writes the zone file, and imports it into a directory of its own. */
async function imported(zone: string | Uint8Array, ...options: readonly string[]) {
  const directory = tempDir('import')
  writeFileSync(join(directory, 'zone'), zone)
  return { ...(await run(directory, ...options)), directory }
}

async function run(directory: string, ...options: readonly string[]) {
  const [file, target] = [join(directory, 'zone'), join(directory, 'config')]
  const { exit, out, err } = await runCli('import', 'zone', file, '-o', target, ...options)
  const short = (text: string): string => text.replaceAll(`${directory}/`, '')
  return { exit, out: short(out), err: short(err), target }
}

function yamlAt(...path: readonly string[]): Record<string, unknown> {
  const { value, findings } = readYaml(readFileSync(join(...path), 'utf8'))
  expect(findings).toEqual([])
  return (value as { readonly spec: Record<string, unknown> }).spec
}

const recordsIn = (target: string): unknown =>
  yamlAt(target, 'tenants/default/records/example.com.yaml')['records']

test('the reverse zone of a small network may have a slash in its name (RFC 2317)', async () => {
  const origin = '0/25.2.0.192.in-addr.arpa'
  const zone = '$TTL 60\n@ SOA a.example. b.example. 1 2 3 4 5\n@ NS a.example.\n1 PTR a.example.\n'
  const { exit, out, target } = await imported(zone, '--origin', origin)
  expect(exit).toBe(Exit.Ok)
  expect(out).toContain('records/0-25.2.0.192.in-addr.arpa.yaml: 1 record set\n')
  const again = await runCli('export', 'zone', origin, '--config', target)
  expect(again.out).toMatch(
    /^\$ORIGIN 0\/25\.2\.0\.192\.in-addr\.arpa\.\n(?:.*\n)+1\t60\tIN\tPTR\ta\.example\.\n/,
  )
})

describe('a zone file becomes', () => {
  test('records of the tenant, and settings of the zone', async () => {
    const zone = `${head}@ MX 10 ns1\nwww 60 A 192.0.2.2\nwww 60 A 192.0.2.1\nWWW 60 A 192.0.2.2\n`
    const { exit, out, err, target } = await imported(zone)
    expect([exit, err]).toEqual([Exit.Ok, ''])
    expect(out).toContain('wrote config/gslb.yaml: the zone\n')
    expect(out).toContain('wrote config/tenants/default/records/example.com.yaml: 2 record sets\n')
    expect(yamlAt(target, 'gslb.yaml')).toEqual({
      zones: [
        {
          name: 'example.com.',
          nameservers: [{ name: 'ns1.example.com.', addresses: ['192.0.2.53'] }],
          soa: {
            mname: 'ns1.example.com.',
            rname: 'hostmaster.example.com.',
            refresh: 4,
            retry: 3,
            expire: 2,
            minimum: 1,
            ttl: 300,
          },
          serialBase: 7,
        },
      ],
    })
    expect(recordsIn(target)).toEqual([
      { name: '@', type: 'MX', values: ['10 ns1'] },
      { name: 'www', type: 'A', ttl: 60, values: ['192.0.2.2', '192.0.2.1'] },
    ])
  })

  test('an ALIAS, as PowerDNS prints it', async () => {
    const { exit, out, target } = await imported(`${head}@ 60 IN alias www.example.net.\n`)
    expect([exit, out.includes('not mapped')]).toEqual([Exit.Ok, false])
    expect(recordsIn(target)).toEqual([{ name: '@', type: 'ALIAS', values: ['www.example.net.'] }])
  })

  test('the same whatever YAML would take its texts for', async () => {
    const texts = ['null', 'yes', '12', '1e3', '0x1f', "it's", 'a: b', '# no', '~', 'a\\"b', '- x']
    const names = ['on', 'true', 'null', '1', '1.5', '0x10', '_x', '*', 'a\\;b', '\\@', '1e3']
    const zone = [
      ...texts.map((text, i) => `t${i} TXT "${text}"`),
      ...names.map((name) => `${name} 5 HINFO "${name.replace('\\', '')}" "'"`),
      '7 TYPE65280 \\# 1 00',
      'cn CNAME no',
    ]
    const { target } = await imported(`${head}${zone.join('\n')}\n`)
    const records = recordsIn(target) as { name: string; values: string[] }[]
    const valueOf = new Map(records.map(({ name, values }) => [name, values]))
    expect(texts.map((_, i) => valueOf.get(`t${i}`))).toEqual(texts.map((text) => [`"${text}"`]))
    expect(names.map((name) => valueOf.get(name)?.length)).toEqual(names.map(() => 1))
    expect([valueOf.get('7'), valueOf.get('cn')]).toEqual([['\\# 1 00'], ['no']])
  })

  test('files that the compiler reads whole, however many records there are', async () => {
    const many = Array.from({ length: 30_000 }, (_, i) =>
      i < 9_000 ? `h${i} TXT "${'x'.repeat(200)}"\n` : `h${i} A 192.0.2.${i % 250}\n`,
    )
    const { target, out } = await imported(head + many.join(''))
    const files = readdirSync(join(target, 'tenants/default/records'))
    expect(files.length).toBeGreaterThan(1)
    const sets = files.flatMap((file) => {
      const text = readFileSync(join(target, 'tenants/default/records', file), 'utf8')
      expect(jsonLinesValue(text)).toBeDefined()
      expect(text.length).toBeLessThanOrEqual(fileBytesMax)
      const { records, zone } = yamlAt(target, 'tenants/default/records', file)
      expect(zone).toBe('example.com.')
      return records
    })
    expect(sets).toHaveLength(30_000)
    expect(out).toContain('records/example.com-2.yaml: ')
  })

  test('records without what a signer makes, and without what a delegation hides', async () => {
    const signed =
      'www A 192.0.2.1\nwww RRSIG A 13 3 300 20260101000000 20250101000000 1 example.com. aaaa\n' +
      '@ NSEC www A NS\n@ DNSKEY 257 3 13 aaaa\nsub NS ns.sub\nsub DS 1 13 2 ' +
      `${'00'.repeat(32)}\nns.sub A 192.0.2.9\nold.sub A 192.0.2.8\nsub TXT x\n` +
      'www RRSIG A 13 3 300 20260101000000 20250101000000 2 example.com. aaaa\n'
    const { exit, out, target } = await imported(head + signed)
    expect(exit).toBe(Exit.Ok)
    const records = recordsIn(target) as { name: string; type: string }[]
    expect(records.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'sub NS',
      'sub DS',
      'ns.sub A',
      'www A',
    ])
    expect(out.split('\nleft out:\n')[1]!.split('\n')).toEqual([
      '  zone:7:1: 2 RRSIG records, this is the first: a server that signs makes its own',
      '  zone:8:1: one NSEC record: a server that signs makes its own',
      '  zone:9:1: one DNSKEY record: a server that signs makes its own',
      '  zone:14:1: sub TXT: sub.example.com. is delegated in line 10, and its own servers answer for it',
      '  zone:13:1: old.sub A: sub.example.com. is delegated in line 10, and its own servers answer for it',
      '',
      'not mapped; look at each:',
      '  zone:7:1: the zone is signed: first give its key to the nodes and set dnssec of the zone, or remove its DS records in the zone above and wait until their TTL is over; else validating resolvers answer SERVFAIL',
      '',
    ])
  })

  test('a mailbox with a dot, and NS records with a TTL of their own', async () => {
    const text = head.replace('hostmaster', 'a\\.b').replace(/^@ NS/m, '@ 86400 NS')
    expect(text).toContain('@ 86400 NS')
    const { target } = await imported(text)
    const settings = readFileSync(join(target, 'gslb.yaml'), 'utf8')
    expect(settings).toContain('rname: a\\.b.example.com.\n')
    expect(settings).toContain('nsTtl: 86400\n')
    const shown = await runCli('export', 'zone', 'example.com', '--config', target)
    expect(shown.out).toMatch(/\t86400\tIN\tNS\t/)
    expect(shown.out).toMatch(/SOA\tns1\.example\.com\. a\\\.b\./)
  })

  test('a zone without NS records, and says so', async () => {
    const { out } = await imported(head.replace(/^@ NS.*\n/m, ''))
    expect(out).toContain('example.com. has no NS records; name its servers as nameservers')
  })

  test('one TTL for each record set, the lowest, and says so', async () => {
    const { out, target } = await imported(`${head}a 9 A 192.0.2.1\na 5 A 192.0.2.2\n`)
    expect(recordsIn(target)).toEqual([
      { name: 'a', type: 'A', values: ['192.0.2.1', '192.0.2.2'] },
    ])
    expect(out).toContain('zone:7:1: a A: TTL 5 for all of its records, some had 9')
  })
})

describe('the settings of a checkout', () => {
  const other =
    'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: s }\nspec:\n  # mine\n  zones:\n    - name: example.net.\n'

  test('are left alone, and what to add is printed', async () => {
    const { directory } = await imported(head, '--dry-run')
    mkdirSync(join(directory, 'config'))
    writeFileSync(join(directory, 'config/gslb.yaml'), other)
    const { exit, out } = await run(directory)
    expect(exit).toBe(Exit.Ok)
    expect(out).toContain('add to spec of config/gslb.yaml')
    expect(out).toContain('  zones:\n    - name: example.com.\n')
    expect(readFileSync(join(directory, 'config/gslb.yaml'), 'utf8')).toBe(other)
  })

  test('get the zone with --write, and keep their comments', async () => {
    const { directory } = await imported(head, '--dry-run')
    mkdirSync(join(directory, 'config'))
    writeFileSync(join(directory, 'config/gslb.yaml'), other)
    await run(directory, '--write')
    const text = readFileSync(join(directory, 'config/gslb.yaml'), 'utf8')
    expect([text.startsWith(other), text.includes('example.com.')]).toEqual([true, true])
    const again = await run(directory, '--write', '--force')
    expect(again.out).toContain('config/gslb.yaml has the zone example.com. already\n')
    expect(readFileSync(join(directory, 'config/gslb.yaml'), 'utf8')).toBe(text)
  })

  test('with faults stop the import', async () => {
    const { directory } = await imported(head, '--dry-run')
    mkdirSync(join(directory, 'config'))
    writeFileSync(join(directory, 'config/gslb.yaml'), 'spec: [')
    const { exit, err } = await run(directory)
    expect([exit, err]).toEqual([
      Exit.ErrorsFound,
      expect.stringContaining('gslb.yaml has faults; "gslbd check" lists them'),
    ])
  })
})

test('a file that is there is overwritten with --force alone', async () => {
  const { directory, target } = await imported(`${head}a A 192.0.2.1\n`)
  writeFileSync(join(directory, 'zone'), `${head}a A 192.0.2.2\n`)
  const refused = await run(directory)
  expect([refused.exit, refused.err]).toEqual([
    Exit.ErrorsFound,
    'gslbd import: config/tenants/default/records/example.com.yaml is there already\n' +
      'gslbd import: nothing was written; --force overwrites\n',
  ])
  expect(recordsIn(target)).toEqual([{ name: 'a', type: 'A', values: ['192.0.2.1'] }])
  expect((await run(directory, '--force')).exit).toBe(Exit.Ok)
  expect(recordsIn(target)).toEqual([{ name: 'a', type: 'A', values: ['192.0.2.2'] }])
})

test('--dry-run says it all and writes nothing', async () => {
  const { directory, out } = await imported(`${head}a A 192.0.2.1\n`, '--dry-run')
  expect(out).toContain('would write config/gslb.yaml')
  expect(readdirSync(directory)).toEqual(['zone'])
})

describe('a bad file is refused at its place', () => {
  const txt = (octets: number): string =>
    Array(octets / 256)
      .fill(`"${'x'.repeat(255)}"`)
      .join(' ')
  const rows: readonly [
    title: string,
    zone: string | Uint8Array,
    fault: string,
    origin?: string,
  ][] = [
    [
      'a name outside of the zone',
      `${head}www.example.net. A 192.0.2.1`,
      'zone:6:1: www.example.net. is not in the zone example.com.: remove the record',
    ],
    [
      'a name that only ends like the zone',
      `${head}notexample.com. A 192.0.2.1`,
      'zone:6:1: notexample.com. is not in the zone example.com.: remove the record',
    ],
    [
      'a record set of 70,000 octets',
      `${head}a TXT ${txt(35_072)}\na TXT y ${txt(35_072)}`,
      'zone:6:1: the 2 TXT records of a.example.com. take 70170 octets, and an answer has room for 65493: make them fewer',
    ],
    [
      'a TXT of 64 KiB',
      `${head}a TXT ${txt(65_536)}`,
      'zone:6:7: expected at most 65535 octets of rdata',
    ],
    [
      'a TXT that fits in no answer',
      `${head}a TXT ${txt(65_280)} "${'x'.repeat(240)}"`,
      'zone:6:1: the 1 TXT records of a.example.com. take 65533 octets, and an answer has room for 65493: make them fewer',
    ],
    [
      'a $GENERATE of a billion',
      `${head}$GENERATE 1-1000000000 a$ A 192.0.2.1`,
      'zone:6:11: expected at most 65536 records',
    ],
    [
      'Latin-1',
      Buffer.from(`${head}a TXT "caf\u00e9"`, 'latin1'),
      'zone:6:11: octet 233 is not UTF-8, as in a file in Latin-1; save the file as UTF-8, or write \\233 in a text',
    ],
    [
      'a NUL octet',
      `${head}a\0 A 192.0.2.1`,
      'zone:6:2: expected an owner in ASCII (xn--… for other letters), \\DDD for other octets',
    ],
    [
      'only NUL octets',
      '\0'.repeat(1_000),
      'zone:1:1: expected an owner in ASCII (xn--… for other letters), \\DDD for other octets',
      'example.com',
    ],
    [
      'no SOA record',
      '$ORIGIN example.com.\n@ 60 NS a.\n',
      'zone:2:1: expected a SOA record, which says the name of the zone; or give --origin NAME',
    ],
    [
      'two SOA records',
      `${head}@ SOA ns1 hostmaster 8 4 3 2 1`,
      'zone:6:1: a second SOA record; the first one is in line 3',
    ],
    [
      'a SOA record below the apex',
      `${head}a SOA ns1 hostmaster 8 4 3 2 1`,
      'zone:6:1: a SOA record stands at example.com. alone, not at a.example.com.',
    ],
    [
      'the SOA record of another zone',
      '$ORIGIN example.com.\n@ 60 SOA a b 1 2 3 4 5',
      'zone:2:1: example.com. is not in the zone example.net.: remove the record',
      'example.net',
    ],
    [
      'a SOA record that the settings do not take',
      '$ORIGIN example.com.\n$TTL 60\n@ SOA a b 1 2 3 4294967295 5\n@ NS a.',
      'zone:3:1: expire must be 0 to 2147483647, got 4294967295; to do: write a number in the range',
    ],
    ['an empty file', '', 'zone:1:1: there is no record in this file; give the file of a zone'],
    [
      'a file of comments',
      '; nothing\n',
      'zone:1:1: there is no record in this file; give the file of a zone',
    ],
    [
      'a CNAME at the apex',
      `${head}@ CNAME a.`,
      'zone:6:1: example.com. is the zone itself and cannot be a CNAME',
    ],
    [
      'a CNAME beside another record',
      `${head}a CNAME b\na TXT x`,
      'zone:6:1: a.example.com. is a CNAME and has a record of type TXT in line 7, too; keep one of them',
    ],
    [
      'two CNAMEs',
      `${head}a CNAME b\na CNAME c`,
      'zone:6:1: a.example.com. has 2 CNAME records; keep one',
    ],
    [
      'hosts that are missing, and addresses in their place',
      `${head}srv SRV 0 0 1 192.0.2.1.\na MX 10 nowhere`,
      'zone:7:1: nowhere.example.com. has no addresses, and MX records must name a host that has some; to do: add A or AAAA records or a service for it; a name elsewhere needs its final dot; where UPDATE writes its address, give the zone `updates: true` in gslb.yaml\nzone:6:1: 192.0.2.1. is an address, and SRV records name a host; to do: write the name of a host, and its address as A or AAAA records of that name',
    ],
    [
      'a file that includes itself',
      `${head}$INCLUDE zone`,
      'zone:6:10: these files include each other in a circle: zone → zone',
    ],
    [
      'a file from outside of the folder',
      `${head}$INCLUDE ../../../../etc/passwd`,
      'zone:6:10: ../../../../etc/passwd cannot be included: only files in . are read; copy it there',
    ],
    [
      'a file that is not there',
      `${head}$INCLUDE nope`,
      'zone:6:10: nope cannot be included: it does not exist',
    ],
    [
      'a folder as included file',
      `${head}$INCLUDE .`,
      'zone:6:10: . cannot be included: only files in . are read; copy it there',
    ],
  ]
  test.each(rows)('%s', async (_title, zone, fault, origin) => {
    const options = origin === undefined ? [] : ['--origin', origin]
    const { exit, err, out, directory } = await imported(zone, ...options)
    const said = err.replaceAll(directory, '.')
    expect([exit, out, said]).toEqual([
      Exit.ErrorsFound,
      '',
      `${fault}\ngslbd import: nothing was written\n`,
    ])
    expect(readdirSync(directory)).toEqual(['zone'])
  })

  test('a link that leads out of the folder', async () => {
    const { directory } = await imported(head, '--dry-run')
    symlinkSync('/etc/passwd', join(directory, 'inside'))
    writeFileSync(join(directory, 'zone'), `${head}$INCLUDE inside`)
    const { err } = await run(directory)
    expect(err).toContain('inside cannot be included: only files in ')
  })
})

describe('a file is taken', () => {
  const rows: readonly [title: string, zone: string, origin?: string][] = [
    ['with CR LF', `${head}www A 192.0.2.1\n`.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\ufeff${head}www A 192.0.2.1\n`],
    [
      'as dig AXFR prints it, the SOA first and last',
      `${head}www A 192.0.2.1\n@ SOA ns1 hostmaster 7 4 3 2 1\n`,
    ],
    [
      'with the origin of the call',
      head.slice(head.indexOf('$TTL')) + 'www A 192.0.2.1\n',
      'example.com',
    ],
    ['without SOA, where the call names the zone', '$TTL 300\nwww A 192.0.2.1\n', 'Example.com.'],
    ['with files of the folder', `${head}$INCLUDE more/www\n`],
  ]
  test.each(rows)('%s', async (_title, zone, origin) => {
    const directory = tempDir('import')
    mkdirSync(join(directory, 'more'))
    writeFileSync(join(directory, 'more/www'), 'www A 192.0.2.1\n')
    writeFileSync(join(directory, 'zone'), zone)
    const { exit, err, target } = await run(
      directory,
      ...(origin === undefined ? [] : ['--origin', origin]),
    )
    expect([exit, err]).toEqual([Exit.Ok, ''])
    expect(recordsIn(target)).toEqual([{ name: 'www', type: 'A', values: ['192.0.2.1'] }])
  })
})

describe('a wrong call exits 2', () => {
  const rows: readonly [title: string, args: readonly string[], sentence: string][] = [
    ['no source', [], 'say what is imported: zone'],
    ['an unknown source', ['zones', 'x'], 'there is no source "zones"; did you mean "zone"?'],
    ['no file', ['zone'], 'give one file'],
    ['a file that is not there', ['zone', '/nope/zone'], '/nope/zone does not exist'],
    ['a directory', ['zone', '/etc'], '/etc is a directory; give a file'],
    ['an origin that is no name', ['zone', 'x', '--origin', 'a..b'], '--origin is no name: a..b'],
    ['a tenant that is a path', ['zone', 'x', '--tenant', '../x'], 'a tenant is letters, digits'],
  ]
  test.each(rows)('%s', async (_title, args, sentence) => {
    const { exit, err } = await runCli('import', ...args)
    expect([exit, err]).toEqual([Exit.Usage, expect.stringContaining(sentence)])
  })
})

test('addresses of name servers keep a TTL of their own, and compile', async () => {
  const zone = `${head.replace('ns1 A', 'ns1 60 A')}@ NS ns2\nns2 A 192.0.2.54\n`
  const { exit, target } = await imported(zone)
  expect(exit).toBe(Exit.Ok)
  expect(yamlAt(target, 'gslb.yaml')['zones']).toMatchObject([
    {
      nameservers: [
        { name: 'ns1.example.com.' },
        { name: 'ns2.example.com.', addresses: ['192.0.2.54'] },
      ],
    },
  ])
  expect(yamlAt(target, 'tenants/default/records/example.com.yaml')).toMatchObject({
    ttl: 60,
    records: [{ name: 'ns1', type: 'A', values: ['192.0.2.53'] }],
  })
  expect((await runCli('check', target)).exit).toBe(Exit.Ok)
})

test('unknown parts of a file are reported, and the rest is imported', async () => {
  const lines = [
    'a A 192.0.2.1',
    'a NSAP 0x47.0005',
    'b BRANDNEW x',
    'a.*.c TXT "an asterisk is a label there"',
    'key. 0 ANY TSIG hmac-sha256. 1764000000 300 32 AAAA= 1 NOERROR 0',
  ]
  const { exit, out, target } = await imported(`${head}${lines.join('\n')}\n`)
  expect(exit).toBe(Exit.Ok)
  expect(out).toContain(
    'zone:7:1: one NSAP record, whose form is not known here: write it as TYPE22',
  )
  expect(out).toContain('zone:8:1: one BRANDNEW record, whose form is not known here: there is no')
  expect(out).toContain('zone:10:1: one TSIG record: the signature of a transfer')
  expect(recordsIn(target)).toMatchObject([{ name: 'a' }, { name: 'a.*.c' }])
})

test('a record that a check would refuse is refused at its place in the file', async () => {
  const { exit, err } = await imported(`${head}www A 192.0.2.1\n*.sub NS ns1\n`)
  expect(exit).toBe(Exit.ErrorsFound)
  expect(err).toContain('zone:7:1: ')
  expect(err).toContain('*.sub.example.com.')
  expect(err).toContain('nothing was written')
})
