// Gives memory back to the system that V8 and the C library would keep until they need some.
import { setSemiSpace } from '#lib/memory/semi-space.ts'
import { shrinkHeap } from '#lib/memory/exposed-collector.ts'
import { openLibc } from '#system/sockets/libc.ts'

let trim: ((pad: number) => number) | undefined

/**
 * Collects all garbage of this thread, makes its heap small, and gives free pages of the process
 * back: some tens of milliseconds of this thread. An idle thread does not do it by itself, and what
 * a change of bundle leaves behind is as large as bundles are.
 *
 * @param code `keep`: what is compiled stays
 */
export function releaseMemory(code: 'keep' | 'drop'): void {
  shrinkHeap(code)
  trimMemory()
}

/** Gives back the pages that are free in the C library: about a millisecond, and no collection. */
export function trimMemory(): void {
  trim ??= boundTrim()
  trim(0)
}

/**
 * Keeps the heaps of threads small that start from now on: objects that live for a short time have
 * 1 MiB in the place of the 2 of bin/gslbd. For threads that make few of them.
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
