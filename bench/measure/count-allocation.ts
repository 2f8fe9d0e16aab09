// Counts the octets that a function allocates, and its CPU time: in a process with a young
// generation so large that no collection hides allocations.
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface Allocated {
  readonly name: string
  readonly operations: number
  readonly bytes: number
  readonly nanosEach: number
  /** Collections of the young generation during the measurement. */
  readonly collections: number
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
const collectYoung = (): void => collect({ type: 'minor' })

let collections = 0
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { kind } = (entry as unknown as { detail: { kind: number } }).detail
    if (kind === constants.NODE_PERFORMANCE_GC_MINOR) collections++
  }
}).observe({ entryTypes: ['gc'] })

/** Passes of each measurement; the least counts, since the others may include the compiler. */
const passes = 3

/**
 * Runs once and then twice as often: the difference excludes what the measurement itself allocates.
 */
export async function measure(
  name: string,
  operations: number,
  run: (times: number) => void,
): Promise<Allocated> {
  for (let i = 0; i < 4; i++) run(Math.ceil(operations / 10))
  const once = await leastOf(operations, run)
  const twice = await leastOf(operations * 2, run)
  return {
    name,
    operations,
    bytes: twice.bytes - once.bytes,
    nanosEach: (twice.nanos - once.nanos) / operations,
    collections: once.collections + twice.collections,
  }
}

interface Pass {
  readonly bytes: number
  readonly nanos: number
  readonly collections: number
}

async function leastOf(times: number, run: (times: number) => void): Promise<Pass> {
  const taken: Pass[] = []
  for (let pass = 0; pass < passes; pass++) taken.push(await runOnce(times, run))
  return {
    bytes: Math.min(...taken.map(({ bytes }) => bytes)),
    nanos: Math.min(...taken.map(({ nanos }) => nanos)),
    collections: taken.reduce((sum, { collections }) => sum + collections, 0),
  }
}

/** Without a collection the heap grows by exactly what is allocated. */
async function runOnce(times: number, run: (times: number) => void): Promise<Pass> {
  collectYoung()
  // Lets the compiler's threads finish and the observer see collections.
  await sleep(30)
  const collectionsBefore = collections
  const before = heapBytes()
  const cpu = process.threadCpuUsage()
  run(times)
  const { user, system } = process.threadCpuUsage(cpu)
  const bytes = heapBytes() - before
  await sleep(30)
  const nanos = (user + system) * 1_000
  return { bytes, nanos, collections: collections - collectionsBefore }
}

const heapBytes = (): number => getHeapStatistics().used_heap_size
