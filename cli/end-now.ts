// The end of a process that cannot wait for its threads.
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
