// Many random clients, with and without ECS: the answer path says what a look at every rule and
// every network says.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { loadBundle } from '#bundle/load/load.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { readConfigDirectory } from '#gitops/checkout/config-directory.ts'
import { loadTables } from '#judge/simulate/tables.ts'
import { createCompiler } from '#compiler/compile.ts'
import { Random } from '#lib/random.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Transaction } from '#answer/transaction.ts'
import { isIn, longest, masked, octetsOf, randomClient } from '#test/support/client-networks.ts'
import { randomNetwork } from '#test/support/client-networks.ts'
import type { Client, Network } from '#test/support/client-networks.ts'
import { query } from '#test/support/dns/message.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { laneCount } from '#test/support/lane.ts'
import type { Field } from '#test/support/mmdb-writer.ts'

const clients = laneCount(100_000)
const random = new Random(20_261_120)
const pick = <T>(all: readonly T[]): T => all[random.next() % all.length]!
const networks = (count: number): Network[] =>
  Array.from({ length: count }, () => randomNetwork(random))

interface Member {
  readonly name: string
  readonly ipAddress: string
  readonly region: string
  readonly enabled: boolean
  readonly lat: number
  readonly lon: number
}
const places = [
  ['DE', 50, 9],
  ['US', 39, -77],
  ['JP', 36, 140],
  ['continent:SA', -23, -47],
  ['ZA', -26, 28],
] as const
const members: readonly Member[] = [4, 6].flatMap((family) =>
  places.map(([region, lat, lon], i) => {
    const ipAddress = family === 4 ? `192.0.2.${i + 1}` : `2001:db8:ffff::${i + 1}`
    return { name: `m${family}${i}`, ipAddress, region, lat, lon, enabled: i !== 4 }
  }),
)
const endpoints = members.map(({ ipAddress }) => ipAddress)
const strange = '198.51.100.99'

const mapRules = networks(400).map((network) => ({
  network,
  endpoint: pick([...endpoints, strange]),
}))
const geoRules = networks(200).map((network) => ({
  network,
  endpoint: pick(endpoints),
  priority: random.next() % 3,
}))
const asnRules = [
  { asn: 64_500, endpoint: endpoints[1]! },
  { org: 'two', endpoint: endpoints[2]! },
  { asn: 64_503, org: 'ZERO', endpoint: endpoints[8]! },
  { asn: 64_501, endpoint: endpoints[6]! },
  { asn: 64_502, endpoint: endpoints[7]! },
  { org: 'Operator', endpoint: endpoints[3]! },
]
const continents = { DE: 'EU', FR: 'EU', US: 'NA', BR: 'SA', JP: 'AS', KR: 'AS', ZA: 'AF' } as const
type Country = keyof typeof continents
const cities = networks(600).map((network) => ({
  network,
  country: pick(Object.keys(continents) as Country[]),
  lat: (random.next() % 120) - 60,
  lon: (random.next() % 340) - 170,
}))
const operators = networks(300).map((network) => {
  const number = random.next() % 6
  return { network, asn: 64_500 + number, name: pick(['Operator', 'Carrier Two', 'Zero AG', '']) }
})

const services: Readonly<Record<string, object>> = {
  map: { algorithm: 'map-file', pool: 'edge' },
  ruled: { algorithm: 'failover', pool: 'ruled' },
  country: { filterChain: ['geo-ip'], pool: 'edge' },
  operator: { filterChain: ['asn'], pool: 'edge' },
  near: { algorithm: 'geo-ip', pool: 'edge' },
}
type Service = 'map' | 'ruled' | 'country' | 'operator' | 'near'

/** Candidates of a family, in the order of the file. */
const up = (isIpv4: boolean): readonly Member[] => (isIpv4 ? up4 : up6)
const [up4, up6] = [true, false].map((isIpv4) =>
  members.filter(({ enabled, ipAddress }) => enabled && ipAddress.includes('.') === isIpv4),
) as [Member[], Member[]]

/** Two services ask for the same client. */
let last: { readonly client: Client; readonly city: (typeof cities)[number] | undefined } | null =
  null
