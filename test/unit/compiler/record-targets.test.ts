// Where records lead: to hosts and names that exist, and at what cost that is looked up.
import { describe, expect, test } from 'vitest'
import { RrsetsByName } from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { RuleSubject } from '#compiler/rules/tree/tree-rule.ts'
import { zoneCuts } from '#compiler/rules/tree/records.ts'
import type { Entry, PlannedRrset } from '#compiler/tree/tree.ts'
import { sourceFile } from './fixture.ts'
import { compile, messagesOf, records, settings, top, zone, zonesOf } from './record-files.ts'

const pool = (answer: string): SourceFile =>
  sourceFile(
    'tenants/default/pools/web.yaml',
    `${top('Pool', 'web')}spec:\n  answer: ${answer}\n` +
      '  members: [{ name: a, hostname: a.example.net., port: 80 }]\n',
  )
const pooled = (domain: string): SourceFile =>
  sourceFile(
    'tenants/default/services/pooled.yaml',
    `${top('Service', 'pooled')}spec: { domain: "${domain}", pool: web }\n`,
  )

describe('an alias into one of our zones is pointed out when nothing is there', () => {
  const alias = (value: string, name = 'a', type = 'CNAME'): string =>
    `{ name: ${name}, type: ${type}, values: [${value}] }`
  const text = (name: string): string => `{ name: ${name}, type: TXT, values: [text] }`
  const of = (target: string, owner = 'a.example.com.'): string =>
    `${owner} is an alias of ${target}, which does not exist`
  test.each<[string, readonly string[], readonly string[]]>([
    ['a name that is not there', [alias('gone')], [of('gone.example.com.')]],
    ['a DNAME', [alias('gone', 'a', 'DNAME')], [of('gone.example.com.')]],
    ['a forgotten dot', [alias('b.example.net')], [of('b.example.net.example.com.')]],
    ['a wildcard', [alias('gone', '"*.w"')], [of('gone.example.com.', '*.w.example.com.')]],
    ['a name elsewhere', [alias('b.example.net.')], []],
    ['a name with other records', [alias('b'), text('b')], []],
    ['a name above others', [alias('b'), text('x.b')], []],
    ['a name that a wildcard covers', [alias('x.w'), text('"*.w"')], []],
    [
      'a name that a wildcard does not reach',
      [alias('x.y'), text('"*"'), text('y')],
      [of('x.y.example.com.')],
    ],
    [
      'a name below a delegation',
      [alias('x.eu'), '{ name: eu, type: NS, values: [n.example.org.] }'],
      [],
    ],
    ['a name below a DNAME', [alias('x.d'), alias('example.net.', 'd', 'DNAME')], []],
    ['a challenge', [alias('challenges', '_acme-challenge.www')], []],
    ['a name that UPDATE makes', [alias('_www.acme')], []],
    ['the zone', [alias('"@"')], []],
  ])('%s', (_what, sets, expected) => {
    expect(messagesOf(settings, records(sets))).toEqual(expected)
  })

  test('a doubled zone is told with the name that was meant', () => {
    const { diagnostics } = compile(settings, records([alias('b.example.com')]))
    expect(diagnostics).toMatchObject([{ suggestion: 'b.example.com.' }])
    const mail = compile(settings, records(['{ name: "@", type: MX, values: [10 b.example.com] }']))
    expect(mail.diagnostics).toMatchObject([
      { code: 'record-target-missing', suggestion: 'b.example.com.' },
    ])
  })

  test('not while a file is broken that may have it', () => {
    const broken = sourceFile('tenants/default/services/b.yaml', 'kind: [')
    const codes = compile(settings, records([alias('b')]), broken).diagnostics
    expect(codes.map(({ code }) => code)).not.toContain('alias-target-missing')
  })
})

