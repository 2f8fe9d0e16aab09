// Lowers the priority of a thread whose work can wait for answers.
import { lstat } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Beside a busy thread, one with so much higher a nice value gets a tenth of the core. */
const niceSteps = 10
const niceMax = 19

/**
 * To be called first by a thread that answers no queries and probes nothing: where cores are short,
 * the kernel prefers the answering threads. On Linux each thread has its own nice value, raising it
 * needs no privilege, and started programs inherit it. Elsewhere it would be the whole process's,
 * so nothing happens; nor where the system refuses.
 */
export function yieldToAnswers(): void {
  if (process.platform !== 'linux') return
  // Starts libuv's pool, whose threads serve all and keep the nice value of the first caller.
  lstat('/', () => undefined)
  try {
    setPriority(Math.min(niceMax, getPriority() + niceSteps))
  } catch {
    // Work goes on with the usual priority.
  }
}
