// Incremental transfers: for all series of changes of zones and of records that are written at run
// time, a secondary that follows them has what a whole transfer shows. RFC 1995.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServingView } from '#answer/serving-view.ts'
import { wireOf } from '#bundle/encode/record-pool.ts'
import type { BundleModel, PoolModel, RrsetModel } from '#bundle/format/model.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import { formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { historyLimits, transferLimits } from '#zones/transfer/limits.ts'
import { TransferHistory } from '#zones/transfer/transfer-history.ts'
import { Transfers } from '#zones/transfer/transfers.ts'
import { zoneNames } from '#zones/transfer/zone-records.ts'
import { ZoneSources } from '#zones/transfer/zone-sources.ts'
import {
  bareModel,
  bundleOf,
  member,
  pool,
  service,
  soa,
  zone,
} from '#test/support/bundle-models.ts'
import { a } from '#test/support/dns/record.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'
import { ZoneCopy } from '#test/support/dns/zone-copy.ts'
import type { TransferForm } from '#test/support/dns/zone-copy.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { laneCount } from '#test/support/lane.ts'
import { txtRdata, writtenNames } from '#test/support/txt-records.ts'
import type { Written } from '#test/support/txt-records.ts'

/** Zones may be nested, come and go. */
const apexes = ['test.', 'a.test.', 'b.a.test.', 'other.'] as const
const long = 'long-label-that-makes-names-longer-than-a-row-of-them'
/** Few, so that much happens at each. */
const names = fc.constantFrom(
  ...['test.', 'a.test.', 'b.a.test.', 'ns.b.a.test.', 'x.b.a.test.', 'y.x.b.a.test.'],
  ...['b.test.', 'c.b.test.', '*.b.test.', `${long}.a.test.`, 'ns.a.test.', 'z.a.test.'],
)

const kinds = {
  a: [1, Buffer.of(192, 0, 2, 1)],
  a2: [1, Buffer.of(192, 0, 2, 2)],
  aaaa: [28, Buffer.from('20010db8000000000000000000000001', 'hex')],
  ns: [2, wireOf('ns.a.test.')],
  nsAway: [2, wireOf('ns.example.net.')],
  cname: [5, wireOf('b.a.test.')],
  mx: [15, Buffer.concat([Buffer.of(0, 10), wireOf('a.test.')])],
  mixed: [15, Buffer.concat([Buffer.of(0, 10), wireOf('A.Test.')])],
  txt: [16, txtRdata('one')],
  txt2: [16, txtRdata('two')],
  dname: [39, wireOf('b.test.')],
  zonemd: [RrType.ZONEMD, Buffer.concat([Buffer.of(0, 0, 0, 1, 1, 1), Buffer.alloc(48, 7)])],
} as const
type Kind = keyof typeof kinds
const kindNames = Object.keys(kinds) as Kind[]

const record = fc.record({
  name: names,
  kind: fc.constantFrom<Kind | 'service'>(...kindNames, 'service', 'service'),
  ttl: fc.constantFrom<number>(30, 60),
  pool: fc.nat(2),
})
type Declared = typeof record extends fc.Arbitrary<infer T> ? T : never
/** Type and data. */
const values: readonly (readonly [number, Buffer])[] = [
  ...['one', 'two', 'three'].map((text) => [16, txtRdata(text)] as const),
  [1, Buffer.of(192, 0, 2, 9)],
  [5, Buffer.from(wireOf('b.test.'))],
  [12, Buffer.from(wireOf('a.test.'))],
]
const written: fc.Arbitrary<Written> = fc
  .tuple(names, fc.constantFrom(...values), fc.constantFrom(30, 90))
  .map(([name, [type, rdata], ttlSeconds]) => ({ name, type, rdata, ttlSeconds }))
