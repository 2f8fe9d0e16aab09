// Zones that come by transfer: what is laid over them, and what is answered while they are not
// here.
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { Transfers } from '#zones/transfer/transfers.ts'
import { ZoneSource } from '#zones/transfer/zone-source.ts'
import { Rcode } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { answers, asking } from '#test/support/answer-bundle.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { sourceFile } from './fixture.ts'
import { compile, records, service, top, zone, zonesOf } from './record-files.ts'

const from = ', from: { primaries: [192.0.2.53] }'
const settings = zonesOf(`${zone('example.com.', from)}, ${zone('example.org.')}`)
const soa = 'soa: { serial: 7, refresh: 3600, retry: 600, expire: 604800 }'
const sets = [
  '{ name: www, type: A, values: [192.0.2.80] }',
  '{ name: www, type: TXT, values: [\'"some text"\'] }',
  '{ name: mail, type: A, values: [192.0.2.25] }',
  '{ name: "@", type: MX, values: [10 gone.example.com.] }',
]
const transferred = (mark: string, came: readonly string[] = sets): SourceFile =>
  sourceFile(
    'tenants/default/records/transferred.yaml',
    `${top('Records', 'transferred')}spec:\n  zone: example.com.\n  transfer: { ${mark} }\n` +
      `  records:\n${came.map((set) => `    - ${set}\n`).join('')}`,
  )

function modelOf(...files: readonly SourceFile[]) {
  const result = compile(settings, ...files)
  if (!result.ok) throw new Error(result.diagnostics.map(messageOf).join('\n'))
  return result.model
}
function asked(...files: readonly SourceFile[]) {
  const bundle = bundleOf(modelOf(...files))
  return asking(bundle, createRoutingState(bundle, 1))
}

test('a service and records of people go before what comes in; the rest is answered', () => {
  const own = records(['{ name: mail, type: A, values: [198.51.100.25] }'])
  const model = modelOf(transferred(soa), own, service('www', 'www.example.com.'))
  expect(model.rrsets.map(({ name, type }) => `${name} ${type}`).sort()).toEqual([
    'example.com. 15',
    'mail.example.com. 1',
    'www.example.com. 16',
  ])
  expect(model.routing.absentZones).toBeUndefined()
  const ask = asked(transferred(soa), own)
  expect(answers(ask('mail.example.com. A'))).toEqual(['1 198.51.100.25'])
  expect(answers(ask('www.example.com. A'))).toEqual(['1 192.0.2.80'])
})

test('a service that comes and goes is laid over what came in, with the same compiler', () => {
  const compiler = createCompiler()
  const www = service('www', 'www.example.com.')
  const hasWww = (...files: readonly SourceFile[]): boolean => {
    const result = compiler.compile([settings, transferred(soa), ...files], { commit: '' })
    if (!result.ok) throw new Error(result.diagnostics.map(messageOf).join('\n'))
    return result.model.rrsets.some(({ name, type }) => name.startsWith('www') && type === 1)
  }
  expect([hasWww(), hasWww(www), hasWww()]).toEqual([true, false, true])
})

const ds = '"1 13 2 0000000000000000000000000000000000000000000000000000000000000000"'

describe('what comes in gives way to what ends its zone here, and to nothing else', () => {
  const way = 'record-gives-way'
  const inner = zonesOf(`${zone('example.com.', from)}, ${zone('eu.example.com.')}`)
  const eu = '{ name: eu, type: NS, values: [ns.eu, ns1.example.net.] }'
  const glue = '{ name: ns.eu, type: A, values: [192.0.2.53] }'
  const below = '{ name: x.eu, type: A, values: [192.0.2.7] }'
  const dname = '{ name: eu, type: DNAME, values: [x.example.net.] }'
  const signer = `{ name: eu, type: DS, values: [${ds}] }`
  const tenant = sourceFile('tenants/acme/tenant.yaml', `${top('Tenant', 'acme')}spec: {}\n`)
  const acme = sourceFile(
    'tenants/acme/services/eu.yaml',
    `${top('Service', 'eu')}spec: { domain: eu.example.com., pool: null }\n`,
  )
  const rows: readonly [string, readonly string[], readonly SourceFile[], readonly string[]][] = [
    ['a delegation, to a zone declared here', [eu, glue, below], [inner], [way, way, way]],
    ['DS of a zone declared here stays', [signer], [inner], []],
    ['what is below an own delegation', [below], [settings, records([eu, glue])], [way]],
    ['glue of an own delegation stays', [glue], [settings, records([eu])], []],
    ['what is below an own DNAME', [below], [settings, records([dname])], [way]],
    ['names below a service of another tenant stay', [below], [settings, tenant, acme], []],
  ]
  test.each(rows)('%s', (_, came, declared, expected) => {
    const result = compile(transferred(soa, came), ...declared)
    expect(result.diagnostics.map(({ code }) => code)).toEqual(expected)
    expect(result.ok).toBe(true)
  })
})

test.each([
  ['of the primary server', ['{ name: b, type: CNAME, values: [a] }'], []],
  ['with an own alias', [], ['{ name: b, type: CNAME, values: [a] }']],
])('aliases in a circle %s are a warning', (_, more, own) => {
  const came = transferred(soa, ['{ name: a, type: CNAME, values: [b] }', ...more])
  const result = compile(settings, came, ...(own.length > 0 ? [records(own)] : []))
  expect(new Set(result.diagnostics.map(({ code }) => code))).toEqual(
    new Set(['inbound-need-missing']),
  )
  expect(result.ok).toBe(true)
})

