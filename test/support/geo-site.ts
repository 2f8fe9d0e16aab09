// A configuration that routes by client, the matching databases, and clients that query it.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createConnection, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { parseAddress } from '#dns/address.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { ask, framed } from './dns/client.ts'
import type { AskParts, Endpoint } from './dns/client.ts'
import { ecs, ecsOf } from './dns/ecs.ts'
import { decodeMessage, query } from './dns/message.ts'
import type { EdnsOption, Message } from './dns/message.ts'
import { writeMmdb } from './mmdb-writer.ts'
import { Site } from './site.ts'

export const fra = '192.0.2.10'
export const par = '192.0.2.20'
export const iad = '192.0.2.30'
export const fra6 = '2001:db8:ff::10'
export const par6 = '2001:db8:ff::20'
export const iad6 = '2001:db8:ff::30'

const cities = {
  frankfurt: ['DE', 'EU', 50.11, 8.68],
  paris: ['FR', 'EU', 48.86, 2.35],
  ashburn: ['US', 'NA', 39.04, -77.49],
  tokyo: ['JP', 'AS', 35.68, 139.69],
} as const
type City = keyof typeof cities

const cityNetworks: readonly (readonly [string, City])[] = [
  ['127.0.0.0/8', 'paris'],
  ['10.1.0.0/16', 'frankfurt'],
  ['10.2.0.0/16', 'paris'],
  ['10.3.0.0/16', 'ashburn'],
  ['10.4.0.0/16', 'tokyo'],
  ['2001:db8:1::/48', 'frankfurt'],
  ['2001:db8:2::/48', 'paris'],
]

/** A City database; `moved` is the place of 10.1.0.0/16 in place of Frankfurt. */
export function cityDatabase(moved: City = 'frankfurt'): Buffer {
  return writeMmdb({
    type: 'Test-City',
    networks: cityNetworks.map(([cidr, city]) => {
      const [country, continent, latitude, longitude] =
        cities[cidr === '10.1.0.0/16' ? moved : city]
      const record = {
        country: { iso_code: country },
        continent: { code: continent },
        location: { latitude, longitude },
      }
      return [cidr, record] as const
    }),
  })
}

export function operatorDatabase(): Buffer {
  const operator = (asn: number, organisation: string) => ({
    autonomous_system_number: asn,
    autonomous_system_organization: organisation,
  })
  return writeMmdb({
    type: 'Test-ASN',
    networks: [
      ['10.1.128.0/17', operator(64_496, 'Documentation Networks')],
      ['10.2.0.0/16', operator(64_500, 'EXAMPLE TELECOM GmbH')],
      ['10.3.0.0/16', operator(64_501, 'Nobody in particular')],
    ],
  })
}

function placeOf(city: City): { readonly lat: number; readonly lon: number } {
  const [, , lat, lon] = cities[city]
  return { lat, lon }
}

const settings = {
  apiVersion: 'gslb/v1',
  kind: 'Settings',
  metadata: { name: 'settings' },
  spec: {
    zones: [
      {
        name: 'example.com.',
        nameservers: [{ name: 'ns1.example.com.', addresses: ['127.0.0.1'] }],
        soa: { minimum: 5, ttl: 60 },
      },
    ],
    mapFile: {
      rules: [
        { cidr: '10.6.0.0/24', endpoint: par },
        { cidr: '10.6.0.0/16', endpoint: iad },
        { cidr: '2001:db8:5::/48', endpoint: par },
      ],
    },
    asn: {
      rules: [
        { asn: 64_496, endpoint: iad },
        { org: 'example telecom', endpoint: fra },
      ],
    },
    geoip: {
      endpointLocations: {
        [fra]: placeOf('frankfurt'),
        [par]: placeOf('paris'),
        [iad]: placeOf('ashburn'),
        [fra6]: placeOf('frankfurt'),
        [par6]: placeOf('paris'),
        [iad6]: placeOf('ashburn'),
      },
    },
  },
}

function member(name: string, ipAddress: string, region: string, priority: number): object {
  return { name, ipAddress, port: 443, region, priority }
}

/** The tcpmux port, which nobody uses: members probed there are down. */
const closedPort = 1

const pools: Readonly<Record<string, object>> = {
  edge: {
    members: [
      member('fra', fra, 'DE', 1),
      member('par', par, 'FR', 2),
      member('iad', iad, 'US', 3),
      member('fra6', fra6, 'DE', 1),
      member('par6', par6, 'FR', 2),
      member('iad6', iad6, 'US', 3),
    ],
  },
  office: {
    members: [
      { name: 'north', ipAddress: '192.0.2.41', port: 443, priority: 1 },
      { name: 'south', ipAddress: '192.0.2.42', port: 443, priority: 2 },
    ],
    geoRules: [
      { cidr: '127.0.0.0/8', endpoint: '192.0.2.42' },
      { cidr: '127.0.5.0/24', endpoint: '192.0.2.41' },
      { cidr: '10.0.0.0/8', endpoint: '192.0.2.41' },
      { cidr: '10.20.0.0/16', endpoint: '192.0.2.42' },
      { cidr: '2001:db8:20::/48', endpoint: '192.0.2.42' },
      { cidr: '::1/128', endpoint: '192.0.2.42' },
    ],
  },
  down: {
    healthCheck: { type: 'tcp', port: closedPort, intervalMs: 200, timeoutMs: 200 },
    members: [
      member('first', '127.0.0.1', 'DE', 1),
      { ...member('off', '127.0.0.2', 'DE', 2), enabled: false },
      member('third', '127.0.0.3', 'FR', 3),
    ],
  },
  sorry: {
    members: [member('sorry-de', '192.0.2.91', 'DE', 1), member('sorry-fr', '192.0.2.92', 'FR', 2)],
  },
}

