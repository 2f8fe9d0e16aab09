// The shares of a plan against brute force: every client network of a small world, asked of both
// bundles through the answer path.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import { plainRouting } from '#bundle/format/model.ts'
import type { BundleModel, ClientRanges, ServiceModel } from '#bundle/format/model.ts'
import { loadTables } from '#judge/simulate/tables.ts'
import { parseName } from '#dns/name.ts'
import { Random } from '#lib/random.ts'
import { ipv4, ipv6 } from '#judge/clients/space.ts'
import { makePlan } from '#judge/plan/plan.ts'
import type { AnswerChange, FamilyMovement } from '#judge/document/model.ts'
import { createSide } from '#judge/sides/side.ts'
import type { Moment, Side } from '#judge/sides/side.ts'
import { answer } from '#answer/answer.ts'
import { bundleOf, member, pool, service, smallModel } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { laneCount } from '#test/support/lane.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { tempDir } from '#test/support/temp-dir.ts'

/** Clients are in 10.0.0.0/18 and 2001:db8::/59; a network of them is a /26 or a /64. */
const first4 = 0x0a00_0000
const count4 = 256
const size4 = 64
const first6 = 0x2001_0db8n << 96n
const count6 = 32
const spaces = {
  v4: {
    ...ipv4,
    clients: {
      starts: [0, first4, first4 + count4 * size4],
      valueOf: Uint32Array.of(0, 1, 0),
      values: 2,
      rowOf: [0, 1],
    },
  },
  v6: {
    ...ipv6,
    clients: {
      starts: [0n, first6, first6 + (BigInt(count6) << 64n)],
      valueOf: Uint32Array.of(0, 1, 0),
      values: 2,
      rowOf: [0, 1],
    },
  },
}

const random = new Random(15)
const pick = <T>(all: readonly T[]): T => all[random.next() % all.length]!
const regions = ['DE', 'FR', 'US', 'continent:EU', 'unknown']
const countries = ['DE', 'FR', 'US', 'JP']
const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']

/** Some networks of the small world, disjoint and in order. */
function randomRanges(): ClientRanges {
  const v4 = []
  for (let at = random.next() % 20; at < count4;) {
    const end = Math.min(count4, at + 1 + (random.next() % 30))
    const endpoints = [pick(addresses), pick(addresses)]
    v4.push({ start: first4 + at * size4, end: first4 + end * size4 - 1, endpoints })
    at = end + 1 + (random.next() % 40)
  }
  const [start, end] = [first6 + (3n << 64n), first6 + (9n << 64n) - 1n]
  return { v4, v6: [{ start, end, endpoints: [pick(addresses)] }] }
}

const chains: readonly (readonly [string, Partial<ServiceModel>])[] = [
  ['round-robin', {}],
  ['weighted', { algorithm: 'weighted-round-robin' }],
  ['failover', { algorithm: 'failover' }],
  ['nearest', { algorithm: 'geo-ip' }],
  ['map', { algorithm: 'map-file' }],
  ['operator', { algorithm: 'asn' }],
  ['latency', { algorithm: 'latency' }],
  ['several', { algorithm: 'failover', answerCount: 2 }],
  ['turns', { algorithm: 'round-robin', answerCount: 2 }],
  ['place-turns', { filterChain: ['geo-ip', 'round-robin'] }],
  ['place-weights', { filterChain: ['geo-ip', 'weighted-round-robin'] }],
  ['operator-place', { filterChain: ['asn', 'geo-ip', 'failover'] }],
  ['map-operator', { filterChain: ['asn', 'map-file'] }],
  ['sticky', { filterChain: ['sticky'] }],
  ['sticky-weighted', { filterChain: ['sticky-weighted'] }],
  ['place-sticky', { filterChain: ['geo-ip', 'sticky'] }],
  ['map-place-sticky', { filterChain: ['map-file', 'geo-ip', 'sticky-weighted'] }],
  ['signals', { filterChain: ['signal-weight', 'failover'] }],
  ['round-trips', { filterChain: ['geo-ip', 'latency'] }],
]
const drawn = new Set(['weighted', 'latency', 'place-weights', 'round-trips'])

function randomModel(): BundleModel {
  const listed = (): ReturnType<typeof member>[] =>
    addresses.map((ip) =>
      member(ip, {
        region: pick(regions),
        weight: random.next() % 4,
        priority: random.next() % 4,
        enabled: random.next() % 6 > 0,
      }),
    )
  const model = { geoRules: random.next() % 2 === 0 ? randomRanges() : { v4: [], v6: [] } }
  return {
    ...smallModel,
    pools: [pool(1, listed()), pool(2, listed(), model)],
    services: chains.flatMap(([name, parts], i) => [
      service(i * 2, `${name}.example.org.`, { ...parts, pool: 0, ttlSeconds: 60 }),
      service(i * 2 + 1, `ruled-${name}.example.org.`, { ...parts, pool: 1, ttlSeconds: 60 }),
    ]),
    routing: {
      ...plainRouting,
      mapRules: randomRanges(),
      asnRules: [
        { asn: 64_500, org: '', endpoint: pick(addresses) },
        { asn: null, org: 'two', endpoint: pick(addresses) },
      ],
      endpointLocations: addresses.map((endpoint) => ({
        endpoint,
        lat: (random.next() % 120) - 60,
        lon: (random.next() % 340) - 170,
      })),
      signals: { weight: 0.5, static: { DE: random.next() % 5, FR: random.next() % 5, US: 2 } },
    },
  }
}

