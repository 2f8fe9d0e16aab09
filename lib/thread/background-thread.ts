// Lowers the priority of a thread whose work can wait for answers.
import { lstat } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Beside a thread that never rests, one with this much more of nice gets a tenth of the core. */
const niceSteps = 10
const niceMax = 19

/**
 * Called first by a thread that answers no queries and probes nothing: where cores are short, the
 * kernel runs the answering threads before it. On Linux a nice value is the thread's own, raising
 * it needs no privilege, and programs that the thread starts inherit it. Elsewhere it would be the
 * whole process's, so nothing happens; nor where the system refuses.
 */
export function yieldToAnswers(): void {
  if (process.platform !== 'linux') return
  // The threads of libuv's pool serve all others, and have the nice value of who asks them first.
  lstat('/', () => undefined)
  try {
    setPriority(Math.min(niceMax, getPriority() + niceSteps))
  } catch {
    // Work goes on as it would have without this.
  }
}
