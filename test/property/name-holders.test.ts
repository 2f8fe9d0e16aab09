// Tests that the compiler accepts the sum of all requests that the API accepted: both use one rule.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configEntry } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { nameRefusal } from '#config/name-holder.ts'
import type { NameSource } from '#config/name-holder.ts'
import { NameIndex, namesOf } from '#config/name-index.ts'
import type { ObjectOf } from '#schemas/kinds.ts'
import { sourceFile } from '../unit/compiler/fixture.ts'
import { compile } from '../unit/compiler/record-files.ts'

const nameservers = '[{ name: ns1.example.net. }]'
const zonesText =
  `[{ name: open.test., nameservers: ${nameservers} }, ` +
  `{ name: own.test., nameservers: ${nameservers}, tenants: [acme] }, ` +
  `{ name: shared.test., nameservers: ${nameservers}, tenants: [acme, zenith], delegated: true }]`
const zones = [
  { name: 'open.test.' },
  { name: 'own.test.', tenants: ['acme'] },
  { name: 'shared.test.', tenants: ['acme', 'zenith'], delegated: true },
]
/** Tenants that may write records there. */
const writers: Readonly<Record<string, readonly string[]>> = {
  'open.test.': ['default'],
  'own.test.': ['acme'],
  'shared.test.': ['acme', 'zenith'],
}

const label = fc.constantFrom('a', 'b', '_x', 'a')
const name = fc
  .tuple(
    fc.constantFrom('', '*.'),
    fc.array(label, { maxLength: 3 }),
    fc.constantFrom('open.test.', 'own.test.', 'shared.test.', 'free.test.', 'test.'),
  )
  .map(([star, labels, end]) => `${star}${[...labels, end].join('.')}`)
const wanted = fc.record({
  tenant: fc.constantFrom('default', 'acme', 'zenith'),
  kind: fc.constantFrom('Service', 'Redirect', 'DelegatedDomain', 'Records'),
  isTransferred: fc.boolean(),
  name,
})
type Wanted = typeof wanted extends fc.Arbitrary<infer T> ? T : never

function specOf({ tenant, kind, name: text, isTransferred }: Wanted): object | undefined {
  if (kind === 'Service') return { domain: text, pool: null }
  if (kind === 'Redirect') return { sourceFqdn: text.slice(0, -1), targetUrl: 'https://a.example/' }
  if (kind === 'DelegatedDomain') return text.startsWith('*') ? undefined : { domain: text }
  const zone = Object.keys(writers).find((one) => text === one || text.endsWith(`.${one}`))
  if (zone === undefined || !writers[zone]!.includes(tenant)) return undefined
  const spec = { zone, ttl: 60, records: [{ name: text, type: 'TXT', values: ['x'] }] }
  return isTransferred ? { ...spec, transfer: { soa } } : spec
}

const soa = { serial: 7, refresh: 3600, retry: 600, expire: 604800 }
const isOfTransfer = ({ kind, isTransferred }: Wanted): boolean =>
  kind === 'Records' && isTransferred

const folders = {
  ...{ Service: 'services', Redirect: 'redirects', DelegatedDomain: 'domains' },
  Records: 'records',
}

test.each(['first-come', 'owned'] as const)('with names: %s', (names) => {
  const settings = { spec: { zones, names } } as unknown as NameSource['settings']
  fc.assert(
    fc.property(fc.array(wanted, { maxLength: 12 }), (all) => {
      let index = NameIndex.empty
      const taken = new Map<string, { entry: ConfigEntry; text: string }>()
      for (const [i, one] of all.entries()) {
        const spec = specOf(one)
        if (spec === undefined) continue
        const { tenant, kind } = one
        const id = `n${i}`
        const path = `tenants/${tenant}/${folders[kind]}/${id}.yaml`
        const object = { apiVersion: 'gslb/v1', kind, metadata: { name: id }, spec }
        const entry = configEntry(path, '', kind, object as ObjectOf[typeof kind])
        const source = { names: index, settings }
        const isRefused = namesOf(entry).some((of) => {
          const claimant = { tenant, isDomain: kind === 'DelegatedDomain', layer: of.layer }
          return nameRefusal(source, claimant, of.name) !== undefined
        })
        if (isRefused && !isOfTransfer(one)) continue
        index = index.with([], [entry])
        taken.set(path, { entry, text: JSON.stringify(object) })
      }
      const files = Array.from(taken, ([path, { text }]) => sourceFile(path, text))
      const gslb = sourceFile(
        'gslb.yaml',
        `apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\n` +
          `spec: { names: ${names}, zones: ${zonesText} }\n`,
      )
      // What a transfer brings to names of others later is a warning.
      const faults = compile(gslb, ...files).diagnostics.filter(
        ({ code }) => code.startsWith('name-') && code !== 'name-of-transfer',
      )
      expect(faults.map(({ code, args }) => `${code} ${args.join(' ')}`)).toEqual([])
      // What comes and goes leaves nothing behind.
      const rest = index.with(
        [...taken.values()].map(({ entry }) => entry),
        [],
      )
      for (const { name: text } of all) {
        expect(rest.claimsAt(text)).toEqual([])
        expect(rest.hasOthersBelow('nobody', text)).toBe(false)
      }
    }),
  )
})