test('a service below a delegation of the primary server is refused, as the page says', () => {
  const came = transferred(soa, ['{ name: eu, type: NS, values: [ns1.example.net.] }'])
  const result = compile(settings, came, service('www', 'www.eu.example.com.'))
  expect(result.diagnostics.map(({ code }) => code)).toEqual(['record-below-cut'])
})

describe('an own record that needs what comes in is a warning at most, whatever has come', () => {
  const other = 'inbound-need-missing'
  const rows: readonly [string, string, readonly string[]][] = [
    ['MX', '{ name: "@", type: MX, values: [10 mail] }', [other]],
    ['SRV', '{ name: _s._tcp, type: SRV, values: [1 1 1 mail] }', [other]],
    ['NS with a server above it', '{ name: us, type: NS, values: [mail] }', [other]],
    ['NS with a server below it', '{ name: eu, type: NS, values: [ns.eu] }', [other]],
    ['DS at a delegation that comes in', `{ name: sub, type: DS, values: [${ds}] }`, [other]],
    ['MX to an alias that comes in', '{ name: "@", type: MX, values: [10 alias] }', [other]],
    ['CNAME', '{ name: a, type: CNAME, values: [mail] }', ['alias-target-missing']],
    ['DNAME', '{ name: a, type: DNAME, values: [mail] }', ['alias-target-missing']],
    ['ALIAS', '{ name: a, type: ALIAS, values: [mail] }', ['alias-target-missing']],
    ['HTTPS', '{ name: a, type: HTTPS, values: [0 mail] }', ['binding-target-missing']],
  ]
  const came = [
    '{ name: mail, type: A, values: [192.0.2.25] }',
    '{ name: sub, type: NS, values: [ns1.example.net.] }',
    '{ name: ns.eu, type: A, values: [192.0.2.26] }',
    '{ name: alias, type: CNAME, values: [mail] }',
  ]
  test.each(rows)('%s', (_, set, expected) => {
    const own = records([set])
    const told = (...files: readonly SourceFile[]) => {
      const result = compile(settings, own, ...files)
      expect(result.ok).toBe(true)
      return result.diagnostics.map(({ code }) => code)
    }
    expect(told(transferred(`${soa}, expired: true`, came))).toEqual(expected)
    expect(told()).toEqual(expected)
    const left = set.includes('alias]') ? expected : []
    // An address that is here is still looked up elsewhere.
    const there = set.includes('type: ALIAS') ? ['alias-target-own'] : left
    expect(told(transferred(soa, came))).toEqual(there)
  })
})

describe.each([
  ['has expired', [transferred(`${soa}, expired: true`)]],
  ['never came', []],
])('a zone that %s', (_, files) => {
  const own = records(['{ name: own, type: A, values: [198.51.100.1] }'])
  const all = [...files, own, service('app', 'app.example.com.')]
  const ask = asked(...all)

  test.each([
    'www.example.com. A',
    'nothing.example.com. A',
    'example.com. MX',
    'own.example.com. TXT',
  ])('%s is SERVFAIL, and says why', (question) => {
    const answer = ask(question, { opt: {} })
    expect([answer.rcode, answer.answer, answer.authority]).toEqual([Rcode.ServFail, [], []])
    const [option] = answer.opt?.options.filter(({ code }) => code === 15) ?? []
    expect(Buffer.from(option!.data).readUInt16BE()).toBe(24)
  })

  test('what is declared here goes on, and so do other zones', () => {
    expect(answers(ask('own.example.com. A'))).toEqual(['1 198.51.100.1'])
    expect(ask('example.com. SOA').answer).toHaveLength(1)
    // Its service is known to have no members.
    expect(ask('app.example.com. A').rcode).toBe(Rcode.NoError)
    expect(ask('nothing.example.org. A').rcode).toBe(Rcode.NXDomain)
  })

  test('no secondary server gets it', () => {
    const bundle = bundleOf(modelOf(...all))
    const transfers = new Transfers({ enabled: true, requireTsig: false, allow: [] }, () => 0)
    const start = (name: string, row: number) =>
      transfers.start(new ZoneSource(bundle, undefined, 1), {
        ...{ message: query(`${name} AXFR`), qtype: RrType.AXFR, qclass: 1, zone: row, key: null },
        ...{ questionEnd: 12 + name.length + 5, opt: new Uint8Array(0), isTcp: true },
        client: Uint8Array.of(127, 0, 0, 1),
      })
    const started = ['example.com.', 'example.org.'].map((name, row) => start(name, row))
    expect(started[0]).toBe(Rcode.ServFail)
    expect(typeof started[1]).toBe('object')
  })
})

test('a zone without `from` keeps what came in, also once expired, and it gives way', () => {
  const own = records(['{ name: mail, type: A, values: [198.51.100.25] }'])
  const files = [transferred(`${soa}, expired: true`), own, service('www', 'www.example.com.')]
  const result = compile(zonesOf(zone('example.com.')), ...files)
  if (!result.ok) throw new Error(result.diagnostics.map(messageOf).join('\n'))
  expect(result.diagnostics.map(({ code }) => code).sort()).toEqual([
    ...['record-gives-way', 'record-gives-way', 'transfer-left'],
  ])
  const bundle = bundleOf(result.model)
  const ask = asking(bundle, createRoutingState(bundle, 1))
  expect(answers(ask('www.example.com. TXT'))).toEqual(['16 "some text"'])
  expect(answers(ask('mail.example.com. A'))).toEqual(['1 198.51.100.25'])
  expect(ask('none.example.com. A').rcode).toBe(Rcode.NXDomain)
})
