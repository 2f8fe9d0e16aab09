// Writes the file named by GSLB_AUDIT_LOG, one line per call, in order. A line that it cannot write
// goes to the main log.
import { closeSync, openSync } from 'node:fs'
import { appendFile, open, stat } from 'node:fs/promises'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { Rounds } from '#lib/rounds.ts'
import type { ProcessLog } from '#process/log.ts'

/** The part of the main log that is used here. */
export type AuditLog = Pick<ProcessLog, 'info' | 'warn' | 'error' | 'always'>

type Line = Readonly<Record<string, unknown>>

/** Lines that wait for a slow disk; further ones go to the main log at once. */
const waitingMax = 10_000

export class AuditFile {
  readonly #path: string
  readonly #log: AuditLog
  #waiting: Line[] = []
  readonly #rounds = new Rounds(() => this.#drain())
  #isWritten = true

  /** Errors: a sentence, when the file cannot be opened for writing. */
  static open(path: string, log: AuditLog): Result<AuditFile, string> {
    try {
      closeSync(openSync(path, 'a', fileMode))
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      return err(
        `GSLB_AUDIT_LOG: ${path} cannot be opened for writing (${code}); make its directory and ` +
          'give it to the user of the node, name another file, or leave the variable out: ' +
          'then the lines are in the log',
      )
    }
    return ok(new AuditFile(path, log))
  }

  private constructor(path: string, log: AuditLog) {
    this.#path = path
    this.#log = log
  }

  /** false: the last lines went to the main log. */
  isWritten(): boolean {
    return this.#isWritten
  }

  write(line: Line): void {
    if (this.#waiting.length >= waitingMax) {
      tell(this.#log, line)
      return
    }
    this.#waiting.push(line)
    assert(this.#waiting.length <= waitingMax, 'lines that wait are within their limit')
    this.#rounds.ask()
  }

  /** Writes the lines that wait, then ends. */
  async close(): Promise<void> {
    await this.#rounds.settled()
  }

  async #drain(): Promise<void> {
    const lines = this.#waiting
    this.#waiting = []
    await this.#append(lines)
  }

  /** Opens the file by name each time: it may have been rotated, or the disk was full. */
  async #append(lines: readonly Line[]): Promise<void> {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    try {
      // A write that failed may have left half a line.
      const isLineOpen = !this.#isWritten && (await endsInsideLine(this.#path))
      await appendFile(this.#path, isLineOpen ? `\n${text}` : text, { mode: fileMode })
    } catch (error) {
      this.#fail(error as Error)
      for (const line of lines) tell(this.#log, line)
      return
    }
    if (!this.#isWritten) this.#log.info({ path: this.#path }, 'the audit log is written again')
    this.#isWritten = true
  }

  #fail(error: Error): void {
    if (this.#isWritten) {
      const message = 'the audit log cannot be written: its lines are here until it can'
      this.#log.error({ err: error, path: this.#path }, message)
    }
    this.#isWritten = false
  }
}

const fileMode = 0o600
const lineFeed = 0x0a

/** Also true when that is unknown: an empty line does less harm than a joined one. */
async function endsInsideLine(path: string): Promise<boolean> {
  try {
    const { size } = await stat(path)
    return size > 0 && (await octetAt(path, size - 1)) !== lineFeed
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

async function octetAt(path: string, position: number): Promise<number | undefined> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, position)
    return buffer[0]
  } finally {
    await file.close()
  }
}

/** Writes a line to the main log, as without a file. */
export function tell(log: Pick<AuditLog, 'always'>, line: Line): void {
  log.always({ audit: true, ...line }, 'api call')
}
