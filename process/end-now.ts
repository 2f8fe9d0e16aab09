// Ends the process at once, without waiting for its threads.
import { openLibc } from '#system/sockets/libc.ts'
import { Exit } from '#system/process/command.ts'
import type { ProcessLog } from './log.ts'

/** From the order to stop to the end: Kubernetes kills after 30 s, systemd after 90. */
export const endPatienceMs = 25_000
/** Delay after which the system ends the process, if giving up did not. */
const alarmDelaySeconds = 3

/**
 * Ends the process without its threads. `process.exit` waits for threads to end: one that hangs
 * keeps the process, and one that is loading native code makes it abort.
 */
export function endNow(exit: number): never {
  try {
    openLibc().bindTo<(code: number) => void>('void _exit(int)')(exit)
  } catch {
    // Without koffi no thread runs native code either.
  }
  process.exit(exit)
}

/** Logs a reason and ends the process; work under way is cut off. */
export function giveUp(why: string, log: ProcessLog): never {
  log.error({}, `${why}: the process ends now, and what is under way is cut off`)
  return endNow(Exit.ErrorsFound)
}

/**
 * Gives the process `patienceMs` to stop. If the main thread hangs and runs no timers, the system
 * ends it a little later.
 */
export function endWithin(patienceMs: number, log: ProcessLog): void {
  const giveUpLate = (): never => giveUp(`not stopped within ${patienceMs / 1000} s`, log)
  setTimeout(giveUpLate, patienceMs).unref()
  alarm(Math.ceil(patienceMs / 1000) + alarmDelaySeconds)
}

/** Schedules SIGALRM. Does nothing without koffi. */
function alarm(seconds: number): void {
  try {
    openLibc().bindTo<(seconds: number) => number>('unsigned int alarm(unsigned int)')(seconds)
  } catch {
    // The timer alone has to do.
  }
}
