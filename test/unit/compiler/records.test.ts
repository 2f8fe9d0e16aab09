// Static records: what is right, what is told at which place, and what a change costs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { notesPerCodeMax } from '#diagnostics/diagnostic.ts'
import { printText } from '#diagnostics/print/text.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { cpuMsOf } from '#test/support/cpu-time.ts'
import { placesOf, sourceFile } from './fixture.ts'
import {
  compile,
  messagesOf,
  path,
  records,
  service,
  settings,
  top,
  zone,
  zonesOf,
} from './record-files.ts'

describe('a fault of a value is told where it stands in the file', () => {
  test.each([
    ['plain', 'values: [10 mail..example.net.]', 7, 47],
    ['in double quotes', 'values: ["10 mail..example.net."]', 7, 48],
    ['behind escapes', String.raw`values: ["1\x30 m\u0061il..example.net."]`, 7, 56],
    ['in single quotes', "values: ['10 mail..example.net.']", 7, 48],
    ['on a line of its own', 'values:\n        - 10 mail..example.net.', 10, 19],
    ['in a block', 'values:\n        - |-\n          10 mail..example.net.', 11, 19],
    ['folded', 'values:\n        - >-\n          10\n          mail..example.net.', 12, 16],
    ['missing at the end', 'values: ["10"]', 7, 42],
  ])('%s', (_how, values, line, column) => {
    const isBlock = values.includes('\n')
    const set = isBlock
      ? `name: "@"\n      type: MX\n      ${values}`
      : `{ name: "@", type: MX, ${values} }`
    const found = placesOf(compile(settings, records([set])))
    expect(found).toEqual([`${path}:${line}:${column} record-value-invalid`])
  })
})

describe('no word is said of', () => {
  const address = '{ name: mail, type: A, values: [192.0.2.25] }'
  test.each<[string, readonly SourceFile[]]>([
    ['a target with addresses', [records(['{ name: "@", type: MX, values: [10 mail] }', address])]],
    ['a target elsewhere', [records(['{ name: "@", type: MX, values: [10 mail.example.net.] }'])]],
    [
      'a target that is a service',
      [
        records(['{ name: _sip._tcp, type: SRV, values: [0 0 5060 www] }']),
        service('www', 'www.example.com.'),
      ],
    ],
    [
      'a target that a wildcard service covers',
      [records(['{ name: "@", type: MX, values: [10 mail] }']), service('any', '*.example.com.')],
    ],
    [
      'a target that a wildcard record covers',
      [
        records([
          '{ name: "@", type: MX, values: [10 a.b] }',
          '{ name: "*", type: A, values: [192.0.2.1] }',
        ]),
      ],
    ],
    [
      'no mail and no service at all',
      [
        records([
          '{ name: "@", type: MX, values: ["0 ."] }',
          '{ name: _x._tcp, type: SRV, values: ["0 0 0 ."] }',
        ]),
      ],
    ],
    [
      'texts and mail beside a service',
      [
        records([
          '{ name: www, type: TXT, values: [text] }',
          '{ name: www, type: MX, values: [10 www] }',
        ]),
        service('www', 'www.example.com.'),
      ],
    ],
    [
      'an alias to a service, and a wildcard alias to it',
      [
        records([
          '{ name: shop, type: CNAME, values: [www] }',
          '{ name: "*", type: CNAME, values: [www] }',
        ]),
        service('www', 'www.example.com.'),
      ],
    ],
    [
      'eight aliases in a row',
      [
        records([
          ...Array.from(
            { length: 8 },
            (_, i) => `{ name: c${i}, type: CNAME, values: [c${i + 1}] }`,
          ),
          '{ name: c8, type: A, values: [192.0.2.1] }',
        ]),
      ],
    ],
    [
      'a delegation with glue and DS',
      [
        records([
          '{ name: eu, type: NS, values: [ns1.eu, ns2.example.org.] }',
          '{ name: eu, type: DS, values: [1 13 1 2BB183AF5F22588179A53B0A98631FAD1A292118] }',
          '{ name: ns1.eu, type: AAAA, values: ["2001:db8::1"] }',
        ]),
      ],
    ],
    [
      'two files with other types of one name',
      [
        records(['{ name: a, type: A, values: [192.0.2.1] }'], 'zone'),
        records(['{ name: a, type: TXT, values: [text] }'], 'more'),
      ],
    ],
    [
      'a dot inside a label',
      [
        records([
          String.raw`{ name: 'a\.eu', type: TXT, values: [text] }`,
          '{ name: eu, type: NS, values: [ns.example.org.] }',
        ]),
      ],
    ],
  ])('%s', (_what, files) => {
    expect(messagesOf(settings, ...files)).toEqual([])
  })

  test('DS records of a zone of ours, in the zone above', () => {
    const both = zonesOf(`${zone('example.com.')}, ${zone('eu.example.com.')}`)
    const ds = '{ name: eu, type: DS, values: [1 13 1 2BB183AF5F22588179A53B0A98631FAD1A292118] }'
    const result = compile(both, records([ds]))
    expect(result.diagnostics).toEqual([])
    expect(result.ok && result.model.rrsets).toMatchObject([
      { name: 'eu.example.com.', zone: 0, type: 43 },
    ])
  })
})

