// Ways to choose that lack their geo database, as log and health tell them.
import { expect, test } from 'vitest'
import { adoptBundle } from '#bundle/load/load.ts'
import { missingGeoOn, watchMissingGeo } from '#server/node/missing-geo.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import type { DnsNode } from '#server/node/node.ts'
import { encode, service, smallModel } from '#test/support/bundle-models.ts'

/** Parts of the bundle that the test reads. */
function serving(services: Parameters<typeof service>[2][], geo: Partial<GeoBuffers> = {}) {
  const { bytes, digest } = encode({
    ...smallModel,
    services: services.map((one, i) => service(i + 1, `n${i}.example.org.`, { pool: 0, ...one })),
  })
  const bundle = adoptBundle(bytes, digest)
  return { bundle, tables: { geo: { ...noGeoBuffers, ...geo } } } as ReturnType<DnsNode['live']>
}

const octets = new SharedArrayBuffer(0)
/** Each of the databases. */
const there = {
  ...{ ranges: octets, countryCode: octets, continentCode: octets, subdivisionCode: octets },
  ...{ outerSubdivisionCode: octets, x: octets, y: octets, z: octets, countryRow: octets },
  ...{ asnNumber: octets, organisationOffset: octets, organisationText: octets },
}
const filter = { filterChain: ['geo-ip', 'round-robin'] }
const nearest = { algorithm: 'geo-ip' }
const operator = { algorithm: 'asn' }

test.each([
  ['nothing that looks at the client', [{}, { filterChain: ['sticky'] }], {}, []],
  ['the filter geo-ip', [filter, filter], {}, [/geo-ip, .* with countries .*geoip\.dbPath/]],
  ['the algorithm geo-ip', [nearest], { country: there }, [/geo-ip, .* with places /]],
  ['asn', [operator], { country: there, location: there }, [/asn, .* of operators .*asn\.dbPath/]],
  ['several', [filter, nearest, operator], {}, [/countries/, /places/, /operators/]],
  [
    'all that are there',
    [filter, nearest, operator],
    { country: there, location: there, asn: there },
    [],
  ],
])('%s: what is missing is said', (_what, services, geo, expected) => {
  const said = missingGeoOn({ live: () => serving(services, geo) })
  expect(said).toHaveLength(expected.length)
  for (const [i, words] of expected.entries()) expect(said[i]).toMatch(words)
})

test('the log tells each once, and again when it was there meanwhile', () => {
  let live: ReturnType<DnsNode['live']>
  const told: string[] = []
  const log = { warn: (_: object, message: string) => void told.push(message) }
  const watch = watchMissingGeo({ live: () => live }, log)
  const serve = (next: typeof live) => {
    live = next
    watch()
  }
  serve(undefined)
  expect(told).toEqual([])
  serve(serving([filter]))
  serve(serving([filter, {}]))
  expect(told).toHaveLength(1)
  serve(serving([filter], { country: there }))
  serve(serving([filter]))
  expect(told).toEqual([told[0], told[0]])
})