/** Where each client of IPv4 is: in no database, or at a place. */
const placeOf4 = Array.from({ length: count4 }, () => pick(['', ...countries]))

function databases(): { geoip: string; asn: string } {
  const cidr = (at: number): string => {
    const address = first4 + at * size4
    return `10.0.${(address >> 8) & 0xff}.${address & 0xff}/26`
  }
  const cities = placeOf4.flatMap((country, at) => {
    if (country === '') return []
    const location = { latitude: (at % 120) - 60, longitude: (at % 300) - 150 }
    return [[cidr(at), { country: { iso_code: country }, location }] as const]
  })
  const asns = placeOf4.flatMap((_, at) => {
    if (at % 5 === 0) return []
    const number = 64_500 + (at % 3)
    const autonomous_system_organization = at % 7 === 0 ? 'Carrier Two' : 'Operator'
    return [
      [cidr(at), { autonomous_system_number: number, autonomous_system_organization }] as const,
    ]
  })
  // Clients of IPv6 that no database knows count nothing.
  const six = [
    ['2001:db8::/59', { country: { iso_code: 'JP' } }],
    ['2001:db8:0:4::/62', { country: { iso_code: 'FR' } }],
  ] as const
  const put = (type: string, networks: Parameters<typeof writeMmdb>[0]['networks']): string => {
    const path = join(tempDir('plan'), `${type}.mmdb`)
    writeFileSync(path, writeMmdb({ type, networks }))
    return path
  }
  return { geoip: put('City', [...cities, ...six]), asn: put('ASN', asns) }
}

function loadedTables() {
  const loaded = loadTables(databases())
  if (!loaded.ok) throw new Error(loaded.error)
  return loaded.value
}

const moment: Moment = {
  atMs: 1_000,
  health: new Map(
    ['pool-1', 'pool-2'].flatMap((name) =>
      addresses.map((ip, i) => [`${name}/${ip}`, { healthy: i !== 3, rttMs: i * 9 }] as const),
    ),
  ),
}

interface Given {
  /** A text for each answer: what it holds, in its order. */
  readonly answers: readonly string[]
}

const answersEach = 12
const message = new Uint8Array(1_024)

/** Asks as resolvers do for a client: with its whole address. */
function askFor(side: Side, qname: string, octets: Uint8Array, times: number): Given {
  const question = query(`${qname} A`)
  const { length } = octets
  const opt = [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 8 + length, 0, 8, 0, 4 + length, 0]
  const family = [length === 4 ? 1 : 2, length * 8, 0]
  const answers = Array.from({ length: times }, () => {
    message.set(question)
    message[11] = 1
    message.set([...opt, ...family, ...octets], question.length)
    const end = question.length + opt.length + family.length + length
    answer(side.tx, message, 0, end, message, 0, message.length)
    const records = Array.from({ length: side.tx.answerCount }, (_, i) => {
      const at = question.length + i * 16 + 12
      return message.subarray(at, at + 4).join('.')
    })
    return records.length === 0 ? 'no address' : records.join(' ')
  })
  return { answers }
}

function octetsOf(at: number, isIpv6: boolean): Uint8Array {
  const octets = new Uint8Array(isIpv6 ? 16 : 4)
  const view = new DataView(octets.buffer)
  if (!isIpv6) view.setUint32(0, first4 + at * size4 + 7)
  else view.setBigUint64(0, (first6 >> 64n) + BigInt(at))
  return octets
}

interface Brute {
  readonly moved: number
  readonly differs: number
  readonly before: ReadonlyMap<string, number>
  readonly after: ReadonlyMap<string, number>
  readonly flows: ReadonlyMap<string, number>
  readonly countries: ReadonlyMap<string, number>
}

const newShares = () => new Map<string, number>()