const members = fc.array(fc.record({ last: fc.integer({ min: 1, max: 4 }), isOn: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
})
type Members = typeof members extends fc.Arbitrary<infer T> ? T : never

/** What a repository and a database say. */
interface World {
  zones: Set<string>
  records: Declared[]
  pools: Members[]
  refresh: number
  /** Which of two sets of name servers. */
  servers: number
  serialBase: number
  texts: Written[]
  /** What zones say of their digests. */
  digests: Record<string, boolean>
}

/** The same type with other data, or in other letters. */
const siblings: Partial<Record<Kind, Kind>> = {
  ...{ a: 'a2', a2: 'a', ns: 'nsAway', nsAway: 'ns', mx: 'mixed', mixed: 'mx' },
  ...{ txt: 'txt2', txt2: 'txt' },
}

/** One thing that happens. */
const step = fc.oneof(
  fc.record({ is: fc.constant('data' as const), at: fc.nat(20) }),
  fc.record({ is: fc.constant('ttl' as const), at: fc.nat(20) }),
  fc.record({ is: fc.constant('add' as const), record }),
  fc.record({ is: fc.constant('drop' as const), at: fc.nat(20) }),
  fc.record({ is: fc.constant('retarget' as const), at: fc.nat(20), pool: fc.nat(2) }),
  fc.record({ is: fc.constant('zone' as const), apex: fc.constantFrom(...apexes) }),
  fc.record({ is: fc.constant('pool' as const), at: fc.nat(2), members }),
  fc.record({ is: fc.constant('member' as const), at: fc.nat(2), last: fc.nat(4) }),
  fc.record({ is: fc.constant('soa' as const), refresh: fc.constantFrom(1, 2) }),
  fc.record({ is: fc.constant('servers' as const), servers: fc.constantFrom(1, 2) }),
  fc.record({ is: fc.constant('base' as const), serialBase: fc.constantFrom(0, 2 ** 32 - 3, 100) }),
  fc.record({ is: fc.constant('write' as const), text: written }),
  fc.record({ is: fc.constant('write' as const), text: written }),
  fc.record({ is: fc.constant('erase' as const), at: fc.nat(20) }),
  fc.record({
    ...{ is: fc.constant('digest' as const), apex: fc.constantFrom(...apexes) },
    has: fc.boolean(),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
const turn = fc.record({
  steps: fc.array(step, { maxLength: 2 }),
  /** A node raises its serial after the new records serve. */
  isLate: fc.boolean(),
  /** The first client looks at all zones, whenever it looks. */
  isLooking: fc.boolean(),
  looks: fc.array(fc.tuple(fc.nat(2), fc.constantFrom(...apexes, 'catalog.')), { maxLength: 2 }),
})

function happen(world: World, one: Step): void {
  const { records, texts } = world
  if (one.is === 'add') records.push(one.record)
  else if (one.is === 'drop') records.splice(one.at % Math.max(records.length, 1), 1)
  else if (one.is === 'data' || one.is === 'ttl' || one.is === 'retarget') alter(records, one)
  else if (one.is === 'pool') world.pools[one.at] = one.members
  else if (one.is === 'member') {
    world.pools[one.at] = world.pools[one.at]!.map((known) => ({ ...known, last: one.last }))
  } else if (one.is === 'soa') world.refresh = one.refresh
  else if (one.is === 'servers') world.servers = one.servers
  else if (one.is === 'base') world.serialBase = one.serialBase
  else if (one.is === 'write') texts.push(one.text)
  else if (one.is === 'erase') texts.splice(one.at % Math.max(texts.length, 1), 1)
  else if (one.is === 'digest') world.digests = { ...world.digests, [one.apex]: one.has }
  else if (!world.zones.delete(one.apex)) world.zones.add(one.apex)
}

function alter(records: Declared[], one: Extract<Step, { is: 'data' | 'ttl' | 'retarget' }>): void {
  const at = one.at % Math.max(records.length, 1)
  const before = records[at]
  if (before === undefined) return
  if (one.is === 'ttl') records[at] = { ...before, ttl: 90 - before.ttl }
  else if (one.is === 'retarget') records[at] = { ...before, pool: one.pool }
  else {
    const { kind } = before
    records[at] = { ...before, kind: (kind !== 'service' && siblings[kind]) || kind }
  }
}

function modelOf(world: World): BundleModel {
  const { zones, records, pools, refresh, servers, serialBase, digests } = world
  const apexOf = [...zones, '.'].toSorted((one, other) => other.length - one.length)
  const inZones = records.filter(({ name }) => zoneOf(name) !== '.')
  function zoneOf(name: string): string {
    return apexOf.find((apex) => `.${name}`.endsWith(`.${apex}`)) ?? '.'
  }
  const isApex = (name: string): boolean => zones.has(name)
  const aliases = new Set(
    inZones.filter(({ name, kind }) => kind === 'cname' && !isApex(name)).map(({ name }) => name),
  )
  const order = [...zones]
  const rrsets = new Map<string, RrsetModel>()
  const services = new Map<string, Declared>()
  for (const one of inZones) {
    const { name, kind, ttl } = one
    if (aliases.has(name) ? kind !== 'cname' : isApex(name) && /^(?:cname|ns)/.test(kind)) continue
    if (kind === 'service') {
      services.set(name, services.get(name) ?? one)
      continue
    }
    const [type, rdata] = kinds[kind]
    const isOneAlone = type === RrType.CNAME || type === RrType.DNAME
    const key = `${name} ${type}`
    const known = rrsets.get(key)
    const others = known?.rdata ?? []
    const isKnown = others.some((other) => Buffer.compare(foldedOf(other), foldedOf(rdata)) === 0)
    if (known !== undefined && (isKnown || isOneAlone)) continue
    const all = [...others, rdata].toSorted((x, y) => Buffer.compare(x, y))
    const zoneRow = order.indexOf(zoneOf(name))
    rrsets.set(key, { name, zone: zoneRow, type, ttlSeconds: known?.ttlSeconds ?? ttl, rdata: all })
  }
  const isAddress = ({ type }: RrsetModel): boolean => type === RrType.A || type === RrType.AAAA
  return {
    ...bareModel,
    routing: { ...bareModel.routing, zoneDigests: digests },
    zones: order.map((name) => ({
      ...zone(name, { soa: { ...soa, refreshSeconds: refresh, serialBase } }),
      nameservers: [
        { name: `ns.${name}`, addresses: [`192.0.2.5${servers}`] },
        { name: servers === 1 ? 'ns.example.net.' : 'ns.b.a.test.', addresses: [] },
      ],
    })),
    pools: pools.map((one, i) => poolOf(i + 1, one)),
    services: [...services.values()].map(({ name, ttl, pool: at }, i) =>
      service(i + 1, name, { zone: order.indexOf(zoneOf(name)), ttlSeconds: ttl, pool: at }),
    ),
    rrsets: [...rrsets.values()].filter(
      (rrset) => !(isAddress(rrset) && (services.has(rrset.name) || rrset.name.startsWith('ns.'))),
    ),
  }
}

const foldedOf = (rdata: Uint8Array): Buffer =>
  Buffer.from(Buffer.from(rdata).toString('latin1').toLowerCase(), 'latin1')

/** The third answers aliases of host names. */
function poolOf(number: number, given: Members): PoolModel {
  const isAlias = number === 3
  return pool(
    number,
    given.map(({ last, isOn: enabled }) =>
      isAlias
        ? member('', { hostname: `h${last}.example.net.`, enabled })
        : member(`192.0.2.${last}`, { enabled }),
    ),
    isAlias ? { answer: 'cname' } : {},
  )
}

/** A node's transfers, with a bundle whose memory is written over by the next one. */
class Node {
  readonly #history: TransferHistory
  readonly #sources: ZoneSources
  readonly #transfers: Transfers
  #view: ServingView | undefined

  constructor(zonemd: boolean, changesMax: number) {
    const catalog = wireName('catalog.')
    const now = (): number => 0
    this.#history = new TransferHistory(now, { ...historyLimits, changesMax }, catalog)
    this.#sources = new ZoneSources(transferLimits, this.#history)
    const settings = { enabled: true, requireTsig: false, allow: [], catalog, zonemd }
    this.#transfers = new Transfers(settings, now, { history: this.#history })
  }

  serve(world: World, serial: number): void {
    const bundle = bundleOf(modelOf(world))
    const { handed } = encodeWritten(writtenNames(world.texts), bundle)
    const dynamic = handed === null ? undefined : adoptBundle(handed.bytes, handed.digest)
    const state = { soaSerial: Uint32Array.of(serial) }
    const view = { bundle, dynamic, state } as unknown as ServingView
    const before = this.#view
    this.#view = view
    this.#sources.adopt(view)
    before?.bundle.bytes.fill(0xff)
    before?.dynamic?.bytes.fill(0xff)
  }

  raise(serial: number): void {
    this.#view!.state.soaSerial[0] = serial
  }

  has(apex: string): boolean {
    return apex === 'catalog.' || this.#zoneOf(apex) >= 0
  }

  #zoneOf(apex: string): number {
    return zoneNames(this.#view!.bundle).findIndex((name) => formatName(name) === apex)
  }

  /** @param have -1: the whole zone */
  transfer(client: number, apex: string, have: number): readonly Message[] {
    const authority = have < 0 ? [] : [a(`${apex} 0 IN SOA . . ${have} 0 0 0 0`)]
    const message = query(`${apex} ${have < 0 ? 'AXFR' : 'IXFR'}`, { authority })
    const questionEnd = query(`${apex} AXFR`).length
    const running = this.#transfers.start(this.#sources.current(), {
      ...{ message, questionEnd, qclass: 1, isTcp: true, key: null, opt: new Uint8Array(0) },
      qtype: have < 0 ? RrType.AXFR : RrType.IXFR,
      zone: this.#zoneOf(apex),
      client: Uint8Array.of(192, 0, 2, client),
    })
    if (typeof running === 'number') throw new Error(`rcode ${running}`)
    const into = new Uint8Array(65_535)
    const messages: Message[] = []
    for (let length; (length = running.write(into, into.length)) !== 0;) {
      if (length > 0) messages.push(decodeMessage(Buffer.from(into.slice(0, length))))
      else if (length === -1) throw new Error('cut off')
    }
    running.end()
    return messages
  }
}

const stranger = 200

test('a secondary that follows changes has what a whole transfer shows', () => {
  const forms: Record<TransferForm, number> = { soa: 0, whole: 0, changes: 0 }
  fc.assert(
    fc.property(
      fc.array(record, { maxLength: 8 }),
      fc.array(written, { maxLength: 3 }),
      fc.array(turn, { minLength: 2, maxLength: 12 }),
      fc.boolean(),
      fc.constantFrom(0, 2, 1_000),
      (records, texts, turns, zonemd, changesMax) => {
        const node = new Node(zonemd, changesMax)
        const world: World = {
          ...{ zones: new Set(['test.', 'a.test.']), refresh: 1, servers: 1, serialBase: 0 },
          ...{ records: [...records], texts: [...texts], digests: {} },
          pools: [1, 2, 3].map((last) => [{ last, isOn: true }]),
        }
        const copies = new Map<string, ZoneCopy>()
        let serial = 2 ** 32 - 4
        for (const { steps, isLate, isLooking, looks } of turns) {
          for (const one of steps) happen(world, one)
          node.serve(world, isLate ? serial : (serial = (serial + 1) >>> 0))
          const all = isLooking ? apexes.map((apex) => [0, apex] as const) : []
          for (const [client, apex] of [...all, ...looks]) {
            if (!node.has(apex)) continue
            const key = `${client} ${apex}`
            const copy = copies.get(key) ?? new ZoneCopy()
            copies.set(key, copy)
            const form = copy.take(node.transfer(client, apex, copy.serial))
            forms[form]++
            if (form === 'soa') continue
            const whole = new ZoneCopy()
            whole.take(node.transfer(stranger, apex, -1))
            expect([...copy.lines].sort()).toEqual([...whole.lines].sort())
          }
          if (isLate) node.raise((serial = (serial + 1) >>> 0))
        }
      },
    ),
    { numRuns: laneCount(3_000, 200) },
  )
  expect(forms.changes).toBeGreaterThan(laneCount(300, 30))
})
