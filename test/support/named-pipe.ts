// A named pipe with a reader, as ExaBGP has.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'

export interface NamedPipe {
  /** Everything written so far. */
  readonly told: () => string
  readonly close: () => void
}

export function openNamedPipe(path: string): NamedPipe {
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  let text = ''
  return {
    told: () => {
      text += readWaiting(reader)
      return text
    },
    close: () => closeSync(reader),
  }
}

function readWaiting(reader: number): string {
  const buffer = Buffer.alloc(65_536)
  try {
    return buffer.toString('utf8', 0, readSync(reader, buffer))
  } catch (error) {
    // A writer has it open but has written nothing.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return ''
    throw error
  }
}