const services: Readonly<Record<string, object>> = {
  near: { algorithm: 'geo-ip', pool: 'edge' },
  country: { filterChain: ['geo-ip', 'failover'], pool: 'edge' },
  map: { algorithm: 'map-file', pool: 'edge' },
  operator: { filterChain: ['asn'], pool: 'edge' },
  carrier: { algorithm: 'asn', pool: 'edge' },
  sticky: { filterChain: ['sticky'], pool: 'edge' },
  plain: { algorithm: 'failover', pool: 'edge' },
  office: { algorithm: 'failover', pool: 'office' },
  two: { algorithm: 'geo-ip', pool: 'edge', answerCount: 2 },
  none: { filterChain: ['geo-ip', 'failover'], pool: 'down' },
  all: { filterChain: ['geo-ip', 'failover'], pool: 'down', onAllDown: 'all' },
  safe: { filterChain: ['geo-ip', 'failover'], pool: 'down', onAllDown: 'pool:sorry' },
}

interface GeoSite {
  readonly site: Site
  /** Path of the City database. */
  readonly cityFile: string
}

/**
 * Makes databases, settings that name them, and a pushed commit: `SERVICE.example.com.` for each
 * service above.
 *
 * @param cityPath relative to the site's folder; only `city.mmdb` is written
 */
export async function makeGeoSite(
  label: string,
  dns: object,
  cityPath = 'city.mmdb',
): Promise<GeoSite> {
  const site = await Site.make(label)
  const cityFile = join(site.path, cityPath)
  const operatorFile = join(site.path, 'asn.mmdb')
  if (cityPath === 'city.mmdb') writeFileSync(cityFile, cityDatabase())
  writeFileSync(operatorFile, operatorDatabase())
  site.writeSettings({
    dns,
    health: { enabled: true },
    geoip: { dbPath: cityFile },
    asn: { dbPath: operatorFile },
  })
  await site.git('rm', '-q', '-r', 'tenants')
  // JSON is YAML.
  site.write('gslb.yaml', JSON.stringify(settings))
  const put = (kind: string, folder: string, name: string, spec: object): void => {
    const document = { apiVersion: 'gslb/v1', kind, metadata: { name }, spec }
    site.write(`tenants/default/${folder}/${name}.yaml`, JSON.stringify(document))
  }
  for (const [name, spec] of Object.entries(pools)) {
    put('Pool', 'pools', name, spec)
  }
  for (const [name, spec] of Object.entries(services)) {
    put('Service', 'services', name, { domain: `${name}.example.com.`, ttl: 5, ...spec })
  }
  await site.commit('routing by client')
  await site.push()
  return { site, cityFile }
}

/** `10.1.2.0/24` as resolvers send it. */
export function subnet(cidr: string): EdnsOption {
  const [text = '', bits = '0'] = cidr.split('/')
  const address = parseAddress(text)
  if (!address.ok) throw new Error(`${cidr} is no network`)
  const source = Number(bits)
  const octets = Buffer.from(address.value.subarray(0, (source + 7) >> 3))
  return ecs(address.value.length === 4 ? 1 : 2, source, 0, octets.toString('hex'))
}

interface Told {
  /** Addresses in the order of the reply; the response code when there is none. */
  readonly answer: string
  /** undefined: the reply has no client subnet. */
  readonly scope: number | undefined
}

export function told(reply: Message): Told {
  const addresses = reply.answer.map(({ rdataText }) => rdataText).join(' ')
  const answer = addresses === '' ? (rcodeNames[reply.rcode] ?? String(reply.rcode)) : addresses
  return { answer, scope: ecsOf(reply.opt)?.scope }
}

/**
 * Asks `SERVICE.example.com.` for a client.
 *
 * @param client a network, or null: no client subnet
 */
export async function askFor(
  server: Endpoint,
  service: string,
  client: string | null,
  { type = 'A', ...parts }: AskParts & { readonly type?: string } = {},
): Promise<Told> {
  const opt = { options: client === null ? [] : [subnet(client)] }
  const reply = await ask(server, `${service}.example.com. ${type}`, { ...parts, opt })
  if (client !== null) expectEcho(reply, client)
  return told(reply)
}

/** RFC 7871 section 7.2.1: family, source and address come back as they were. */
function expectEcho(reply: Message, client: string): void {
  const sent = ecsOf({ ...reply.opt!, options: [subnet(client)] })
  const back = ecsOf(reply.opt)
  if (JSON.stringify({ ...back, scope: 0 }) !== JSON.stringify(sent)) {
    throw new Error(`${client} came back as ${JSON.stringify(back)}`)
  }
}

/** A query without client subnet from an address of this machine. */
export async function askFrom(
  { host, port }: Endpoint,
  source: string,
  service: string,
  tcp: boolean,
): Promise<Told> {
  const bytes = query(`${service}.example.com. A`)
  const signal = AbortSignal.timeout(10_000)
  if (tcp) {
    const socket = createConnection({ host, port, localAddress: source })
    socket.write(framed(bytes))
    const [reply] = (await once(socket, 'data', { signal })) as [Buffer]
    socket.destroy()
    return told(decodeMessage(reply.subarray(2)))
  }
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  socket.bind(0, source)
  await once(socket, 'listening', { signal })
  socket.send(bytes, port, host)
  const [reply] = (await once(socket, 'message', { signal })) as [Buffer]
  socket.close()
  return told(decodeMessage(reply))
}
