// Returns memory to the system that V8 and the C library would otherwise keep.
import { setSemiSpace } from '#lib/memory/semi-space.ts'
import { shrinkHeap } from '#lib/memory/exposed-collector.ts'
import { openLibc } from '#system/sockets/libc.ts'

let trim: ((pad: number) => number) | undefined

/**
 * Collects all garbage of this thread, shrinks its heap, and returns free pages of the process;
 * this takes some tens of milliseconds of this thread. An idle thread does not collect by itself,
 * and the garbage after a change of bundle is as large as bundles are.
 * @param code `keep`: compiled code stays
 */
export function releaseMemory(code: 'keep' | 'drop'): void {
  shrinkHeap(code)
  trimMemory()
}

/** Returns free pages of the C library to the system: about a millisecond, without a collection. */
export function trimMemory(): void {
  trim ??= boundTrim()
  trim(0)
}

/**
 * Keeps the heaps of threads small that start from now on: the young generation has 1 MiB in place
 * of the 2 MiB of bin/gslbd. For threads that make few short-lived objects.
 */
export function keepThreadsSmall(): void {
  setSemiSpace(1)
}

/** malloc_trim(3) of glibc; other C libraries give pages back by themselves, or cannot. */
function boundTrim(): (pad: number) => number {
  try {
    return openLibc().bindTo('int malloc_trim(size_t)')
  } catch {
    return () => 0
  }
}
