import { describe, expect, test } from 'vitest'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { holdingOf, heldName } from '#compiler/holders/name-holder.ts'
import { sourceFile } from './fixture.ts'
import { compile, top, zone, zonesOf } from './record-files.ts'

type Row = readonly [tenant: string, kind: 'Service' | 'Redirect' | 'DelegatedDomain', name: string]

const folders = { Service: 'services', Redirect: 'redirects', DelegatedDomain: 'domains' }
let count = 0
const file = ([tenant, kind, name]: Row, metadata = '') => {
  const id = `n${count++}`
  const spec = {
    Service: `{ domain: "${name}", pool: null }`,
    Redirect: `{ sourceFqdn: "${name.replace(/\.$/, '')}", targetUrl: "https://example.net/" }`,
    DelegatedDomain: `{ domain: "${name}" }`,
  }[kind]
  return sourceFile(
    `tenants/${tenant}/${folders[kind]}/${id}.yaml`,
    `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${id}${metadata} }\nspec: ${spec}\n`,
  )
}
const record = (tenant: string, zoneName: string, name: string, type = 'TXT', value = 'x') =>
  sourceFile(
    `tenants/${tenant}/records/r${count++}.yaml`,
    `${top('Records', `r${count}`)}spec:\n  zone: ${zoneName}\n` +
      `  records: [{ name: "${name}", type: ${type}, values: ["${value}"] }]\n`,
  )
const faultsOf = (...files: Parameters<typeof compile>) =>
  compile(...files)
    .diagnostics.filter(({ code }) => code === 'name-of-other' || code === 'name-not-owned')
    .map(messageOf)

const www: Row = ['acme', 'Service', 'www.victim.example.']
const apps: Row = ['acme', 'Service', '*.apps.victim.example.']

