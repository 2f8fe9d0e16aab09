// The garbage collector of V8 as a function: an idle thread, and one that never allocates, collect
// nothing by themselves.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export type Collect = (options?: {
  readonly type: 'major'
  readonly execution: 'sync'
  readonly flavor: 'last-resort'
}) => void

/** The flag holds for the process and stays: one thread must not take it from another. */
export function exposedCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}
