// Decides the memory limit of the compiling thread: one commit must not end the process.
import { totalmem } from 'node:os'
import type { ResourceLimits } from 'node:worker_threads'

const mebibyte = 2 ** 20
/** Share of the memory for its heap; the rest is for other threads and outside of heaps. */
const share = 0.4
/** The smallest heap: Node and the compiler themselves take half of it. */
const leastMb = 64
/** The largest heap: Node's own default on a large machine. */
const mostMb = 4_096
/**
 * Size of a semi-space; other threads have 1 MiB. Most objects of a write live as long as the
 * write. With 1 a write costs a tenth more CPU than with 4; 8 saves hardly more.
 */
export const semiSpaceMb = 4

/**
 * The limit of the old generation of the thread's heap.
 *
 * @param constrainedBytes limit of the cgroup; 0, or more than the machine has: there is none
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
  // V8 counts three semi-spaces, where no flag says otherwise.
  return { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: semiSpaceMb * 3 }
}