describe('a target of HTTPS or SVCB in one of our zones is pointed out without addresses', () => {
  const binding = (value: string, name = 'www', type = 'HTTPS'): string =>
    `{ name: ${name}, type: ${type}, values: ["${value}"] }`
  const host = (name: string): string => `{ name: ${name}, type: AAAA, values: ["2001:db8::1"] }`
  const text = '{ name: text, type: TXT, values: [text] }'
  const alias = (target: string): string => `{ name: a, type: CNAME, values: [${target}] }`
  const said = (target: string, why: string, type = 'HTTPS'): string =>
    `the ${type} records of www.example.com. lead to ${target}, which ${why}`
  const gone = said('gone.example.com.', 'does not exist')
  test.each<[string, readonly string[], readonly string[]]>([
    ['a name that is not there', [binding('1 gone alpn=h2')], [gone]],
    ['one that others stand for', [binding('0 gone')], [gone]],
    ['SVCB', [binding('1 gone', 'www', 'SVCB')], [gone.replace('HTTPS', 'SVCB')]],
    [
      'a name without addresses',
      [binding('1 text'), text],
      [said('text.example.com.', 'has no addresses')],
    ],
    ['one that others stand for, with other records', [binding('0 text'), text], []],
    ['a host', [binding('1 h'), host('h')], []],
    ['a service', [binding('1 pooled')], []],
    ['an alias of a host', [binding('1 a'), alias('h'), host('h')], []],
    ['a wildcard', [binding('1 x.w'), host('"*.w"')], []],
    ['a name elsewhere', [binding('1 h.example.org.')], []],
    ['the owner', [binding('1 . alpn=h2')], []],
    ['no service', [binding('0 .')], []],
    [
      'a name below a delegation',
      [binding('1 x.eu'), '{ name: eu, type: NS, values: [n.example.org.] }'],
      [],
    ],
  ])('%s', (_what, sets, expected) => {
    const files = [settings, records(sets), pooled('pooled.example.com.'), pool('addresses')]
    expect(messagesOf(...files)).toEqual(expected)
  })

  test('at the line and column of the value, with the name that was meant', () => {
    const { diagnostics } = compile(settings, records([binding('1 h.example.com')]))
    expect(diagnostics).toMatchObject([
      { code: 'binding-target-missing', severity: 'warning', suggestion: 'h.example.com.' },
    ])
  })
})

test.each<[string, string, boolean]>([
  ['the owner', '{ name: www, type: HTTPS, values: ["1 . alpn=h2 ipv4hint=192.0.2.1"] }', true],
  ['a target', '{ name: x, type: SVCB, values: ["2 www ipv6hint=2001:db8::1"] }', true],
  ['the owner without hints', '{ name: www, type: HTTPS, values: ["1 . alpn=h2,h3"] }', false],
  ['a host', '{ name: x, type: HTTPS, values: ["1 . ipv4hint=192.0.2.1"] }', false],
  ['an alias', '{ name: x, type: HTTPS, values: ["0 www"] }', false],
])('hints of addresses lead past a service: %s', (_what, set, isTold) => {
  const files = [settings, records([set]), pooled('www.example.com.'), pool('addresses')]
  const codes = compile(...files).diagnostics.map(({ code }) => code)
  expect(codes).toEqual(isTold ? ['binding-hint-service'] : [])
})

describe('a service that answers with an alias is no host for', () => {
  test.each<[string, string, string]>([
    ['mail', '{ name: "@", type: MX, values: [10 www] }', 'www.example.com.'],
    [
      'SRV, by a wildcard',
      '{ name: _x._tcp, type: SRV, values: [0 0 1 any.w] }',
      '*.w.example.com.',
    ],
  ])('%s', (_what, set, domain) => {
    const files = [settings, records([set]), pooled(domain)]
    expect(messagesOf(...files, pool('addresses'))).toEqual([])
    expect(messagesOf(...files, pool('cname'))).toEqual([
      expect.stringMatching(/^(www|any\.w)\.example\.com\. is an alias, and (MX|SRV) records must/),
    ])
  })
})

describe('a host name of a member that leads back to its pool is told', () => {
  const loop = (name: string): string =>
    `${name} is a name of this configuration that leads back to this pool`
  const member = (hostname: string): SourceFile =>
    sourceFile(
      'tenants/default/pools/web.yaml',
      `${top('Pool', 'web')}spec:\n  answer: addresses\n` +
        `  members: [{ name: a, hostname: ${hostname}, port: 80 }]\n`,
    )
  const alias = (name: string, target: string, type = 'CNAME'): string =>
    `{ name: ${name}, type: ${type}, values: [${target}] }`
  test.each<[string, string, readonly string[], readonly string[]]>([
    ['of the service', 'www.example.com.', [alias('other', 'www')], [loop('www.example.com.')]],
    ['of an alias', 'a.example.com.', [alias('a', 'www')], [loop('a.example.com.')]],
    [
      'of an alias of an alias',
      'a.example.com.',
      [alias('a', 'b'), alias('b', 'www')],
      [loop('a.example.com.')],
    ],
    [
      'below a DNAME',
      'www.old.example.com.',
      [alias('old', 'example.com.', 'DNAME')],
      [loop('www.old.example.com.')],
    ],
    [
      'of a wildcard alias',
      'x.w.example.com.',
      [alias('"*.w"', 'www')],
      [loop('x.w.example.com.')],
    ],
    [
      'not of an alias elsewhere',
      'a.example.com.',
      [alias('a', 'b.example.net.')],
      ['nodes ask a resolver for a.example.com., though they answer for its zone example.com.'],
    ],
  ])('%s', (_what, hostname, sets, expected) => {
    const files = [settings, records(sets), pooled('www.example.com.'), member(hostname)]
    expect(messagesOf(...files)).toEqual(expected)
  })
})

