// Counts what a hot function puts on the heap.
import { setFlagsFromString } from 'node:v8'

// V8 compiles hot code on threads of its own. On a busy machine they come late, and the code of
// before makes objects of numbers above 2^31: here it is compiled at once, by this thread.
setFlagsFromString('--no-concurrent-recompilation')

/**
 * The median over windows without a collection, after the engine has settled.
 *
 * @param repeat does the same `times` times
 * @param times of one window
 * @returns octets for each time
 */
export function allocatedBytesPerCall(repeat: (times: number) => void, times: number): number {
  const growth = new Float64Array(41)
  for (let window = 0; window < growth.length; window++) {
    const before = process.memoryUsage().heapUsed
    repeat(times)
    growth[window] = process.memoryUsage().heapUsed - before
  }
  const settled = growth.slice(20).sort()
  // What the measurement itself allocates is the same for a window of no calls.
  const own = new Float64Array(21).map(() => {
    const before = process.memoryUsage().heapUsed
    return process.memoryUsage().heapUsed - before
  })
  return (settled[10]! - own.sort()[10]!) / times
}
