// Exposes V8's garbage collector as a function: idle threads, and threads that never allocate,
// collect nothing.
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options?: {
  readonly type: 'major'
  readonly execution: 'sync'
  readonly flavor?: 'last-resort'
}) => void

/** The flag belongs to the process and stays: threads share it. */
export function exposedCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}

let collect: Collect | undefined

/**
 * Collects this thread's garbage in place: moving objects to shrink the heap would take more room.
 */
export function collectGarbage(): void {
  collect ??= exposedCollector()
  collect({ type: 'major', execution: 'sync' })
}

/**
 * Collects all garbage of this thread and shrinks its heap, in some tens of milliseconds. Node lets
 * go what it has read of its cache of compiled code, after it has written what is new there.
 *
 * @param code `keep`: compiled code stays, so that later work is no slower. Another thread that
 * collects at the same time keeps its own as well
 */
export function shrinkHeap(code: 'keep' | 'drop'): void {
  collect ??= exposedCollector()
  if (code === 'keep') setFlagsFromString('--no-flush-bytecode')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  if (code === 'keep') setFlagsFromString('--flush-bytecode')
  flushCompileCache()
}
