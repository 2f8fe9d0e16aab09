// Tries writes without making them, each on top of those before, and keeps their common result.
import type { ConfigEntry } from '#config/entry.ts'
import type {
  ConfigWriter,
  Operation,
  WriteDiagnostic,
  WriteRequest,
  WrittenFile,
} from '#config/operation.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { withUids } from '#config/uids.ts'
import type { ConfigView } from '#config/view.ts'
import type { PlanQuestion } from '#ports/planner.ts'
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'

const trial = { isDryRun: true, wantsBundle: true } as const

export class TrialWriter implements ConfigWriter {
  /** Warnings that the writes would add. */
  warnings: readonly WriteDiagnostic[] = []
  /** The bundle that would answer; undefined: nothing would change. */
  bundle: Uint8Array | undefined
  /** Files that would be written. */
  files: readonly WrittenFile[] = []
  readonly #writer: ConfigWriter
  readonly #config: ConfigView
  readonly #clock: Clock
  #operations: readonly Operation[] = []
  #entries: readonly ConfigEntry[] = []
  /** The last write that was tried, with the operations of all. */
  #tried: WriteRequest | undefined

  constructor(writer: ConfigWriter, config: ConfigView, clock: Clock) {
    this.#writer = writer
    this.#clock = clock
    this.#config = config
  }

  /** The configuration after the writes: handlers find in it what earlier requests create. */
  get config(): ConfigView {
    const snapshot = (): ConfigSnapshot => {
      const now = this.#config.snapshot()
      const { revision } = now
      return this.#entries.reduce(
        (seen, entry) => seen.with({ revision, changed: [entry], removed: [] }),
        now,
      )
    }
    const { isReady, onChange } = this.#config
    return { snapshot, isReady, onChange }
  }

  /** Operations of all writes that were tried, in order. */
  get operations(): readonly Operation[] {
    return this.#operations
  }

  /** Whether the writes together go back to what answered before. */
  goesBack: PlanQuestion['goesBack'] = async (moved) => {
    if (this.#tried === undefined) return false
    const judgement = { by: 'plan', moved } as const
    const done = await this.#writer.write({ ...this.#tried, ...trial, judgement })
    return done.ok && done.value.backTo !== undefined
  }

  write: ConfigWriter['write'] = async (request) => {
    // Ids are fixed here, so that they are the same in later tries.
    const own = withUids(request, this.#clock).operations
    const operations = [...this.#operations, ...own]
    const done = await this.#writer.write({
      ...request,
      operations,
      ...trial,
      // The plan judges it.
      judgement: { by: 'nobody' },
    })
    if (!done.ok) return done
    const { objects, warnings, bundle, files = [] } = done.value
    this.#operations = operations
    this.#tried = { ...request, operations }
    this.#entries = objects.flatMap((one) => (one === null ? [] : [one.entry]))
    this.warnings = warnings
    this.bundle = bundle
    this.files = files
    return ok({ ...done.value, objects: objects.slice(-own.length) })
  }
}