describe('the compiler reports', () => {
  const ds = '1 13 1 2BB183AF5F22588179A53B0A98631FAD1A292118'
  test.each<[string, readonly string[], readonly string[]]>([
    [
      'a target that exists and stops the wildcard',
      [
        '{ name: "@", type: MX, values: [10 mail] }',
        '{ name: mail, type: TXT, values: [text] }',
        '{ name: "*", type: A, values: [192.0.2.1] }',
      ],
      ['mail.example.com. has no addresses, and MX records must name a host that has some'],
    ],
    [
      'a target that a name below it makes exist',
      [
        '{ name: "@", type: MX, values: [10 mail] }',
        '{ name: a.mail, type: TXT, values: [text] }',
        '{ name: "*", type: A, values: [192.0.2.1] }',
      ],
      ['mail.example.com. has no addresses, and MX records must name a host that has some'],
    ],
    [
      'a target below a DNAME',
      [
        '{ name: "@", type: MX, values: [10 mail.old] }',
        '{ name: old, type: DNAME, values: [example.net.] }',
      ],
      ['mail.old.example.com. is an alias, and MX records must name a host with addresses'],
    ],
    [
      'DS of the zone itself',
      [`{ name: "@", type: DS, values: [${ds}] }`],
      ['example.com. has DS records and is not delegated here'],
    ],
    [
      'addresses below a cut that are no glue',
      [
        '{ name: eu, type: NS, values: [ns.example.org.] }',
        '{ name: a.eu, type: A, values: [192.0.2.1] }',
      ],
      ['a.eu.example.com. is below eu.example.com., which is delegated to other servers'],
    ],
    [
      'a DNAME into itself',
      ['{ name: a, type: DNAME, values: [b.a] }'],
      [expect.stringContaining('from a.example.com. on, more than 8 aliases')],
    ],
    [
      'two DNAMEs in a circle',
      ['{ name: a, type: DNAME, values: [b] }', '{ name: b, type: DNAME, values: [a] }'],
      ['aliases lead in a circle: a.example.com. → b.example.com. → a.example.com.'],
    ],
    [
      'a wildcard alias to a name that it covers',
      ['{ name: "*", type: CNAME, values: [a] }'],
      ['aliases lead in a circle: *.example.com. → a.example.com. → a.example.com.'],
    ],
    ['a * inside a name, a label', ['{ name: "a.*.b", type: A, values: [192.0.2.1] }'], []],
    [
      '33 name servers',
      [
        `{ name: eu, type: NS, values: [${Array.from({ length: 33 }, (_, i) => `n${i}.example.org.`).join(', ')}] }`,
      ],
      ['there are 33 name servers of one name, the limit is 32'],
    ],
    [
      'two policies for mail',
      [`{ name: "@", type: TXT, values: ['"v=spf1 -all"', '"v=spf1 mx -all"'] }`],
      ['the SPF record of example.com.: 2 of them, and receivers want one'],
    ],
    [
      'SPF that needs too much',
      [`{ name: "@", type: TXT, values: ['"v=spf1 ${'include:a.example. '.repeat(11)}-all"'] }`],
      ['the SPF record of example.com.: it needs 11 look-ups, and the limit is 10'],
    ],
    [
      'SPF with a slip',
      [`{ name: "@", type: TXT, values: ['"v=spf1 ipv4:192.0.2.1 ip4:192.0.2 ~all"'] }`],
      [
        'the SPF record of example.com.: "ip4:192.0.2" has no IPv4 address or network',
        'the SPF record of example.com.: "ipv4:192.0.2.1" is no mechanism of SPF',
      ],
    ],
    [
      'DMARC at the wrong name',
      [`{ name: "@", type: TXT, values: ['"v=DMARC1; p=none"'] }`],
      [
        'the DMARC record of example.com.: it is looked for at _dmarc.example.com. and nowhere else',
      ],
    ],
    // RFC 7489 section 7.1.
    [
      'DMARC that takes the reports of others',
      [
        `{ name: example.org._report._dmarc, type: TXT, values: ['"v=DMARC1"'] }`,
        `{ name: "*._report._dmarc", type: TXT, values: ['"v=DMARC1; rua=mailto:a@example.com"'] }`,
      ],
      [],
    ],
    [
      'DMARC that takes them with a slip',
      [`{ name: a.example._report._dmarc, type: TXT, values: ['"v=DMARC1; ruo=mailto:a@b.c"'] }`],
      ['the DMARC record of a.example._report._dmarc.example.com.: "ruo" is no tag of DMARC'],
    ],
    [
      'CAA with bad parameters',
      [`{ name: "@", type: CAA, values: ['0 issue "ca.example.net; x"'] }`],
      [expect.stringContaining('expected parameters such as')],
    ],
    [
      'CAA with tens of thousands of blanks',
      [`{ name: "@", type: CAA, values: ['0 issue "${' '.repeat(50_000)}a b"'] }`],
      [expect.stringContaining('expected the domain of a certificate authority')],
    ],
    ['CAA with a blank', [`{ name: "@", type: CAA, values: ['0 issue " ca.example.net"'] }`], []],
  ])('%s', (_what, sets, messages) => {
    expect(messagesOf(settings, records(sets))).toEqual(messages)
  })

  test('a long word of SPF takes time that grows with its length, and no faster', async () => {
    const words = `"${'A'.repeat(200)}" `.repeat(280)
    const set = `{ name: "@", type: TXT, values: ['"v=spf1 " ${words}"\\010"'] }`
    // Some milliseconds; with the square of the length it was seconds.
    const told = (): number => messagesOf(settings, records([set])).length
    expect(await cpuMsOf(() => expect(told()).toBe(2))).toBeLessThan(1_000)
  })

  test('a note of each of many records, by the first few and their number', () => {
    const count = notesPerCodeMax + 5
    const spf = (i: number): string => `{ name: h${i}, type: TXT, values: ['"v=spf1 mx"'] }`
    const dmarc = `{ name: "@", type: TXT, values: ['"v=DMARC1; p=none"'] }`
    const result = compile(
      settings,
      records([...Array.from({ length: count }, (_, i) => spf(i)), dmarc]),
    )
    const codes = result.diagnostics.map(({ code }) => code)
    expect(codes.filter((code) => code === 'spf-doubtful')).toHaveLength(notesPerCodeMax)
    expect(codes).toContain('dmarc-doubtful')
    expect(result.counts).toEqual({ error: 0, warning: 0, note: count + 1 })
    expect(printText(result)).toMatch(/^and 5 more that are not shown \(5 notes\)$/m)
  })

  test('one unreadable record, but no record that names it', () => {
    const sets = [
      '{ name: "@", type: MX, values: [10 mail] }',
      '{ name: mail, type: A, values: [192.0.2.256] }',
    ]
    expect(placesOf(compile(settings, records(sets)))).toEqual([
      `${path}:8:39 record-value-invalid`,
    ])
    const odd = [
      '{ name: "@", type: MX, values: [10 mail] }',
      '{ name: mail, type: AX, values: [x] }',
    ]
    expect(placesOf(compile(settings, records(odd)))).toEqual([`${path}:8:27 record-type-unknown`])
  })

  test('a zone that is not of the tenant, once for the file', () => {
    const tenant = sourceFile('tenants/acme/tenant.yaml', `${top('Tenant', 'acme')}spec: {}\n`)
    const own = records([
      '{ name: a, type: A, values: [192.0.2.1] }',
      '{ name: a, type: MX, values: [1 b] }',
    ])
    const theirs = { ...own, path: 'tenants/acme/records/a.yaml' }
    const sentence = 'the zone example.com. is not given to tenant "acme" for records'
    expect(messagesOf(settings, tenant, theirs)).toEqual([sentence])
    const given = zonesOf(zone('example.com.', ', tenants: [acme]'))
    expect(messagesOf(given, tenant, own)).toEqual([sentence.replace('acme', 'default')])
    const right = records(['{ name: a, type: A, values: [192.0.2.1] }'])
    expect(messagesOf(given, tenant, { ...right, path: theirs.path })).toEqual([])
  })
})

