// Keeps journals in the database of a control node: its own, where the database is shared, and
// those that nodes of the role dns send.
import { assert } from '#lib/assert.ts'
import type { JournalFault } from '#ports/bundles.ts'
import type { Settings } from '#settings/settings.ts'
import { readJournalUpload, journalUploadLimits } from '#fleet/journal/journal-upload.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { noLongerThan } from '#lib/timer.ts'
import { JournalCopier } from '#journal/journal-copier.ts'
import type { CopySink } from '#journal/journal-copier.ts'
import { storePart } from '#journal/segment-part.ts'
import { journalCopyLimits } from '#state/ports/journals.ts'
import type { Journals } from '#state/ports/journals.ts'
import { journalDirectory } from '#journal/journal-directory.ts'

interface JournalKeeperParts {
  readonly settings: Settings
  readonly dataDir: string
  readonly journals: Pick<Journals, 'append' | 'prune'>
  /** Whether there is a database. */
  readonly exists: () => boolean
  readonly clock: Clock
  readonly log: Log
}

const pruneEveryMs = 3_600_000
/** Time for the last records at a stop. */
const lastLookMs = 2_000

export class JournalKeeper {
  readonly #parts: JournalKeeperParts
  readonly #own: JournalCopier | null
  #underWay = 0
  /** True when a record was written since old ones were last looked for. */
  #isWritten: boolean
  #prunedAtMs = -Infinity

  constructor(parts: JournalKeeperParts) {
    this.#parts = parts
    const { settings, dataDir, clock, log } = parts
    // An embedded database is on the disk of the journal, and no other node can read it.
    const isShared = settings.database.url !== ''
    const isCopied = isShared && settings.journal.enabled && settings.roles.includes('dns')
    const directory = journalDirectory(dataDir)
    this.#own = isCopied ? new JournalCopier({ directory, sink: this.#sink(), clock, log }) : null
    this.#isWritten = isShared
  }

  /** Copies new records; from time to time removes old ones of all nodes. */
  async look(): Promise<void> {
    await this.#own?.look()
    await this.#prune()
  }

  /**
   * Stores a part of another node's journal.
   *
   * @returns octets of the segment that are stored
   */
  async take(value: unknown): Promise<Result<{ readonly bytes: number }, JournalFault>> {
    const { settings, exists, journals, clock } = this.#parts
    const upload = readJournalUpload(value, settings.state.nodeName)
    if (!upload.ok) return err({ code: 'refused', message: upload.error })
    // A database is not created for this alone.
    if (!exists()) return err({ code: 'no-database' })
    if (this.#underWay >= journalUploadLimits.underWayMax) return err({ code: 'away' })
    this.#underWay++
    assert(this.#underWay <= journalUploadLimits.underWayMax, 'uploads are within their limit')
    try {
      const stored = await storePart(journals, upload.value, clock.nowMs())
      if (!stored.ok) return err({ code: 'refused', message: stored.error })
      this.#isWritten = true
      return stored.value.ok ? ok({ bytes: stored.value.value }) : err({ code: 'away' })
    } finally {
      this.#underWay--
      assert(this.#underWay >= 0, 'an upload ends once')
    }
  }

  async stop(): Promise<void> {
    if (this.#own !== null) await noLongerThan(lastLookMs, this.#own.stop())
  }

  #sink(): CopySink {
    const { journals, clock } = this.#parts
    return {
      add: async (part) => {
        const stored = await storePart(journals, part, clock.nowMs())
        if (!stored.ok) return err({ code: 'refused', message: stored.error })
        const { value } = stored
        return value.ok ? value : err({ code: 'away', message: value.error.message })
      },
    }
  }

  async #prune(): Promise<void> {
    const { settings, journals, clock, log } = this.#parts
    const isDue = clock.monotonicMs() - this.#prunedAtMs >= pruneEveryMs
    if (!isDue || !this.#isWritten) return
    this.#prunedAtMs = clock.monotonicMs()
    const { maxAgeMs, maxMegabytes } = settings.journal
    const isShared = settings.database.url !== ''
    const { serverBytesMax, embeddedBytesMax } = journalCopyLimits
    const pruned = await journals.prune({
      sinceMs: Math.floor(clock.nowMs() - maxAgeMs),
      nodeBytesMax: maxMegabytes * 1_048_576,
      bytesMax: isShared ? serverBytesMax : embeddedBytesMax,
    })
    if (!pruned.ok) log.warn({}, `old journals are not removed: ${pruned.error.message}`)
  }
}
