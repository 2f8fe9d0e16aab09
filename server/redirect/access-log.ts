// Writes the access log of redirects: a line of JSON for each request, without delaying the
// request.
import { close, open, write } from 'node:fs'
import type { Log } from '#lib/log.ts'
import { redirectLimits } from './limits.ts'

interface AccessLine {
  readonly client: string
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** Id of the redirect; empty when the host has none. */
  readonly redirect: string
  readonly userAgent: string
}

/**
 * Writes lines in the background. Lines that the disk does not take in time are dropped and
 * counted: no request waits.
 */
export class AccessLog {
  readonly #path: string
  readonly #log: Log
  readonly #onDrop: (lines: number) => void
  #file: number | undefined
  #lines: string[] = []
  #bytes = 0
  #isBusy = false
  #isLogged = false
  #wantsReopen = true
  #idle: (() => void)[] = []

  constructor(path: string, log: Log, onDrop: (lines: number) => void) {
    this.#path = path
    this.#log = log
    this.#onDrop = onDrop
  }

  add(nowMs: number, line: AccessLine): void {
    const at = new Date(nowMs).toISOString()
    const text = `${JSON.stringify({ at, ...bounded(line) })}\n`
    if (this.#bytes + text.length > redirectLimits.logBytesMax) return this.#onDrop(1)
    this.#lines.push(text)
    this.#bytes += text.length
    if (!this.#isBusy) this.#next()
  }

  /** Opens the path again after a rotation by renaming: the next lines go into a new file. */
  reopen(): void {
    this.#wantsReopen = true
  }

  /** Resolves when every added line is written, or cannot be. */
  async close(): Promise<void> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#idle.push(resolve))
    if (this.#file !== undefined) close(this.#file, () => undefined)
    this.#file = undefined
    this.#wantsReopen = true
  }

  #next(): void {
    if (this.#lines.length === 0) {
      this.#isBusy = false
      for (const done of this.#idle.splice(0)) done()
      return
    }
    this.#isBusy = true
    if (this.#wantsReopen) return this.#open()
    const lines = this.#lines
    this.#lines = []
    this.#bytes = 0
    write(this.#file!, lines.join(''), (error) => {
      if (error !== null) this.#onDrop(lines.length)
      this.#tell(error)
      this.#next()
    })
  }

  #open(): void {
    const old = this.#file
    open(this.#path, 'a', 0o640, (error, file) => {
      if (old !== undefined) close(old, () => undefined)
      this.#file = error === null ? file : undefined
      this.#wantsReopen = error !== null
      this.#tell(error)
      if (error !== null) {
        this.#onDrop(this.#lines.length)
        this.#lines = []
        this.#bytes = 0
      }
      this.#next()
    })
  }

  /** Logs once when writing fails, and once when it works again. */
  #tell(error: Error | null): void {
    if (error !== null && !this.#isLogged) {
      this.#log.error(
        { file: this.#path, reason: error.message },
        'the access log of redirects cannot be written; its lines are lost until it can',
      )
    }
    if (error === null && this.#isLogged) {
      this.#log.info({ file: this.#path }, 'the access log of redirects is written again')
    }
    this.#isLogged = error !== null
  }
}

function bounded(line: AccessLine): AccessLine {
  const cut = (text: string): string => text.slice(0, redirectLimits.logFieldCharactersMax)
  return {
    ...line,
    host: cut(line.host),
    path: cut(line.path),
    userAgent: cut(line.userAgent),
  }
}
