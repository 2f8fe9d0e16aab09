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
/** For what is just made, more than other threads have: 48 made a first commit no faster. */
const youngMb = 12

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
  return { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb }
}
