// Health verdicts in one file of the data directory: appended per change, compacted from time to
// time.
import { readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sweepTemporary, writeDurably } from '#lib/durable-file.ts'
import type { Log } from '#lib/log.ts'
import type { HealthVerdicts, StoredVerdict } from '../ports/health-verdicts.ts'
import {
  forgottenLine,
  readVerdictLines,
  savedLine,
  storedForm,
  verdictKey,
} from './verdict-lines.ts'
import type { VerdictMap } from './verdict-lines.ts'

export const verdictFileLimits = {
  /**
   * Larger files are not read. A verdict takes some 130 octets, plus the reason of an unhealthy
   * one.
   */
  bytesMax: 134_217_728,
  /**
   * Obsolete lines before the file is rewritten; if there are more valid lines, as many as those.
   */
  staleLinesMax: 1_000,
} as const

/**
 * A missing, damaged or unreadable file counts as empty: each member is then healthy until it is
 * probed. Valid lines are used whatever stands between them.
 *
 * @param path its folder is made when needed
 * @param mayWrite until it resolves the file belongs to another process and is only read; if it
 * rejects, so it stays
 */
export function createFileHealthVerdicts(
  path: string,
  log: Log,
  mayWrite: Promise<unknown> = Promise.resolve(),
): HealthVerdicts {
  const file = new VerdictFile(path, log, mayWrite)
  return {
    load: async () => file.load(),
    save: async (changed) => {
      if (changed.length === 0) return
      await file.change((verdicts) => {
        for (const verdict of changed) {
          verdicts.set(verdictKey(verdict), storedForm(verdict))
        }
        return changed.map(savedLine)
      })
    },
    forget: async (owners) => {
      await file.change((verdicts) => {
        const known = owners.filter((owner) => verdicts.delete(verdictKey(owner)))
        return known.map(forgottenLine)
      })
    },
  }
}

class VerdictFile {
  readonly #path: string
  readonly #log: Log
  readonly #mayWrite: Promise<unknown>
  #verdicts: VerdictMap | undefined
  #hasWritten = false
  /**
   * Lines in the file; Infinity: the file does not match `#verdicts`, and the next write replaces
   * it.
   */
  #lines = Infinity
  /** Serialises writes. */
  #writing: Promise<void> = Promise.resolve()

  constructor(path: string, log: Log, mayWrite: Promise<unknown>) {
    this.#path = path
    this.#log = log
    this.#mayWrite = mayWrite
    // Removes remains of an interrupted write, once no other process can be writing.
    void mayWrite.then(() => sweepTemporary(dirname(path))).catch(() => undefined)
  }

  /** Reads the file again as long as this process has not written: another one may have. */
  load(): readonly StoredVerdict[] {
    if (!this.#hasWritten) this.#verdicts = undefined
    return [...this.#loaded().values()]
  }

  /** @param apply changes the verdicts and returns the changes as lines */
  change(apply: (verdicts: VerdictMap) => readonly string[]): Promise<void> {
    const lines = apply(this.#loaded())
    // Lines of a failed write are made up for by the next one.
    if (lines.length === 0 && this.#lines !== Infinity) return Promise.resolve()
    const written = Promise.all([this.#mayWrite, this.#writing]).then(() => this.#write(lines))
    this.#writing = written.catch(() => undefined)
    return written
  }

  #loaded(): VerdictMap {
    this.#verdicts ??= this.#read()
    return this.#verdicts
  }

  #read(): VerdictMap {
    const verdicts: VerdictMap = new Map()
    try {
      const size = statSync(this.#path, { throwIfNoEntry: false })?.size
      if (size === undefined) return verdicts
      if (size > verdictFileLimits.bytesMax) {
        this.#warn({ bytes: size }, 'is larger than any that this node writes')
        return verdicts
      }
      const damagedLines = readVerdictLines(readFileSync(this.#path, 'utf8'), verdicts)
      if (damagedLines > 0) this.#warn({ damagedLines }, 'is damaged')
    } catch (error) {
      this.#warn({ err: error }, 'cannot be read')
    }
    return verdicts
  }

  #warn(fields: object, what: string): void {
    this.#log.warn(
      { file: this.#path, ...fields },
      `the file of health verdicts ${what}; members without a stored verdict count as healthy until probed`,
    )
  }

  async #write(lines: readonly string[]): Promise<void> {
    const verdicts = this.#loaded()
    this.#hasWritten = true
    const linesMax = verdicts.size + Math.max(verdictFileLimits.staleLinesMax, verdicts.size)
    if (this.#lines + lines.length > linesMax) {
      this.#lines = Infinity
      writeDurably(this.#path, [...verdicts.values()].map(savedLine).join(''), 0o600)
      this.#lines = verdicts.size
      return
    }
    const before = this.#lines
    this.#lines = Infinity
    await append(this.#path, lines.join(''))
    this.#lines = before + lines.length
  }
}

async function append(path: string, text: string): Promise<void> {
  const file = await open(path, 'a', 0o600)
  try {
    await file.appendFile(text)
    await file.datasync()
  } finally {
    await file.close()
  }
}