function cityOf(client: Client) {
  if (last?.client !== client) last = { client, city: longest(client, cities) }
  return last.city
}

/** The rules of choice, one by one. @returns every member that is right */
const expected: Readonly<Record<Service, (client: Client, isA: boolean) => readonly Member[]>> = {
  map(client, isA) {
    const among = up(isA)
    const matching = mapRules.filter(({ network }) => isIn(client, network))
    const rule = matching.find(({ endpoint }) => among.some((m) => m.ipAddress === endpoint))
    return [among.find(({ ipAddress }) => ipAddress === rule?.endpoint) ?? among[0]!]
  },
  ruled(client, isA) {
    const among = up(isA)
    const usable = geoRules.filter(
      ({ network, endpoint }) =>
        isIn(client, network) && among.some((m) => m.ipAddress === endpoint),
    )
    const best = usable.sort(
      (a, b) => b.network.length - a.network.length || a.priority - b.priority,
    )[0]
    return [among.find(({ ipAddress }) => ipAddress === best?.endpoint) ?? among[0]!]
  },
  country(client, isA) {
    const among = up(isA)
    const code = cityOf(client)?.country
    if (code === undefined) return [among[0]!]
    const inCountry = among.filter(({ region }) => region === code)
    const inContinent = among.filter(({ region }) => region === `continent:${continents[code]}`)
    const near = among.filter(
      ({ region }) => region in continents && continents[region as Country] === continents[code],
    )
    return [[...inCountry, ...inContinent, ...near, ...among][0]!]
  },
  operator(client, isA) {
    const among = up(isA)
    const operator = longest(client, operators)
    const rule = asnRules.find(({ asn, org, endpoint }) => {
      const isNamed = org !== undefined && operator?.name.toLowerCase().includes(org.toLowerCase())
      const isMatch = operator !== undefined && (asn === operator.asn || isNamed === true)
      return isMatch && among.some((m) => m.ipAddress === endpoint)
    })
    return [among.find(({ ipAddress }) => ipAddress === rule?.endpoint) ?? among[0]!]
  },
  near(client, isA) {
    const among = up(isA)
    const city = cityOf(client)
    if (city === undefined) return among
    const away = among.map((m) => greatCircleKm(city, m))
    const least = Math.min(...away)
    // Two members that are equally far, as far as 32-bit vectors tell, are both right.
    return among.filter((_, i) => away[i]! <= least + 5)
  },
}

interface Place {
  readonly lat: number
  readonly lon: number
}
function greatCircleKm(one: Place, other: Place): number {
  const rad = (degrees: number): number => (degrees * Math.PI) / 180
  const half = (degrees: number): number => Math.sin(rad(degrees) / 2) ** 2
  const across = Math.cos(rad(one.lat)) * Math.cos(rad(other.lat)) * half(one.lon - other.lon)
  return 2 * 6_371 * Math.asin(Math.sqrt(half(one.lat - other.lat) + across))
}

function configuration(): string {
  const root = tempDir('clients')
  const put = (path: string, kind: string, name: string, spec: object): void => {
    const document = { apiVersion: 'gslb/v1', kind, metadata: { name }, spec }
    mkdirSync(dirname(join(root, path)), { recursive: true })
    // JSON is YAML.
    writeFileSync(join(root, path), JSON.stringify(document))
  }
  const rules = mapRules.map(({ network, endpoint }) => ({ cidr: network.cidr, endpoint }))
  const endpointLocations = Object.fromEntries(
    members.map(({ ipAddress, lat, lon }) => [ipAddress, { lat, lon }] as const),
  )
  put('gslb.yaml', 'Settings', 'settings', {
    zones: [{ name: 'test.', nameservers: [{ name: 'ns.example.net.' }] }],
    mapFile: { rules },
    asn: { rules: asnRules },
    geoip: { endpointLocations },
  })
  const listed = members.map(({ name, ipAddress, region, enabled }, i) => ({
    name,
    ipAddress,
    region,
    enabled,
    port: 1,
    priority: i + 1,
  }))
  put('tenants/default/pools/edge.yaml', 'Pool', 'edge', { members: listed })
  put('tenants/default/pools/ruled.yaml', 'Pool', 'ruled', {
    members: listed,
    geoRules: geoRules.map(({ network, ...rest }) => ({ cidr: network.cidr, ...rest })),
  })
  for (const [name, spec] of Object.entries(services)) {
    const whole = { domain: `${name}.test.`, ...spec }
    put(`tenants/default/services/${name}.yaml`, 'Service', name, whole)
  }
  return root
}

