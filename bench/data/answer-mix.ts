// The kinds of queries in benchmarks of the answer path, and a loop that answers them without a
// socket.
import { loadBundle } from '#bundle/load/load.ts'
import { encodeBundle } from '#bundle/encode/encode.ts'
import type { BundleModel, ResponseRuleModel } from '#bundle/format/model.ts'
import { RrType } from '#dns/rrtype.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { RateLimiter } from '#answer/rate-limit/limiter.ts'
import { createRateMemory } from '#answer/rate-limit/rate-memory.ts'
import { createMachineClock } from '#lib/clock.ts'
import { Transaction } from '#answer/transaction.ts'
import { createServingView } from '#answer/serving-view.ts'
import type { Generation } from '#answer/serving-view.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { benchModel } from './encode-bundle.ts'
import { encodeQuery } from './query-wire.ts'
import { rateLimitSettings } from './rate-limit.ts'
import { staticZoneModel } from './static-zone.ts'

interface QueryKind {
  readonly name: string
  readonly query: Uint8Array
}

const zone = 'gslb.example.com'

/** Services 0, 3, 6 … are round robin, 1, 4, 7 … weighted, 2, 5, 8 … failover. */
export const queryKinds: readonly QueryKind[] = Object.freeze([
  { name: 'round robin', query: encodeQuery(`svc0.${zone}`) },
  { name: 'weighted', query: encodeQuery(`svc1.${zone}`) },
  { name: 'failover', query: encodeQuery(`svc2.${zone}`) },
  { name: 'mixed case', query: encodeQuery(`SvC3.gSlB.eXaMpLe.CoM`) },
  { name: 'EDNS', query: encodeQuery(`svc3.${zone}`, { edns: 'plain' }) },
  { name: 'EDNS with client subnet', query: encodeQuery(`svc4.${zone}`, { edns: 'ecs' }) },
  { name: 'no data (AAAA)', query: encodeQuery(`svc0.${zone}`, { type: RrType.AAAA }) },
  { name: 'no such name', query: encodeQuery(`none.${zone}`) },
  { name: 'NS of the zone', query: encodeQuery(zone, { type: RrType.NS }) },
  { name: 'SOA of the zone', query: encodeQuery(zone, { type: RrType.SOA }) },
  { name: 'name server address', query: encodeQuery(`ns1.${zone}`) },
  { name: 'ANY', query: encodeQuery(`svc0.${zone}`, { type: 255 }) },
  { name: 'outside every zone', query: encodeQuery('www.example.net', { edns: 'plain' }) },
  { name: 'CHAOS version.bind', query: encodeQuery('version.bind', { type: 16, class: 3 }) },
  { name: 'half a header', query: Buffer.alloc(7) },
])

/** Queries for `benchGeneration(responseRuleCount)`. */
export const responseRuleCount = 100_000
export const ruleQueryKinds: readonly QueryKind[] = Object.freeze([
  { name: 'round robin, beside 100,000 response rules', query: encodeQuery(`svc0.${zone}`) },
  { name: 'exact rule: no such name', query: encodeQuery('h0.feed.example') },
  { name: 'domain rule: no such name', query: encodeQuery('a.b.h1.feed.example') },
  { name: 'domain rule: an alias', query: encodeQuery('a.b.h3.feed.example', { edns: 'plain' }) },
])

/** Queries for `staticGeneration()`. */
export const staticQueryKinds: readonly QueryKind[] = Object.freeze([
  { name: 'static: MX', query: encodeQuery(`svc0.${zone}`, { type: RrType.MX }) },
  { name: 'static: TXT', query: encodeQuery(`svc0.${zone}`, { type: RrType.TXT, edns: 'plain' }) },
  { name: 'static: two aliases to an address', query: encodeQuery(`www.${zone}`) },
  { name: 'static: an alias of a wildcard', query: encodeQuery(`a.b.wild.${zone}`) },
  { name: 'static: below a DNAME', query: encodeQuery(`svc0.moved.${zone}`) },
  { name: 'static: referral with glue', query: encodeQuery(`www.child.${zone}`) },
  { name: 'static: no such name', query: encodeQuery(`none.${zone}`) },
])

