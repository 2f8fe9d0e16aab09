// The end of a process that cannot wait for its threads, or for itself.
import { openLibc } from '#runtime/libc.ts'
import type { Exit } from './command.ts'

/**
 * `process.exit` cuts all threads off and waits for them: one that hangs keeps the process, and one
 * that is loading native code makes it abort. This asks none of them.
 */
export function endNow(exit: Exit): never {
  try {
    openLibc().bindTo<(code: number) => void>('void _exit(int)')(exit)
  } catch {
    // Without koffi no thread has native code either.
  }
  process.exit(exit)
}

/**
 * The system ends the process after so long, with SIGALRM, even where the main thread hangs and
 * runs no timer any more. Does nothing where koffi is not to be had.
 */
export function endAtLatest(seconds: number): void {
  try {
    openLibc().bindTo<(seconds: number) => number>('unsigned int alarm(unsigned int)')(seconds)
  } catch {
    // A timer must do.
  }
}