test('names with records count as names, once each', () => {
  const files = [
    settings,
    service('www', 'www.example.com.'),
    records([
      '{ name: www, type: TXT, values: [text] }',
      '{ name: a, type: A, values: [192.0.2.1] }',
      '{ name: a, type: TXT, values: [text] }',
    ]),
  ]
  const result = compile(...files)
  const outline = result.ok ? result.outline() : undefined
  const names = Array.from(outline?.names ?? [], ([name]) => name)
  expect(names).toEqual(['www.example.com.', 'a.example.com.'])
  expect(outline?.zones.get('example.com.')?.hasNames).toBe(true)
})

test('name servers have the TTL of the zone, else of the defaults, else of the SOA', () => {
  const ttlsWith = (defaults: string): (readonly [string, number])[] => {
    const text =
      `${top('Settings', 'settings')}spec:\n  defaults: ${defaults}\n` +
      '  zones:\n    - { name: example.com. }\n    - { name: example.net., nsTtl: 7 }\n' +
      '    - { name: example.org., soa: { ttl: 30 } }\n'
    const result = compile(sourceFile('gslb.yaml', text), service('www', 'www.other.example.'))
    if (!result.ok) return expect.unreachable(result.diagnostics.map(({ code }) => code).join())
    return result.model.zones.map(({ name, nsTtlSeconds }) => [name, nsTtlSeconds])
  }
  const servers = 'nameservers: [{ name: ns1.servers.example. }]'
  expect(ttlsWith(`{ ${servers}, nsTtl: 86400, soa: { ttl: 60 } }`)).toEqual([
    ['example.com.', 86_400],
    ['example.net.', 7],
    ['example.org.', 86_400],
    ['www.other.example.', 86_400],
  ])
  expect(ttlsWith(`{ ${servers}, soa: { ttl: 60 } }`)).toEqual([
    ['example.com.', 60],
    ['example.net.', 7],
    ['example.org.', 30],
    ['www.other.example.', 60],
  ])
})

