// Where audit entries go: a file of their own or the main log, and the copy that can be searched.
import { createWriteStream } from 'node:fs'
import type { WriteStream } from 'node:fs'
import { auditLine } from '#api/audit.ts'
import type { AuditSink } from '#api/audit.ts'
import type { Log } from '#lib/log.ts'
import { auditLimits } from '#state/ports/audit.ts'
import type { AuditCopy, AuditEntry } from '#state/ports/audit.ts'

/** Entries that wait for the database; beyond that they are in the log alone. */
const waitingMax = 10_000
const batchMs = 1_000

export interface NodeAudit extends AuditSink {
  /** What waits is written; then the file is closed. */
  readonly close: () => Promise<void>
}

/** @param path null: the main log */
export function createNodeAudit(path: string | null, copy: AuditCopy, log: Log): NodeAudit {
  const file = path === null ? null : openFile(path, log)
  const copying = new Copying(copy, log)
  return {
    write: (entry) => {
      const line = auditLine(entry)
      const time = new Date(entry.atMs).toISOString()
      if (file === null) log.info({ audit: true, ...line }, 'api call')
      else file.write(`${JSON.stringify({ time, ...line })}\n`)
      // Whoever has no credential must not fill the database.
      if (entry.status !== 401) copying.add(entry)
    },
    close: async () => {
      await copying.stop()
      await new Promise<void>((resolve) => (file === null ? resolve() : file.end(resolve)))
    },
  }
}

function openFile(path: string, log: Log): WriteStream {
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 })
  // A full disk must not end the process: each lost line is told.
  file.on('error', (error) => log.error({ err: error }, 'the audit log cannot be written'))
  return file
}

class Copying {
  readonly #copy: AuditCopy
  readonly #log: Log
  #waiting: AuditEntry[] = []
  #lost = 0
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(copy: AuditCopy, log: Log) {
    this.#copy = copy
    this.#log = log
  }

  add(entry: AuditEntry): void {
    if (this.#waiting.length >= waitingMax) this.#lost += 1
    else this.#waiting.push(entry)
    this.#timer ??= setTimeout(() => this.#flushSoon(), batchMs)
  }

  async stop(): Promise<void> {
    if (this.#timer !== undefined) this.#flushSoon()
    await this.#running
  }

  #flushSoon(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#running.then(() => this.#flush())
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, auditLimits.entriesPerAppendMax)
      const appended = await this.#copy.append(batch)
      if (!appended.ok) {
        this.#log.warn({ waiting: this.#waiting.length }, 'the audit copy is behind')
        return
      }
      this.#waiting = this.#waiting.slice(batch.length)
    }
    if (this.#lost > 0) this.#log.error({ lost: this.#lost }, 'the audit copy has gaps')
    this.#lost = 0
  }
}