test.each([
  ['MX', '10 192.0.2.1', '192.0.2.1'],
  ['MX', '10 192.0.2.1.', '192.0.2.1.'],
  ['SRV', '0 0 1 2001:db8::1', '2001:db8::1'],
  ['NS', '192.0.2.1', '192.0.2.1'],
])('an address in place of a host is told once: %s %s', (type, value, shown) => {
  const sets = [`{ name: x, type: ${type}, values: ["${value}"] }`]
  expect(messagesOf(settings, records(sets))).toEqual([
    `${shown} is an address, and ${type} records name a host`,
  ])
})

test('names that begin with numbers are names', () => {
  const sets = [
    '{ name: "@", type: MX, values: [10 1.2.0.192.example.net.] }',
    '{ name: 1.2.0.192, type: CNAME, values: [1.0-25.2.0.192.in-addr.arpa.] }',
  ]
  expect(messagesOf(settings, records(sets))).toEqual([])
})

test('an alias in place of the zone is one error, whatever stands beside it', () => {
  const sets = [
    '{ name: "@", type: CNAME, values: [www.example.net.] }',
    '{ name: "@", type: MX, values: [10 mail.example.net.] }',
    '{ name: "@", type: TXT, values: [text] }',
    '{ name: "@", type: A, values: [192.0.2.1] }',
  ]
  expect(messagesOf(settings, records(sets))).toEqual([
    'the zone example.com. itself cannot be an alias (CNAME)',
  ])
})

class CountingMap<V> extends Map<string, V> {
  steps = 0

  override get(key: string): V | undefined {
    this.steps++
    return super.get(key)
  }

  override *keys(): MapIterator<string> {
    for (const key of super.keys()) {
      this.steps++
      yield key
    }
  }
}

test('20,000 zones and as many DNAMEs are not looked at in pairs', () => {
  const count = 20_000
  const set = (name: string): PlannedRrset => ({
    entry: {} as Entry<'Records'>,
    index: 0,
    from: [0],
    typeName: 'DNAME',
    model: { name, zone: 0, type: 39, ttlSeconds: 60, rdata: [] },
  })
  const zoneAt = new CountingMap<number>([['example.com.', 0]])
  const dnames = new CountingMap<PlannedRrset>()
  for (let i = 0; i < count; i++) {
    zoneAt.set(`z${i}.example.com.`, i + 1)
    dnames.set(`d${i}.example.com.`, set(`d${i}.example.com.`))
  }
  zoneAt.set('x.d7.example.com.', count + 1)
  const none = new Map<never, never>()
  const plan: RecordPlan = {
    rrsets: [...dnames.values()],
    at: new RrsetsByName(),
    cuts: none,
    domains: new Map(),
    dnames,
    yielding: [],
    absent: [],
    aliases: [],
    addressAliases: [],
    pointers: [],
    bindings: [],
    zones: [],
    zoneAt,
    hosts: none,
    isWhole: true,
  }
  const found: (readonly string[] | undefined)[] = []
  zoneCuts({ tree: {}, records: plan } as RuleSubject, (_code, _at, detail) => {
    found.push(detail?.args)
  })
  expect(found).toEqual([['x.d7.example.com.', 'd7.example.com.']])
  expect(dnames.steps + zoneAt.steps).toBeLessThan(20 * count)
})

test.each([
  ['', ['alias-target-own', 'hostname-in-own-zone']],
  [', splitHorizon: true', []],
])('names of an own zone%s that resolvers are asked for are told: %j', (more, told) => {
  const members = '[{ hostname: www.example.com., port: 443 }]'
  const pool = `${top('Pool', 'web')}spec: { members: ${members} }\n`
  const alias = '{ name: app, type: ALIAS, values: [www] }'
  const { diagnostics } = compile(
    zonesOf(zone('example.com.', more)),
    records([alias, '{ name: www, type: A, values: [192.0.2.10] }']),
    sourceFile('tenants/default/pools/web.yaml', pool),
  )
  const own = diagnostics.map(({ code }) => code).filter((code) => code.includes('-own'))
  expect(own.toSorted()).toEqual(told)
})