/** Databases hold the longest prefix by being written from the shortest on. */
function database(type: string, all: readonly { network: Network; record: Field }[]): string {
  const path = join(tempDir('clients'), `${type}.mmdb`)
  const sorted = [...all].sort((a, b) => a.network.length - b.network.length)
  const rows = sorted.map(({ network, record }) => [network.cidr, record] as const)
  writeFileSync(path, writeMmdb({ type, networks: rows }))
  return path
}

function newTransaction(): { tx: Transaction; bundle: Bundle } {
  const files = readConfigDirectory(configuration())
  if (!files.ok) throw new Error(files.error)
  const compiled = createCompiler().compile(files.value, { commit: '' })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics.slice(0, 3)))
  const loaded = loadBundle(compiled.bundle.bytes)
  if (!loaded.ok) throw new Error(loaded.error.message)
  const bundle = loaded.value
  const tables = loadTables({
    geoip: database(
      'City',
      cities.map(({ network, country, lat, lon }) => ({
        network,
        record: {
          country: { iso_code: country },
          location: { latitude: lat, longitude: lon },
        },
      })),
    ),
    asn: database(
      'ASN',
      operators.map(({ network, asn, name }) => ({
        network,
        record: { autonomous_system_number: asn, autonomous_system_organization: name },
      })),
    ),
  })
  if (!tables.ok) throw new Error(tables.error)
  const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const tx = new Transaction(settings, 1, counters)
  const { bytes, digest } = bundle
  const routing = createRoutingState(bundle, 1).buffers
  tx.adopt(
    createServingView({ number: 1, bundle: bytes, digest, routing, tables: tables.value(bundle) }),
  )
  return { tx, bundle }
}

/** As it is asked: the client's subnet in an option of so many bits, or null and the source. */
interface Asked {
  readonly client: Client
  readonly ecsBits: number | null
  /** IPv4 written as IPv6, in the option or as the source. */
  readonly isMapped: boolean
}

const resolver = [10, 0, 113, 99] as const
const resolverBits = [0, 0, 0xffff, Buffer.from(resolver).readInt32BE()] as const

/** The client that counts: for a subnet of 127.0.0.0/8 the resolver. */
function counting({ client, ecsBits, isMapped }: Asked): Client {
  const isNobody = client.isIpv4 && !isMapped && ecsBits !== null && client.bits[3] >>> 24 === 127
  return isNobody ? { bits: resolverBits, isIpv4: true } : client
}

class Asker {
  readonly #tx: Transaction
  readonly #questions: Readonly<Record<string, Buffer>>
  readonly #message = new Uint8Array(1_024)

  constructor(tx: Transaction) {
    this.#tx = tx
    const names = Object.keys(services).flatMap((name) => [`${name} A`, `${name} AAAA`])
    this.#questions = Object.fromEntries(
      names.map((name) => [name, query(name.replace(' ', '.test. '))]),
    )
  }

  /** @returns the member's address as text, and the scope of the reply */
  ask(service: string, isA: boolean, { client, ecsBits, isMapped }: Asked) {
    const [tx, message] = [this.#tx, this.#message]
    const question = this.#questions[`${service} ${isA ? 'A' : 'AAAA'}`]!
    const isShort = client.isIpv4 && !isMapped
    const octets = octetsOf(client, isShort ? 4 : 16)
    message.set(question)
    let length = question.length
    // A source that counts only where no option does.
    tx.source = ecsBits === null ? octets : Uint8Array.from(resolver)
    tx.sourceAt = 0
    tx.sourceBytes = tx.source.length
    if (ecsBits !== null) length = this.#addSubnet(length, octets, ecsBits)
    answer(tx, message, 0, length, message, 0, message.length)
    const at = question.length + 12
    const address = message.subarray(at, at + (isA ? 4 : 16))
    return { address: tx.answerCount === 1 ? keyOf(address) : '', scope: tx.ecsScope }
  }

  /** RFC 7871 section 6. @returns the length of the message */
  #addSubnet(at: number, octets: Uint8Array, bits: number): number {
    const bytes = (bits + 7) >> 3
    const family = octets.length === 4 ? 1 : 2
    const opt = [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 8 + bytes, 0, 8, 0, 4 + bytes, 0, family, bits, 0]
    this.#message[11] = 1
    this.#message.set(opt, at)
    this.#message.set(octets.subarray(0, bytes), at + opt.length)
    return at + opt.length + bytes
  }
}

