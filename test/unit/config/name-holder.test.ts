// Names that came by zone transfer: what the API takes of other tenants at them, above them and
// below them. The compiler warns of what was there before.
import { expect, test } from 'vitest'
import { configEntry } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { hasZoneAlone, nameRefusal } from '#config/name-holder.ts'
import type { NameSource } from '#config/name-holder.ts'
import { NameIndex, namesOf } from '#config/name-index.ts'
import type { ObjectOf } from '#schemas/kinds.ts'
import { sourceFile } from '../compiler/fixture.ts'
import { compile, zone, zonesOf } from '../compiler/record-files.ts'

type NamingKind = 'Service' | 'Redirect' | 'DelegatedDomain' | 'Records'
const folders = {
  ...{ Service: 'services', Redirect: 'redirects', DelegatedDomain: 'domains' },
  Records: 'records',
}

function declared(kind: NamingKind, tenant: string, name: string, spec: object) {
  const path = `tenants/${tenant}/${folders[kind]}/${name}.yaml`
  const object = { apiVersion: 'gslb/v1', kind, metadata: { name }, spec }
  const entry: ConfigEntry = configEntry(path, '', kind, object as ObjectOf[typeof kind])
  return { entry, file: sourceFile(path, JSON.stringify(object)) }
}

const soa = { serial: 7, refresh: 3600, retry: 600, expire: 604800 }
const records = [
  { name: 'www', type: 'A', values: ['192.0.2.80'] },
  { name: 'mail', type: 'TXT', values: ['"some text"'] },
  { name: 'x.eu', type: 'A', values: ['192.0.2.7'] },
]
const came = (expired: object) =>
  declared('Records', 'default', 'came', {
    ...{ zone: 'example.com.', transfer: { soa, ...expired }, records },
  })
const specOf = {
  Service: (name: string) => ({ domain: name, pool: null }),
  Redirect: (name: string) => ({ sourceFqdn: name.slice(0, -1), targetUrl: 'https://a.example/' }),
  DelegatedDomain: (name: string) => ({ domain: name }),
  Records: (name: string) => ({
    ...{ zone: 'example.com.', records: [{ name, type: 'TXT', values: ['x'] }] },
  }),
}
const from = ', from: { primaries: [192.0.2.53] }'
const open = { text: from, tenants: undefined }
const shared = { text: `${from}, tenants: [default, acme]`, tenants: ['default', 'acme'] }

const rows: readonly [NamingKind, string, typeof open | typeof shared, boolean][] = [
  // It goes before what comes in, whatever type that has.
  ['Service', 'www', open, false],
  ['Service', 'mail', open, false],
  ['Records', 'www', shared, false],
  // What is below counts for nothing: it stays there.
  ['Service', 'eu', open, false],
  ['DelegatedDomain', 'eu', open, false],
  ['Service', '*.www', open, true],
  ['Service', 'a.www', open, true],
  ['Redirect', 'www', open, true],
  ['DelegatedDomain', 'www', open, true],
  // It would get certificates of the name behind it.
  ['Records', '_acme-challenge.www', shared, true],
]

const warning = 'name-of-transfer'

test.each(rows)('%s of another tenant at %s', (kind, label, { text, tenants }, isRefused) => {
  const name = `${label}.example.com.`
  const object = declared(kind, 'acme', 'own', specOf[kind](name))
  const zones = [{ name: 'example.com.', tenants }]
  const settings = { spec: { zones } } as unknown as NameSource['settings']
  for (const expired of [{}, { expired: true }]) {
    const transfer = came(expired)
    const source = { names: NameIndex.empty.with([], [transfer.entry]), settings }
    const refusals = namesOf(object.entry).map(({ name: one, layer }) =>
      nameRefusal(source, { tenant: 'acme', isDomain: kind === 'DelegatedDomain', layer }, one),
    )
    expect(refusals).toEqual([isRefused ? 'others' : undefined])
    const files = [zonesOf(zone('example.com.', text)), transfer.file, object.file]
    const { diagnostics, ok } = compile(...files)
    const told = diagnostics.filter(({ code }) => code.startsWith('name-of-'))
    expect([ok, told.map(({ code }) => code)]).toEqual([true, isRefused ? [warning] : []])
  }
})

test('a name that another tenant holds as well is refused, whatever came in above it', () => {
  const of = (tenant: string, label: string) =>
    declared('Service', tenant, label, specOf.Service(`${label}.example.com.`)).file
  const tenants = ['acme', 'zenith'].map((name) =>
    sourceFile(
      `tenants/${name}/tenant.yaml`,
      JSON.stringify({ apiVersion: 'gslb/v1', kind: 'Tenant', metadata: { name }, spec: {} }),
    ),
  )
  const files = [of('acme', 'a.www'), of('zenith', 'b.a.www'), ...tenants]
  const { diagnostics } = compile(zonesOf(zone('example.com.', from)), came({}).file, ...files)
  const told = diagnostics.filter(({ code }) => code.startsWith('name-of-'))
  expect(told.map(({ code }) => code).sort()).toEqual(['name-of-other', warning])
})

// The first name is a zone with those tenants; acme has the domain.
test.each([
  ['of no tenant', undefined, false, true],
  ['of acme alone', ['acme'], false, true],
  ['of several', ['acme', 'zenith'], false, false],
  ['of another', ['zenith'], false, false],
  ['of another, by domains', ['zenith'], true, true],
  ['of several, by domains', ['acme', 'zenith'], true, true],
])('a domain has a zone %s alone: by what gives it names', (_of, tenants, delegated, isAlone) => {
  const domain = declared('DelegatedDomain', 'acme', 'own', specOf.DelegatedDomain('a.example.'))
  const settings = { object: { spec: { zones: [{ name: 'a.example.', tenants, delegated }] } } }
  const entries = { Settings: [settings], DelegatedDomain: [domain.entry] }
  const list = (kind: string) => entries[kind as keyof typeof entries] ?? []
  const snapshot = { list } as unknown as Parameters<typeof hasZoneAlone>[0]
  expect(hasZoneAlone(snapshot, 'acme', 'a.example.')).toBe(isAlone)
  expect(hasZoneAlone(snapshot, 'other', 'a.example.')).toBe(false)
})
