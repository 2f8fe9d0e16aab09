// Sets the size of V8's semi-spaces, where threads keep short-lived objects.
import { setFlagsFromString } from 'node:v8'

const flag = '--max-semi-space-size='
/** Megabytes for threads that start from now on; 0: V8's default. */
const given = process.execArgv.findLast((one) => one.startsWith(flag))
let ofThreads = Number(given?.slice(flag.length) ?? 0)

/** @param megabytes of one semi-space, of which V8 has two */
export function setSemiSpace(megabytes: number): void {
  ofThreads = megabytes
  setFlagsFromString(`${flag}${megabytes}`)
}

/**
 * Starts a thread with another size. V8 prefers this flag of the process to limits of a thread, and
 * reads it at a thread's start: threads that start at the same time get the same.
 */
export function startWithSemiSpace<T extends Startable>(megabytes: number, start: () => T): T {
  setFlagsFromString(`${flag}${megabytes}`)
  const restore = (): void => setFlagsFromString(`${flag}${ofThreads}`)
  try {
    const thread = start()
    thread.once('online', restore)
    thread.once('exit', restore)
    return thread
  } catch (error) {
    restore()
    throw error
  }
}

interface Startable {
  readonly once: (event: 'online' | 'exit', act: () => void) => unknown
}