/** Alternates exact and domain rules, with aliases among them. */
function responseRules(count: number): ResponseRuleModel[] {
  return Array.from({ length: count }, (_, i) => {
    const isAlias = i % 4 === 3
    return {
      uid: `00000000-0000-4000-9000-${i.toString(16).padStart(12, '0')}`,
      triggerType: i % 2 === 0 ? 'exact' : 'domain',
      trigger: `h${i}.feed.example.`,
      action: isAlias ? 'cname' : 'nxdomain',
      target: isAlias ? 'blocked.example.net.' : '',
      signed: false,
      source: 'feed',
    }
  })
}

/** A bundle of 1,000 services and its state, as a thread receives them. */
export function benchGeneration(rules = 0): Generation {
  const services = benchModel({ services: 1_000, pools: 1_000, algorithm: 'mixed' })
  return generationOf({ ...services, responseRules: responseRules(rules) })
}

/**
 * Like `benchGeneration`, for a zone of static records with an alias, a wildcard, a DNAME and a
 * cut.
 */
export function staticGeneration(): Generation {
  return generationOf(
    staticZoneModel(1_000, [
      ['www', 'CNAME', 'alias0'],
      ['*.wild', 'CNAME', 'svc0'],
      ['moved', 'DNAME', '@'],
      ['child', 'NS', 'ns.child'],
      ['ns.child', 'A', '192.0.2.53'],
    ]),
  )
}

function generationOf(model: BundleModel): Generation {
  const { bytes, digest } = encodeBundle(model, plainCodeOf)
  const bundle = loadBundle(bytes)
  if (!bundle.ok) throw new Error(bundle.error.message)
  const routing = createRoutingState(bundle.value, 1).buffers
  return { number: 1, bundle: bytes, digest, routing, tables: noRoutingTables }
}

const v4Bytes = 4
/** Queries per batch under load, as system/sockets/udp-batch.ts has them. */
const batchQueries = 24

/** A limiter as its thread has it, and clients taking turns. */
interface LimitedClients {
  /** null: nothing is limited. */
  readonly limiter: RateLimiter | null
  /** Number of client networks. */
  readonly networks: number
}

/**
 * @param networks number of client networks
 * @param perSecond answers of each class to each network
 */
export function limitedClients(
  networks: number,
  perSecond: number,
  slip = 2,
  windowMs = 1_000,
): LimitedClients {
  const nowMs = createMachineClock()
  const settings = rateLimitSettings(perSecond, slip, windowMs)
  const memory = createRateMemory(settings, 1, 1, nowMs())
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  return { limiter: new RateLimiter(memory, 0, 1, counters, nowMs), networks }
}

/** A responder thread without its socket. */
export class AnswerLoop {
  readonly #tx: Transaction
  /** Query and reply are the same octets, as in a batch. */
  readonly #slot = new Uint8Array(2_048)
  /** Addresses of clients, concatenated. */
  readonly #clients: Uint8Array
  #client = 0

  constructor(generation: Generation, seed: number, limited: LimitedClients | null = null) {
    const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 10_000 }
    this.#tx = new Transaction(settings, seed, new Counters(new SharedArrayBuffer(Counters.bytes)))
    this.#tx.limiter = limited?.limiter ?? null
    this.#tx.adopt(createServingView(generation))
    const clients = limited?.networks ?? 1
    this.#clients = new Uint8Array(clients * v4Bytes)
    for (let i = 0; i < clients; i++) this.#clients.set([10 + (i >> 16), i >> 8, i], i * v4Bytes)
    this.#tx.source = this.#clients
  }

  /** @param limiter null: nothing is limited */
  limitBy(limiter: RateLimiter | null): void {
    this.#tx.limiter = limiter
  }

  /** @returns octets of all replies */
  run(query: Uint8Array, times: number): number {
    const slot = this.#slot
    const tx = this.#tx
    let octets = 0
    for (let i = 0; i < times; i++) {
      if (i % batchQueries === 0 && tx.limiter !== null) tx.limiter.startBatch()
      this.#client += v4Bytes
      if (this.#client >= this.#clients.length) this.#client = 0
      tx.sourceAt = this.#client
      for (let at = 0; at < query.length; at++) slot[at] = query[at]!
      octets += answer(tx, slot, 0, query.length, slot, 0, slot.length)
    }
    return octets
  }
}
