// Returns memory to the system that V8, the C library and the start would otherwise keep.
import { fileText } from '#lib/text/file-text.ts'
import { setSemiSpace } from '#lib/memory/semi-space.ts'
import { shrinkHeap } from '#lib/memory/exposed-collector.ts'
import { openLibc } from '#system/sockets/libc.ts'

interface PageCalls {
  /** Returns pages of this process. They come back from their file, or as zeros without one. */
  readonly release: (address: number | bigint, bytes: number) => void
  readonly addressOf: (octets: Uint8Array) => bigint
}

let trim: ((pad: number) => number) | undefined
let pageCalls: PageCalls | null = null

/**
 * Collects all garbage of this thread, shrinks its heap, and returns free pages of the process;
 * this takes some tens of milliseconds of this thread. An idle thread does not collect by itself,
 * and the garbage after a change of bundle is as large as bundles are.
 *
 * @param code `keep`: compiled code stays
 */
export function releaseMemory(code: 'keep' | 'drop'): void {
  shrinkHeap(code)
  trimMemory()
  releaseFilePages()
}

/** Returns free pages of the C library to the system: about a millisecond, without a collection. */
export function trimMemory(): void {
  trim ??= boundTrim()
  trim(0)
}

/** A mapping of a file that is only read, and of which no page was ever written; and its file. */
const cleanMapping =
  /^([0-9a-f]+)-([0-9a-f]+) r-[-x]p .*? (\/.*)\n(?:[A-Z].*\n)*?Anonymous: +0 kB$/gm
const library = /\.so[.\d]*$/

/**
 * Takes the pages of the program and of libraries out of this process: a start reads much that is
 * not needed later. What is needed comes back from the cache of the system, or from the disk where
 * a machine short of memory has dropped it there.
 */
export function releaseFilePages(): void {
  pageCalls ??= boundPageCalls()
  if (pageCalls === null) return
  for (const { address, bytes } of lastingMappings(mappings(), process.execPath)) {
    pageCalls.release(address, bytes)
  }
}

interface Mapping {
  readonly address: number
  readonly bytes: number
}

/**
 * Lists the mappings whose pages can be read again at any time. Only the program and libraries
 * stay in their place until the process ends. Any other file may be gone, and its place be memory
 * of another thread, before its pages are released: their content would be lost.
 *
 * @param smaps as `/proc/self/smaps` has it
 */
export function lastingMappings(smaps: string, program: string): Mapping[] {
  return [...smaps.matchAll(cleanMapping)].flatMap(([, from = '', to = '', file = '']) => {
    if (file !== program && !library.test(file)) return []
    const address = Number.parseInt(from, 16)
    return [{ address, bytes: Number.parseInt(to, 16) - address }]
  })
}

/** Linux's list of the memory of this process; other systems have none. */
const mappings = (): string => fileText('/proc/self/smaps', 'latin1') ?? ''

/** The largest page of a system, since the system rounds lengths up; memories have whole ones. */
const pageBytes = 65_536
const zeros = Buffer.alloc(pageBytes)

/**
 * Returns the pages that hold only zeros. They read as before.
 *
 * @param memory of WebAssembly: pages of its own, which no other thread writes
 */
export function releaseZeroPages(memory: Uint8Array): void {
  pageCalls ??= boundPageCalls()
  if (pageCalls === null) return
  const address = pageCalls.addressOf(memory)
  let from = 0
  for (let at = 0; at <= memory.length; at += pageBytes) {
    const page = memory.subarray(at, at + pageBytes)
    if (page.length === pageBytes && zeros.equals(page)) continue
    if (at > from) pageCalls.release(address + BigInt(from), at - from)
    from = at + pageBytes
  }
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

/** madvise(2) of Linux, whose MADV_DONTNEED drops pages at once; null elsewhere. */
function boundPageCalls(): PageCalls | null {
  if (process.platform !== 'linux') return null
  try {
    const { koffi, bindTo } = openLibc()
    const advise = bindTo<(address: number | bigint, bytes: number, advice: number) => number>(
      'int madvise(uintptr_t, size_t, int)',
    )
    return {
      release: (address, bytes) => void advise(address, bytes, 4),
      addressOf: (octets) => koffi.address(octets),
    }
  } catch {
    return null
  }
}
