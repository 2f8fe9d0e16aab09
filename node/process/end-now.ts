// Ends the process at once, without waiting for its threads.
import { openLibc } from '#system/sockets/libc.ts'
import { Exit } from '#system/process/command.ts'
import type { ProcessLog } from './log.ts'

/** From the order to stop to the end; Kubernetes kills after 30 s, systemd after 90. */
export const endPatienceMs = 25_000
/** So much later the system ends the process, if even giving up did not end it. */
const alarmDelaySeconds = 3

/**
 * `process.exit` cuts all threads off and waits for them: one that hangs keeps the process, and one
 * that is loading native code makes it abort. This asks none of them.
 */
export function endNow(exit: number): never {
  try {
    openLibc().bindTo<(code: number) => void>('void _exit(int)')(exit)
  } catch {
    // Without koffi no thread has native code either.
  }
  process.exit(exit)
}

/** Ends the process with a reason in the log; what is under way is cut off. */
export function giveUp(why: string, log: ProcessLog): never {
  log.error({}, `${why}: the process ends now, and what is under way is cut off`)
  return endNow(Exit.ErrorsFound)
}

/**
 * Gives the process `patienceMs` to stop. Even where the main thread hangs and runs no timer any
 * more, the system ends it a little later.
 */
export function endWithin(patienceMs: number, log: ProcessLog): void {
  const giveUpLate = (): never => giveUp(`not stopped within ${patienceMs / 1000} s`, log)
  setTimeout(giveUpLate, patienceMs).unref()
  alarm(Math.ceil(patienceMs / 1000) + alarmDelaySeconds)
}

/** SIGALRM after so long. Does nothing where koffi is not to be had. */
function alarm(seconds: number): void {
  try {
    openLibc().bindTo<(seconds: number) => number>('unsigned int alarm(unsigned int)')(seconds)
  } catch {
    // A timer must do.
  }
}
