// Measures what a rate limit costs an answer: the same answers with and without it, in turns,
// without a socket; and what memory alone costs the look at a bucket.
// Run by the benchmark `rrl`; prints JSON.
import { bucketBytes, bucketCountFor } from '#answer/rate-limit/bucket-table.ts'
import type { RateLimiter } from '#answer/rate-limit/limiter.ts'
import { mixWord } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { inlineMore } from '#server/threads/responder.ts'
import { AnswerLoop, benchGeneration, limitedClients } from '../data/answer-mix.ts'
import { encodeQuery } from '../data/query-wire.ts'
import { tableBuckets } from '../data/rate-limit.ts'

/** How much of the bucket of each network is left. */
type Buckets = 'all' | 'a part'

export interface RateLimitCost {
  readonly question: string
  readonly networks: number
  readonly buckets: Buckets
  /** Nanoseconds of one answer, least of the rounds. */
  readonly unlimited: number
  readonly limited: number
}

/** Nanoseconds of a look at a random line of so many octets, which the next look waits for. */
export interface LookCost {
  readonly tableBytes: number
  readonly read: number
  /** Read, then changed by compare and exchange. */
  readonly changed: number
}

export interface RateLimitResult {
  readonly answers: readonly RateLimitCost[]
  readonly looks: readonly LookCost[]
}

const zone = 'gslb.example.com'
const questions = [
  ['address', encodeQuery(`svc0.${zone}`)],
  ['no such type', encodeQuery(`svc0.${zone}`, { type: RrType.AAAA })],
  ['no such name', encodeQuery(`none.${zone}`)],
] as const

/** The longest. */
const windowSeconds = 60
/** What each network asks for in advance. */
const usedSeconds = 1

/** All is answered. */
function perSecondOf(networks: number, buckets: Buckets): number {
  // The networks together ask more than 100,000 times a second.
  return buckets === 'all' ? 10_000 : Math.max(1, Math.floor(100_000 / networks))
}

const isQuick = process.argv.includes('--quick')
const networkCounts = isQuick ? [1_000] : [1_000, 30_000, 300_000]
/** A spell takes a quarter of a millisecond: on a busy machine most are not interrupted. */
const [rounds, times] = isQuick ? [80, 600] : [2_400, 600]
const warmUpTimes = 30_000

inlineMore()

function nanosOf(run: () => unknown, operations: number): number {
  const startedMs = performance.now()
  run()
  return ((performance.now() - startedMs) * 1e6) / operations
}

function answers(networks: number, buckets: Buckets): RateLimitCost[] {
  const perSecond = perSecondOf(networks, buckets)
  const windowMs = buckets === 'all' ? 1_000 : windowSeconds * 1_000
  const clients = limitedClients(networks, perSecond, 2, windowMs)
  const limiters = [null, clients.limiter]
  // One for both: another transaction would lie elsewhere in memory.
  const loop = new AnswerLoop(benchGeneration(), 1, clients)
  const spell = (limiter: RateLimiter | null, query: Uint8Array, count: number): number => {
    loop.limitBy(limiter)
    return nanosOf(() => loop.run(query, count), count)
  }
  for (let i = 0; i < 5; i++) {
    for (const [, query] of questions) for (const one of limiters) spell(one, query, warmUpTimes)
  }
  return questions.map(([question, query]) => {
    if (buckets !== 'all') spell(clients.limiter, query, networks * perSecond * usedSeconds)
    const least = [Infinity, Infinity]
    for (let round = 0; round < rounds; round++) {
      for (const [i, limiter] of limiters.entries())
        least[i] = Math.min(least[i]!, spell(limiter, query, times))
    }
    return { question, networks, buckets, unlimited: least[0]!, limited: least[1]! }
  })
}

const lineCells = 16

/** Each place follows from what was read at the one before. */
function look(cells: Int32Array, count: number, isChanged: boolean): number {
  const mask = cells.length / lineCells - 1
  let hash = 1
  for (let i = 0; i < count; i++) {
    const at = ((hash ^ (hash >>> 16)) & mask) * lineCells
    const found = cells[at]!
    if (isChanged) Atomics.compareExchange(cells, at, found, found + 1)
    hash = mixWord(hash, found + i)
  }
  return hash
}

function looks(tableBytes: number): LookCost {
  const cells = new Int32Array(new SharedArrayBuffer(tableBytes))
  // A page that was never written is one of zeros, the same for all.
  for (let at = 0; at < cells.length; at += lineCells) cells[at] = at
  const least = [Infinity, Infinity]
  for (let round = -2; round < rounds; round++) {
    for (const i of [0, 1]) {
      const nanos = nanosOf(() => look(cells, times, i === 1), times)
      if (round >= 0) least[i] = Math.min(least[i]!, nanos)
    }
  }
  return { tableBytes, read: least[0]!, changed: least[1]! }
}

const table = bucketCountFor(tableBuckets) * bucketBytes
const result: RateLimitResult = {
  answers: (['all', 'a part'] as const).flatMap((buckets) =>
    networkCounts.flatMap((networks) => answers(networks, buckets)),
  ),
  looks: [16_384, table, table * 64].map(looks),
}
process.stdout.write(`${JSON.stringify(result)}\n`)
