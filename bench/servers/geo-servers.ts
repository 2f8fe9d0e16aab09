// Servers that choose by the client's network, each with the same map of half a million networks
// and the same addresses.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBundle } from '#bundle/encode/encode.ts'
import { plainRouting } from '#bundle/format/model.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { formatAddress } from '#dns/address.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { countryRow, packCode } from '#routing/geo/countries.ts'
import { CountryTable } from '#routing/geo/geo-tables.ts'
import { worldCountries } from '../data/geo-tables.ts'
import { benchUid, manyServices } from '../data/many-services.ts'
import { isServerInstalled, peers, soaAndNs, startGslbd, startPeer } from './servers.ts'
import type { RunningServer } from './servers.ts'

/** The IPv4 networks of the world by country, each in one of the data centres. */
export interface GeoMap {
  readonly kind: GeoKind
  /** `svc0` to `svc<services - 1>`, each with its own members in `chain`. */
  readonly services: number
  /** Countries with a data centre of their own; in `map-file` all countries share four in turn. */
  readonly countries: readonly string[]
  /** Addresses of the members of `svc0`, by data centre; see `addressOf` for the others. */
  readonly addresses: readonly string[]
  readonly ranges: readonly { readonly start: number; readonly end: number; readonly dc: number }[]
  readonly networks: readonly { readonly cidr: string; readonly dc: number }[]
}

/**
 * How gslbd chooses: `map-file` by rules of networks, four members; `chain` by the steps `geo-ip`
 * and `failover` among members in 31 countries.
 */
export type GeoKind = 'map-file' | 'chain'

const chainCodes =
  'US CN JP DE GB BR KR FR IN AU NL CA IT RU ES MX SE CH PL ZA TR ID AR NO BE DK FI AT SG IE NZ'

/** Countries take turns, so that neighbours rarely get equal values. */
export function worldMap(kind: GeoKind, services = 1): GeoMap {
  const { ranges: table } = new CountryTable(worldCountries())
  const countries = kind === 'chain' ? chainCodes.split(' ') : []
  const dcOf = new Map(countries.map((code, dc) => [countryRow(packCode(code)), dc]))
  const ranges: { start: number; end: number; dc: number }[] = []
  const networks: { cidr: string; dc: number }[] = []
  for (let row = 0; row < table.count4; row++) {
    const country = table.value4(row)
    if (country === 0) continue
    // Failover sends other clients to the first one.
    const dc = kind === 'chain' ? (dcOf.get(country) ?? 0) : country % 4
    const start = table.start4(row)
    const end = row + 1 < table.count4 ? table.start4(row + 1) - 1 : 0xffff_ffff
    ranges.push({ start, end, dc })
    for (const cidr of cidrsOf(start, end)) networks.push({ cidr, dc })
  }
  const members = kind === 'chain' ? countries.length : 4
  const addresses = Array.from({ length: members }, (_, k) => addressOf(0, k))
  return { kind, services, countries, addresses, ranges, networks }
}

const addressOf = (service: number, dc: number): string =>
  `10.${service >> 8}.${service & 255}.${dc + 1}`

/** The smallest set of networks that covers a range. */
export function* cidrsOf(first: number, last: number): Generator<string> {
  const octets = Buffer.alloc(4)
  let start = first
  while (start <= last) {
    let size = start === 0 ? 2 ** 32 : (start & -start) >>> 0
    while (start + size - 1 > last) size /= 2
    octets.writeUInt32BE(start)
    yield `${formatAddress(octets)}/${32 - Math.log2(size)}`
    start += size
  }
}

const geoName = 'svc0.gslb.example.com'

export const geoNames = ({ services }: GeoMap): readonly string[] =>
  Array.from({ length: services }, (_, i) => `svc${i}.gslb.example.com`)

export async function startGeoGslbd(
  directory: string,
  core: number,
  map: GeoMap,
): Promise<RunningServer> {
  const path = join(directory, 'geo.bundle')
  writeFileSync(path, encodeBundle(modelOf(map), plainCodeOf).bytes)
  return startGslbd([path], { core, hasCountries: map.kind === 'chain' })
}

function modelOf({ kind, services, countries, addresses, ranges }: GeoMap): BundleModel {
  const model = manyServices(services, { algorithm: kind === 'chain' ? 'round-robin' : 'map-file' })
  if (kind === 'map-file') {
    const v4 = ranges.map(({ start, end, dc }) => ({ start, end, endpoints: [addresses[dc]!] }))
    return { ...model, routing: { ...plainRouting, mapRules: { v4, v6: [] } } }
  }
  return {
    ...model,
    pools: model.pools.map((pool, i) => ({
      ...pool,
      members: countries.map((region, k) => ({
        ...pool.members[0]!,
        ...{ uid: benchUid(3, i * 64 + k), name: `m${k}`, priority: k + 1, region },
        ipAddress: addressOf(i, k),
      })),
    })),
    services: model.services.map((one) => ({ ...one, filterChain: ['geo-ip', 'failover'] })),
  }
}

export async function startGeoGdnsd(
  directory: string,
  core: number,
  { services, addresses, networks }: GeoMap,
): Promise<RunningServer | undefined> {
  if (!isServerInstalled('gdnsd')) return undefined
  const dcs = addresses.map((_, dc) => `dc${dc}`)
  // The data centre, then the first one as its fallback.
  const listOf = (dc: number): string => (dc === 0 ? 'dc0' : `dc${dc}, dc0`)
  const nets = networks.map(({ cidr, dc }) => `${cidr} => [ ${listOf(dc)} ]\n`).join('')
  const numbers = Array.from({ length: services }, (_, i) => i)
  const resource = (service: number): string =>
    `svc${service} => { map => world, service_types => up,\n` +
    `  dcmap => { ${dcs.map((dc, k) => `${dc} => ${addressOf(service, k)}`).join(', ')} } }\n`
  return startPeer(
    'gdnsd',
    peers.gdnsd,
    { directory: join(directory, 'geo'), core },
    (home, port) => ({
      'etc/config':
        `options => { listen => [ 127.0.0.1 ], dns_port => ${port}, udp_threads => 1,\n` +
        `  tcp_threads => 1, zones_default_ttl => 60,\n` +
        `  run_dir => ${home}/run, state_dir => ${home}/state }\n` +
        `plugins => { geoip => {\n` +
        `  maps => { world => { datacenters => [ ${dcs.join(', ')} ],\n` +
        `    nets => ${home}/etc/nets } },\n` +
        `  resources => {\n${numbers.map(resource).join('')}} } }\n`,
      'etc/nets': nets,
      'etc/zones/gslb.example.com':
        soaAndNs + numbers.map((i) => `svc${i} 60 DYNA geoip!svc${i}\n`).join(''),
    }),
  )
}

const geoModule = (home: string): string =>
  `mod-geoip:\n  - id: map\n    ttl: 60\n    mode: subnet\n    config-file: ${home}/etc/map\n`

/** Path in the packages of Debian and Ubuntu. */
const knotModule = '/usr/lib/x86_64-linux-gnu/knot/modules-3.2/geoip.so'

export async function startGeoKnot(
  directory: string,
  core: number,
  { addresses, networks }: GeoMap,
): Promise<RunningServer | undefined> {
  if (!isServerInstalled('knot') || !existsSync(knotModule)) return undefined
  const rows = networks.map(({ cidr, dc }) => `  - net: ${cidr}\n    A: ${addresses[dc]}\n`)
  return startPeer(
    'knot',
    peers.knot,
    { directory: join(directory, 'geo'), core },
    (home, port) => ({
      'etc/knot.conf':
        peers.knot
          .files(home, port, 1)
          ['etc/knot.conf']!.replace('server:\n', `server:\n    edns-client-subnet: on\n`)
          .replace('zone:\n', `${geoModule(home)}zone:\n`) + `    module: mod-geoip/map\n`,
      'etc/map': `${geoName}.:\n${rows.join('')}`,
      'etc/zone': peers.knot.files(home, port, 1)['etc/zone']!,
    }),
  )
}