function bruteForce(base: Side, head: Side, qname: string, isIpv6: boolean): Brute {
  const count = isIpv6 ? count6 : count4
  const isDrawn = [...drawn].some((name) => qname.includes(name))
  const times = isDrawn ? laneCount(100, 40) : answersEach
  const brute = {
    before: newShares(),
    after: newShares(),
    flows: newShares(),
    countries: newShares(),
  }
  const add = (map: Map<string, number>, key: string, part: number): void => {
    map.set(key, (map.get(key) ?? 0) + part / count)
  }
  let moved = 0
  let differs = 0
  for (let at = 0; at < count; at++) {
    const octets = octetsOf(at, isIpv6)
    const [one, other] = [base, head].map((side) => {
      const firsts = new Map<string, number>()
      const { answers } = askFor(side, qname, octets, times)
      for (const text of answers) {
        const first = text
          .split(' ')
          .slice(0, text.startsWith('no') ? 2 : 1)
          .join(' ')
        firsts.set(first, (firsts.get(first) ?? 0) + 1 / times)
      }
      return { firsts, all: answers.toSorted().join() }
    }) as [
      { firsts: Map<string, number>; all: string },
      { firsts: Map<string, number>; all: string },
    ]
    for (const [key, part] of one.firsts) add(brute.before, key, part)
    for (const [key, part] of other.firsts) add(brute.after, key, part)
    let going = 0
    for (const [key, part] of one.firsts) going += Math.max(0, part - (other.firsts.get(key) ?? 0))
    moved += going / count
    if (one.all !== other.all) differs += 1 / count
    if (going > 0 && !isIpv6) add(brute.countries, placeOf4[at]!, going)
    for (const [from, part] of one.firsts) {
      for (const [to, share] of other.firsts) {
        const [less, more] = [
          part - (other.firsts.get(from) ?? 0),
          share - (one.firsts.get(to) ?? 0),
        ]
        if (less > 1e-9 && more > 1e-9) add(brute.flows, `${from} ${to}`, (less * more) / going)
      }
    }
  }
  return { moved, differs, ...brute }
}

const close = 1e-9
/** Tolerance for sticky shares: where no client moves, the plan tells the hash's ideal shares. */
const spread = 0.2
/** Tolerance for shares that were drawn by chance; IPv6 has fewer clients. */
const nearly = { v4: 0.03, v6: 0.08 }

function expectShares(qname: string, told: FamilyMovement, brute: Brute, within: number): void {
  for (const [side, shares] of [
    ['before', brute.before],
    ['after', brute.after],
  ] as const) {
    for (const one of told.members) {
      expect(Math.abs(one[side] - (shares.get(one.member) ?? 0)), qname).toBeLessThan(within)
    }
    for (const [member, share] of shares) {
      const isTold = told.members.some((one) => one.member === member)
      if (!isTold) expect(share).toBeLessThan(within)
    }
  }
}

function compare(
  change: AnswerChange | undefined,
  qname: string,
  base: Side,
  head: Side,
  isIpv6: boolean,
): void {
  const brute = bruteForce(base, head, qname, isIpv6)
  const isDrawn = [...drawn].some((name) => qname.includes(name))
  const within = isIpv6 ? nearly.v6 : nearly.v4
  const told = change?.movement?.[isIpv6 ? 'ipv6' : 'ipv4']
  if (told === undefined) {
    // What is not listed is the same for everybody; of dice, as far as anybody can tell.
    if (isDrawn)
      for (const [key, share] of brute.before) {
        expect(Math.abs(share - (brute.after.get(key) ?? 0))).toBeLessThan(within)
      }
    else expect([qname, brute.moved, brute.differs]).toEqual([qname, 0, 0])
    return
  }
  expect(told.error).toBe(0)
  const isSticky = qname.includes('sticky')
  expectShares(qname, told, brute, isDrawn ? within : isSticky ? spread : close)
  if (isDrawn) return
  expect(Math.abs(told.moved - brute.moved)).toBeLessThan(close)
  expect(Math.abs(told.differs - brute.differs)).toBeLessThan(close)
  expect(told.flows.length).toBe(brute.flows.size)
  for (const { from, to, share } of told.flows) {
    expect(Math.abs(share - brute.flows.get(`${from.member} ${to.member}`)!)).toBeLessThan(close)
  }
  // Clients that only their network tells apart have the places of their class on average.
  if (isIpv6 || isSticky) return
  for (const { place, moved } of told.countries ?? []) {
    expect(Math.abs(moved - brute.countries.get(place)!)).toBeLessThan(close)
  }
}

const rounds = laneCount(3, 1)

test.each(Array.from({ length: rounds }, (_, i) => i + 1))(
  'every client network gets what the plan says, change %i',
  { timeout: 480_000 },
  () => {
    const bundles = [bundleOf(randomModel()), bundleOf(randomModel())] as const
    const tablesOf = loadedTables()
    const source = (bundle: Bundle) => ({ source: '', bundle, tables: tablesOf(bundle) })
    const [base, head] = [source(bundles[0]), source(bundles[1])]
    const plan = makePlan({
      ...{ base, head, moments: [moment], geo: base.tables.geo, scripts: null, spaces },
    })
    const changes = new Map(
      plan.scenarios[0]!.changes.map((one) => [`${one.name} ${one.type}`, one]),
    )
    const [one, other] = [createSide(base, moment, null), createSide(head, moment, null)]
    for (const [name] of chains) {
      for (const qname of [`${name}.example.org.`, `ruled-${name}.example.org.`]) {
        expect(parseName(qname).ok).toBe(true)
        const change = changes.get(`${qname} A`)
        compare(change, qname, one, other, false)
        compare(change, qname, one, other, true)
      }
    }
    expect(changes.size).toBeGreaterThan(chains.length)
  },
)
