// Writes that are not made: each is tried on top of those before it, and what all give is kept.
import type { ConfigEntry } from '#config/entry.ts'
import type {
  ConfigWriter,
  EarlierBundle,
  Operation,
  WriteDiagnostic,
  WriteRequest,
  WrittenFile,
} from '#config/operation.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { withUids } from '#config/uids.ts'
import type { ConfigView } from '#config/view.ts'
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'

export class PlannedWrites implements ConfigWriter {
  /** Warnings that would be new. */
  warnings: readonly WriteDiagnostic[] = []
  /** What would answer; undefined: nothing would change. */
  bundle: Uint8Array | undefined
  /** What would be written. */
  files: readonly WrittenFile[] = []
  readonly #writer: ConfigWriter
  readonly #config: ConfigView
  readonly #clock: Clock
  #operations: readonly Operation[] = []
  #entries: readonly ConfigEntry[] = []
  /** The last that was tried, with the operations of all. */
  #tried: WriteRequest | undefined

  constructor(writer: ConfigWriter, config: ConfigView, clock: Clock) {
    this.#writer = writer
    this.#clock = clock
    this.#config = config
  }

  /** The configuration as it would be: handlers find in it what requests before them make. */
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

  /** Operations of all writes that were tried, in their order. */
  get operations(): readonly Operation[] {
    return this.#operations
  }

  /** Bundles that answered before, to which all the writes together may go back. */
  earlier = async (): Promise<readonly EarlierBundle[]> => {
    if (this.#tried === undefined) return []
    const wanted = { isDryRun: true, wantsBundle: true, wantsEarlier: true } as const
    const done = await this.#writer.write({ ...this.#tried, ...wanted })
    return done.ok ? (done.value.earlier ?? []) : []
  }

  write: ConfigWriter['write'] = async (request) => {
    // With ids, which stay the same in the tries that follow.
    const own = withUids(request, this.#clock).operations
    const operations = [...this.#operations, ...own]
    const done = await this.#writer.write({
      ...request,
      operations,
      isDryRun: true,
      wantsBundle: true,
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
