// The shared memory of rate limits: what the settings say, reports of threads, and the buckets.
import { bucketBytes, bucketCountFor, BucketTable } from './bucket-table.ts'
import { answerClassNames } from './limits.ts'
import type { RateLimitRates, RateLimitSettings } from './limits.ts'

const classes = answerClassNames.length

/** Cells at the start, which the main thread writes and all threads read. */
export const RateCell = {
  Slip: 0,
  IsDryRun: 1,
  /** Unlike in any other process: nobody can choose names that share a bucket. */
  Seed: 2,
  /** By class, two cells: what an answer costs (0: it is not limited), and what a bucket has. */
  Class: 3,
  CostMicros: 0,
  WindowMicros: 1,
  ClassWords: 2,
} as const

/** Cells of a report. A thread writes it where `IsThere` is 0, and the main thread takes it. */
export const ReportCell = {
  IsThere: 0,
  Class: 1,
  Action: 2,
  IsIpv6: 3,
  Network: 4,
  Words: 8,
} as const

const lineBytes = 64
const headBytes = alignUp((RateCell.Class + classes * RateCell.ClassWords) * 4)
/** A line for each thread: none waits for the line of another. */
const reportBytes = lineBytes

/** Plain data that threads are started with. */
export interface RateMemory {
  readonly shared: SharedArrayBuffer
  readonly threads: number
  readonly buckets: number
  readonly ipv4Bits: number
  readonly ipv6Bits: number
  readonly exempt: readonly string[]
}

/**
 * @param threads that answer
 * @param nowMs of a machine clock (lib/clock.ts)
 */
export function createRateMemory(
  settings: RateLimitSettings,
  threads: number,
  seed: number,
  nowMs: number,
): RateMemory {
  const { ipv4Bits, ipv6Bits, exempt } = settings
  const buckets = bucketCountFor(settings.buckets)
  const shared = new SharedArrayBuffer(tableOffset(threads) + buckets * bucketBytes)
  const memory = { shared, threads, buckets, ipv4Bits, ipv6Bits, exempt }
  headOf(memory)[RateCell.Seed] = seed | 0
  setRates(memory, settings.rates)
  tableOf(memory).fill(microsOf(nowMs))
  return memory
}

/** Holds from the next batch of each thread on. */
export function setRates(memory: RateMemory, rates: RateLimitRates): void {
  const head = headOf(memory)
  for (const [i, name] of answerClassNames.entries()) {
    const perSecond = rates.perSecond[name]
    const row = RateCell.Class + i * RateCell.ClassWords
    // Rounded up, so that no more than that many go out.
    const costMicros = perSecond === 0 ? 0 : Math.ceil(1_000_000 / perSecond)
    const burst = Math.floor((perSecond * rates.windowMs) / 1_000)
    Atomics.store(head, row + RateCell.WindowMicros, burst * costMicros)
    Atomics.store(head, row + RateCell.CostMicros, costMicros)
  }
  Atomics.store(head, RateCell.Slip, rates.slip)
  Atomics.store(head, RateCell.IsDryRun, rates.isDryRun ? 1 : 0)
}

export function headOf({ shared }: RateMemory): Int32Array {
  return new Int32Array(shared, 0, headBytes / 4)
}

/** The report of one thread. */
export function reportOf({ shared }: RateMemory, thread: number): Int32Array {
  return new Int32Array(shared, headBytes + thread * reportBytes, ReportCell.Words)
}

export function tableOf({ shared, threads, buckets }: RateMemory): BucketTable {
  return new BucketTable(shared, tableOffset(threads), buckets)
}

/** The low 32 bits. */
export function microsOf(nowMs: number): number {
  return Math.floor(nowMs * 1_000) | 0
}

function tableOffset(threads: number): number {
  return headBytes + threads * reportBytes
}

function alignUp(bytes: number): number {
  return Math.ceil(bytes / lineBytes) * lineBytes
}