test('a commit that touches no record leaves the models of all records as they are', () => {
  const compiler = createCompiler()
  const files = [
    settings,
    records(['{ name: a, type: A, values: [192.0.2.1] }']),
    records(['{ name: b, type: A, values: [192.0.2.1] }'], 'more'),
  ]
  const models = (...more: SourceFile[]) => {
    const result = compiler.compile([...files, ...more], { commit: '' })
    return result.ok ? result.model.rrsets : []
  }
  const [before, after] = [models(), models(service('www', 'www.example.com.'))]
  expect(after).toHaveLength(2)
  for (const [i, model] of after.entries()) expect(model).toBe(before[i])
})

test('any text in a record is read, or reported at a place inside its file', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.stringMatching(/^[0-9a-z."\\ ();@*-]{1,30}$/),
  )
  const type = fc.oneof(text, fc.constantFrom('A', 'mx', 'TXT', 'SVCB', 'LOC', 'NAPTR', 'TYPE1'))
  fc.assert(
    fc.property(
      text,
      type,
      fc.array(text, { minLength: 1, maxLength: 3 }),
      (name, kind, values) => {
        const set = JSON.stringify({ name: name || 'x', type: kind, values })
        const file = records([set])
        const result = compile(settings, file)
        for (const { spans } of result.diagnostics) {
          expect(spans[0].end).toBeLessThanOrEqual(file.sizeBytes)
        }
      },
    ),
    { numRuns: 150 },
  )
})

