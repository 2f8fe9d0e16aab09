// Composes the audit log: a file or the main log, and the searchable copy.
import { assert } from '#lib/assert.ts'
import { auditLine } from '#api/server/audit.ts'
import type { AuditSink } from '#api/server/audit.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { Rounds } from '#lib/rounds.ts'
import { auditLimits } from '#state/ports/audit.ts'
import type { AuditCopy, AuditEntry } from '#state/ports/audit.ts'
import { AuditFile, tell } from '#process/data/audit-file.ts'
import type { AuditLog } from '#process/data/audit-file.ts'

/** Entries that wait for the database; further ones are in the log alone. */
const waitingMax = 10_000
const batchMs = 1_000
/** Time until a database that has not taken them is asked again. */
const retryMs = 10_000

export interface NodeAudit extends AuditSink {
  /** false: there is a file, but the last lines went to the main log instead. */
  readonly isWritten: () => boolean
  /** Writes the entries that wait, then closes the file. */
  readonly close: () => Promise<void>
}

/**
 * Errors: a sentence, when the file cannot be written.
 *
 * @param path null: the main log
 * @param isPseudonymous true: no e-mail addresses are written
 */
export function createNodeAudit(
  path: string | null,
  copy: AuditCopy,
  log: AuditLog,
  isPseudonymous = false,
): Result<NodeAudit, string> {
  const opened = path === null ? ok(null) : AuditFile.open(path, log)
  if (!opened.ok) return opened
  const file = opened.value
  const copying = new Copying(copy, log)
  return ok({
    write: (call) => {
      const { user } = call
      const isHidden = isPseudonymous && user !== undefined
      const entry = isHidden ? { ...call, user: { ...user, email: '' } } : call
      const line = auditLine(entry)
      if (file === null) tell(log, line)
      else file.write({ time: new Date(entry.atMs).toISOString(), ...line })
      // Requests without a credential are not copied: anybody could fill the database with them.
      if (entry.status !== 401 && entry.requests === undefined) copying.add(entry)
    },
    isWritten: () => file?.isWritten() ?? true,
    close: async () => {
      await copying.stop()
      await file?.close()
    },
  })
}

class Copying {
  readonly #copy: AuditCopy
  readonly #log: Log
  #waiting: AuditEntry[] = []
  #lost = 0
  #isBehind = false
  #timer: NodeJS.Timeout | undefined
  readonly #rounds = new Rounds(() => this.#flush())

  constructor(copy: AuditCopy, log: Log) {
    this.#copy = copy
    this.#log = log
  }

  add(entry: AuditEntry): void {
    if (this.#waiting.length >= waitingMax) this.#lost += 1
    else this.#waiting.push(entry)
    assert(this.#waiting.length <= waitingMax, 'entries that wait are within their limit')
    this.#timer ??= setTimeout(() => this.#rounds.ask(), batchMs)
  }

  /** Copies what waits, once; what the database does not take now is in the log alone. */
  async stop(): Promise<void> {
    this.#rounds.ask()
    await this.#rounds.settled()
    clearTimeout(this.#timer)
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, auditLimits.entriesPerAppendMax)
      const appended = await this.#copy.append(batch)
      if (!appended.ok) {
        const waiting = this.#waiting.length
        if (!this.#isBehind) this.#log.warn({ waiting }, 'the audit copy is behind')
        this.#isBehind = true
        clearTimeout(this.#timer)
        this.#timer = setTimeout(() => this.#rounds.ask(), retryMs)
        return
      }
      assert(this.#waiting[0] === batch[0], 'entries leave in their order')
      this.#waiting = this.#waiting.slice(batch.length)
    }
    this.#isBehind = false
    if (this.#lost > 0) this.#log.error({ lost: this.#lost }, 'the audit copy has gaps')
    this.#lost = 0
  }
}