describe('in Git, too, a name belongs to one tenant', () => {
  test.each<readonly [Row, string]>([
    [['zenith', 'Service', '_acme-challenge.www.victim.example.'], 'www.victim.example.'],
    [['zenith', 'Service', 'victim.example.'], 'victim.example.'],
    [['zenith', 'Service', 'example.'], 'example.'],
    [['zenith', 'Service', '_acme-challenge.victim.example.'], '_acme-challenge.victim.example.'],
    [['zenith', 'Service', 'x.apps.victim.example.'], '*.apps.victim.example.'],
    [['zenith', 'Redirect', 'www.victim.example.'], 'www.victim.example.'],
    [['zenith', 'Redirect', '*.example.'], '*.example.'],
    [['default', 'Redirect', '*.example.'], '*.example.'],
    [['zenith', 'DelegatedDomain', 'www.victim.example'], 'delegated domain www.victim.example.'],
    [['zenith', 'DelegatedDomain', '_x.www.victim.example'], 'www.victim.example.'],
  ])('%j', (row, says) => {
    const faults = faultsOf(file(www), file(apps), file(row))
    expect(faults.length).toBeGreaterThan(0)
    expect(faults.join('\n')).toContain(says)
  })

  test('names beside it are free', () => {
    const rows: Row[] = [www, apps, ['zenith', 'Service', 'www2.victim.example.']]
    expect(faultsOf(...rows.map((row) => file(row)))).toEqual([])
  })

  test('an object of a system administrator may be among names of others', () => {
    const inner: Row = ['default', 'Service', 'a.www.victim.example.']
    const outer: Row = ['default', 'Service', 'victim.example.']
    expect(faultsOf(file(www), file(inner, ', overlap: true'))).toEqual([])
    expect(faultsOf(file(www), file(outer, ', overlap: true'))).toEqual([])
    // The mark of any other tenant says nothing.
    const other: Row = ['zenith', 'Service', 'a.www.victim.example.']
    expect(faultsOf(file(www), file(other, ', overlap: true'))).toHaveLength(1)
  })

  test('a delegated domain and tenants of a zone give it, the nearest of them', () => {
    const inner: Row = ['zenith', 'Service', 'a.shop.example.com.']
    const given = zonesOf(zone('example.com.', ', tenants: [acme]'))
    expect(faultsOf(given, file(inner))).toEqual([
      'a.shop.example.com. belongs to another tenant, by the zone example.com.',
    ])
    const shop: Row = ['zenith', 'DelegatedDomain', 'shop.example.com']
    const own: Row = ['acme', 'Service', 'www.example.com.']
    const open = zonesOf(zone('example.com.', ', tenants: [acme], delegated: true'))
    expect(faultsOf(open, file(own), file(shop), file(inner))).toEqual([])
    expect(faultsOf(open, file(['acme', 'Service', 'b.shop.example.com.']), file(shop))).toEqual([
      'b.shop.example.com. belongs to another tenant, by the delegated domain shop.example.com.',
    ])
  })

  test('records hold their names, but for those of the operator at an apex that is open', () => {
    const open = zonesOf(zone('example.com.'))
    const apex = record('default', 'example.com.', '@')
    const service = file(['acme', 'Service', 'www.example.com.'])
    expect(faultsOf(open, apex, service)).toEqual([])
    const challenge = file(['acme', 'Service', '_acme-challenge.example.com.'])
    expect(faultsOf(open, apex, challenge).length).toBeGreaterThan(0)
    const below = file(['acme', 'Service', 'a.mail.example.com.'])
    const mail = record('default', 'example.com.', 'mail', 'A', '192.0.2.1')
    expect(faultsOf(open, mail, below)).toEqual([
      'a.mail.example.com. belongs to another tenant, by what is at mail.example.com.',
    ])
    const shared = zonesOf(zone('example.com.', ', tenants: [acme, zenith]'))
    const text = record('zenith', 'example.com.', 'www')
    expect(faultsOf(shared, service, text).length).toBeGreaterThan(0)
  })

  test('names: owned wants each to be given', () => {
    const settings = sourceFile(
      'gslb.yaml',
      `${top('Settings', 'settings')}spec:\n  names: owned\n  zones: [${zone('a.example.')}, ` +
        `${zone('b.example.', ', tenants: [acme]')}]\n`,
    )
    const rows: Row[] = [
      ['acme', 'Service', 'www.b.example.'],
      ['acme', 'Service', 'www.a.example.'],
      ['acme', 'Service', 'www.c.example.'],
      ['default', 'Service', 'own.a.example.'],
    ]
    expect(faultsOf(settings, ...rows.map((row) => file(row)))).toEqual([
      'www.a.example. is in no delegated domain and no zone of tenant "acme"',
      'www.c.example. is in no delegated domain and no zone of tenant "acme"',
    ])
    const domain: Row = ['acme', 'DelegatedDomain', 'c.example']
    expect(faultsOf(settings, file(rows[2]!), file(domain))).toEqual([])
  })
})

test.each([
  ['www.example.com.', 'www.example.com.'],
  ['*.example.com.', 'example.com.'],
  ['_acme-challenge.www.example.com.', 'www.example.com.'],
  ['selector._domainkey.example.com.', 'example.com.'],
  ['*._tcp.example.com.', 'example.com.'],
  ['a\\._b.example.com.', 'a\\._b.example.com.'],
  ['_dmarc.', '_dmarc.'],
  ['my_host.example.com.', 'my_host.example.com.'],
])('%s is judged as %s', (name, held) => {
  expect(heldName(name)).toBe(held)
})

test('a look-up asks as often as a name has labels, however many there are', () => {
  let asked = 0
  const names = {
    isOwned: false,
    domainAt: () => (void asked++, undefined),
    zoneAt: () => undefined,
    claimsAt: () => [],
  }
  expect(holdingOf(names, { tenant: 'acme' }, 'a.b.c.example.')).toEqual({ is: 'free' })
  expect(asked).toBe(4)
})