test('the files of docs/records.md are right as they stand', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/records.md'), 'utf8')
  const blocks = [...page.matchAll(/^```yaml\n# (\S+)\n(apiVersion[^]*?)^```$/gm)]
  const files = blocks.map(([, at = '', text = '']) => sourceFile(at, text))
  expect(files.map((file) => file.path)).toHaveLength(3)
  expect(messagesOf(...files)).toEqual([])
})

describe('rights by delegated domains', () => {
  const open = zonesOf(zone('example.com.', ', tenants: [], delegated: true'))
  const closed = zonesOf(zone('example.com.', ', tenants: []'))
  const own = records(['{ name: www.shop, type: A, values: [192.0.2.1] }'])
  const domain = (tenant: string, name: string): SourceFile =>
    sourceFile(
      `tenants/${tenant}/domains/${name}.yaml`,
      `${top('DelegatedDomain', name)}spec: { domain: ${name} }\n`,
    )
  const tenant = sourceFile('tenants/acme/tenant.yaml', `${top('Tenant', 'acme')}spec: {}\n`)
  const errorsOf = (list: readonly { code: string; severity: string }[]): string[] =>
    list.flatMap(({ code, severity }) => (severity === 'error' ? [code] : []))

  test.each<[string, readonly SourceFile[], readonly string[]]>([
    ['the zone', [open, domain('default', 'example.com')], []],
    ['the name above', [open, domain('default', 'shop.example.com')], []],
    ['the name itself', [open, domain('default', 'www.shop.example.com')], []],
    ['a name above the zone', [open, domain('default', 'com')], ['record-domain-not-own']],
    ['a name beside it', [open, domain('default', 'op.example.com')], ['record-domain-not-own']],
    [
      'a name above another domain of the tenant and one of somebody else',
      [
        open,
        domain('default', 'example.com'),
        domain('acme', 'shop.example.com'),
        domain('default', 'www.shop.example.com'),
      ],
      [],
    ],
    [
      'a name above that of somebody else',
      [open, domain('default', 'example.com'), domain('acme', 'shop.example.com')],
      ['record-domain-not-own'],
    ],
    [
      'the zone, which does not say that domains count',
      [closed, domain('default', 'example.com')],
      ['record-zone-not-given'],
    ],
  ])('hold for %s', (_of, files, codes) => {
    expect(errorsOf(compile(tenant, own, ...files).diagnostics)).toEqual(codes)
  })

  test('go with the domain, also for a compiler that has seen the records before', () => {
    const compiler = createCompiler()
    const codes = (...files: SourceFile[]): string[] =>
      errorsOf(compiler.compile([open, own, ...files], { commit: '' }).diagnostics)
    const given = domain('default', 'shop.example.com')
    expect(codes(given)).toEqual([])
    expect(codes()).toEqual(['record-domain-not-own'])
    expect(codes(given)).toEqual([])
  })
})
