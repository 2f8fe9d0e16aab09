// The garbage collector of V8 as a function: an idle thread, and one that never allocates, collect
// nothing by themselves.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export type Collect = (options?: {
  readonly type: 'major'
  readonly execution: 'sync'
  readonly flavor?: 'last-resort'
}) => void

/** The flag holds for the process and stays: one thread must not take it from another. */
export function exposedCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}

let collect: Collect | undefined

/**
 * Collects the garbage of this thread, and leaves all else where it is: what is to be made next
 * takes its place. To make the heap small takes new room for what is moved.
 */
export function collectGarbage(): void {
  collect ??= exposedCollector()
  collect({ type: 'major', execution: 'sync' })
}

/**
 * Collects all garbage of this thread and makes its heap small: some tens of milliseconds.
 *
 * @param code `keep`: what is compiled stays, so that the next work is no slower. Another thread
 *   that collects meanwhile keeps its own this time, too
 */
export function shrinkHeap(code: 'keep' | 'drop'): void {
  collect ??= exposedCollector()
  if (code === 'keep') setFlagsFromString('--no-flush-bytecode')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  if (code === 'keep') setFlagsFromString('--flush-bytecode')
}