const keyOf = (octets: Uint8Array): string => octets.join(' ')
const keyOfAddress = (text: string): string =>
  keyOf(
    text.includes('.')
      ? Uint8Array.from(text.split('.').map(Number))
      : Uint8Array.of(
          0x20,
          1,
          0xd,
          0xb8,
          255,
          255,
          ...Array<number>(9).fill(0),
          Number(text.at(-1)),
        ),
  )

/** A client, and how it is asked for: every prefix, IPv4 in both forms, no option at all. */
function randomAsked(): Asked {
  const whole = randomClient(random)
  const isMapped = whole.isIpv4 && random.next() % 4 === 0
  if (random.next() % 3 === 0) return { client: whole, ecsBits: null, isMapped }
  if (random.next() % 64 === 0) {
    const bits = [0, 0, 0xffff, 0x7f00_0000 | (random.next() & 0xff_ffff)] as const
    return { client: { bits, isIpv4: true }, ecsBits: 32, isMapped: false }
  }
  const width = whole.isIpv4 ? 32 : 128
  const own = random.next() % 2 === 0 ? width : 1 + (random.next() % width)
  const before = 128 - width
  const client = { ...whole, bits: masked(whole.bits, before + own) }
  return { client, ecsBits: isMapped ? 96 + own : own, isMapped }
}

/** Another client that is the same in the first bits of its address. */
function neighbour({ client, isMapped }: Asked, scope: number): Asked {
  const bits = client.isIpv4 && !isMapped ? 96 + scope : scope
  const other = [0, 0, 0, 0].map(() => random.next() | 0)
  const [a, b, c, d] = client.bits.map(
    (word, i) => word | (other[i]! & ~masked([-1, -1, -1, -1], bits)[i]!),
  )
  const near = { ...client, bits: [a!, b!, c!, d!] as const }
  return { client: near, isMapped, ecsBits: client.isIpv4 && !isMapped ? 32 : 128 }
}

const patient = { timeout: 480_000 }

test('the member that rule by rule is right, and so for the whole scope', patient, () => {
  const { tx } = newTransaction()
  const asker = new Asker(tx)
  const names = Object.keys(services) as Service[]
  const keys = new Map(members.map((member) => [member, keyOfAddress(member.ipAddress)]))
  const faults: object[] = []
  const seen = new Set<string>()
  for (let i = 0; i < clients && faults.length < 5; i++) {
    const asked = randomAsked()
    const isA = random.next() % 2 === 0
    for (const service of names) {
      const right = expected[service](counting(asked), isA).map((member) => keys.get(member)!)
      const got = asker.ask(service, isA, asked)
      seen.add(`${service} ${got.address}`)
      if (!right.includes(got.address)) faults.push({ service, asked, isA, got, right })
      // One client in four is enough to compare neighbours within a scope.
      if (asked.ecsBits === null || i % 4 !== 0 || (service === 'near' && right.length > 1))
        continue
      const again = asker.ask(service, isA, neighbour(asked, got.scope))
      if (again.address !== got.address) faults.push({ service, asked, isA, got, again })
    }
  }
  expect(faults).toEqual([])
  // Every member that may be answered was, by every service.
  expect(seen.size).toBe(names.length * members.filter(({ enabled }) => enabled).length)
})
