// Counts what a hot function puts on the heap.
import { setFlagsFromString } from 'node:v8'

// V8 compiles hot code on background threads. On a busy machine they come late, and unoptimised
// code boxes numbers above 2^31: here this thread compiles at once.
setFlagsFromString('--no-concurrent-recompilation')

/**
 * The median over windows without a collection, after the engine has settled.
 *
 * @param repeat does the same `times` times
 * @param times repetitions in one window
 * @returns octets for each repetition
 */
export function allocatedBytesPerCall(repeat: (times: number) => void, times: number): number {
  const growth = new Float64Array(41)
  for (let window = 0; window < growth.length; window++) {
    const before = process.memoryUsage().heapUsed
    repeat(times)
    growth[window] = process.memoryUsage().heapUsed - before
  }
  const settled = growth.slice(20).sort()
  // A window without calls measures what the measurement itself allocates.
  const own = new Float64Array(21).map(() => {
    const before = process.memoryUsage().heapUsed
    return process.memoryUsage().heapUsed - before
  })
  return (settled[10]! - own.sort()[10]!) / times
}
