// The memory limit of the compiler thread: one commit must not end the process.
import { totalmem } from 'node:os'
import type { ResourceLimits } from 'node:worker_threads'

const mebibyte = 2 ** 20
/** The rest is for what answers, and for what the thread has outside its heap. */
const share = 0.4
/** Node and the compiler themselves take half of it. */
const leastMb = 64
/** What Node itself would give on a large machine. */
const mostMb = 4_096
/**
 * For what is just made: other threads have 1. A write makes much that lives as long as it does,
 * and with 1 costs a tenth more CPU than with 4; with 8 it costs hardly less than with 4.
 */
export const semiSpaceMb = 4

/**
 * For the old generation of the thread's heap.
 *
 * @param constrainedBytes of the container, as its cgroup says; 0 or more than there is: no limit
 */
export function compilerHeapMb(
  constrainedBytes = process.constrainedMemory(),
  totalBytes = totalmem(),
): number {
  const isLimited = constrainedBytes > 0 && constrainedBytes < totalBytes
  const bytes = isLimited ? constrainedBytes : totalBytes
  const wanted = Math.floor((bytes / mebibyte) * share)
  return Math.min(mostMb, Math.max(leastMb, wanted))
}

export function resourceLimitsOf(heapMb: number): ResourceLimits {
  // Three of them, as V8 counts: where no flag says other.
  return { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: semiSpaceMb * 3 }
}
