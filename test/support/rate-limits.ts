// The answer path with a rate limiter, on a clock that a test moves.
import type { BundleModel } from '#bundle/format/model.ts'
import { parseAddress } from '#dns/address.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { RateLimiter } from '#answer/rate-limit/limiter.ts'
import { answerClassNames } from '#answer/rate-limit/limits.ts'
import type { AnswerClassName, RateLimitRates } from '#answer/rate-limit/limits.ts'
import type { RateLimitSettings } from '#answer/rate-limit/limits.ts'
import { createRateMemory } from '#answer/rate-limit/rate-memory.ts'
import type { RateMemory } from '#answer/rate-limit/rate-memory.ts'
import { createServingView } from '#answer/serving-view.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import { Transaction } from '#answer/transaction.ts'
import type { AnswerSettings } from '#answer/transaction.ts'
import { bundleOf } from './bundle-models.ts'
import { decodeMessage, query } from './dns/message.ts'
import type { Message, QueryParts } from './dns/message.ts'

/** Equal rates for all classes except the named ones; `all` is off. */
export function rates(
  perSecond: number,
  { classes = {}, ...parts }: Partial<RateLimitRates> & { classes?: Classes } = {},
): RateLimitRates {
  const all = Object.fromEntries(answerClassNames.map((name) => [name, perSecond]))
  return {
    perSecond: { ...all, all: 0, ...classes } as RateLimitRates['perSecond'],
    ...{ windowMs: 1_000, slip: 0, isDryRun: false, ...parts },
  }
}
type Classes = Partial<Record<AnswerClassName, number>>

export function rateSettings(parts: Partial<RateLimitSettings> = {}): RateLimitSettings {
  return { rates: rates(5), ipv4Bits: 24, ipv6Bits: 56, buckets: 1_024, exempt: [], ...parts }
}

export interface LimitedPath {
  readonly memory: RateMemory
  readonly counters: Counters
  readonly tx: Transaction
  readonly pass: (ms: number) => void
  /** undefined: no reply is sent. */
  readonly ask: (question: string, client?: string, parts?: QueryParts) => Message | undefined
  /** Number of queries, out of `times`, with a whole reply. */
  readonly count: (times: number, question: string, client?: string, parts?: QueryParts) => number
  /** `class action: count` of limited answers. */
  readonly limited: () => string[]
}

export interface PathParts {
  readonly model: Partial<BundleModel>
  readonly limits?: Partial<RateLimitSettings>
  readonly settings?: Partial<AnswerSettings>
  readonly dynamic?: HandedBundle
  readonly startMs?: number
}

export function limitedPath(parts: PathParts): LimitedPath {
  let nowMs = parts.startMs ?? 1_000_000
  const memory = createRateMemory(rateSettings(parts.limits), 1, 7, nowMs)
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const tx = new Transaction({ ...plainSettings, ...parts.settings }, 1, counters)
  const limiter = new RateLimiter(memory, 0, 1, counters, () => nowMs)
  tx.limiter = limiter
  const bundle = bundleOf(parts.model)
  const { bytes, digest } = bundle
  const routing = createRoutingState(bundle, 1).buffers
  const view = { number: 1, bundle: bytes, digest, routing, tables: noRoutingTables }
  tx.adopt(createServingView({ ...view, dynamic: parts.dynamic ?? null }))
  const reply = new Uint8Array(65_535)
  const ask: LimitedPath['ask'] = (question, client = '192.0.2.1', more = {}) => {
    const address = parseAddress(client)
    if (!address.ok) throw new Error(client)
    tx.source = address.value
    tx.sourceBytes = address.value.length
    limiter.startBatch()
    const octets = query(question, more)
    const length = answer(tx, octets, 0, octets.length, reply, 0, reply.length)
    return length === 0 ? undefined : decodeMessage(Buffer.from(reply.subarray(0, length)))
  }
  return {
    ...{ memory, counters, tx, ask },
    pass: (ms) => void (nowMs += ms),
    count: (times, ...asked) =>
      Array.from({ length: times }, () => ask(...asked)).filter((one) => one?.tc === false).length,
    limited: () =>
      counters
        .snapshot()
        .rateLimited.filter(({ count }) => count > 0)
        .map(({ class: name, action, count }) => `${name} ${action}: ${count}`),
  }
}

const plainSettings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }
