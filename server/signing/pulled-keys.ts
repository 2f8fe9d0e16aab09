// The keys of zones on a node that only answers: what a control node has sent, and its copy.
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { KeyCopy } from './key-copy.ts'
import { byZone, readKeySet } from './key-set.ts'
import type { KeySet } from './key-set.ts'
import type { KeySource } from './key-source.ts'

export class PulledKeys implements KeySource {
  readonly place = 'what the control node has sent'
  readonly makeFirst = null
  readonly #copy: KeyCopy
  readonly #handlers = new Set<() => void>()
  #revision = 0
  #keys: ReadonlyMap<string, readonly KeyRecord[]> = new Map()

  constructor(copy: KeyCopy) {
    this.#copy = copy
  }

  /** Takes what the copy has. */
  start(): void {
    const copied = this.#copy.read()
    if (copied !== undefined) this.#adopt(copied)
  }

  get revision(): number {
    return this.#revision
  }

  keys(): ReadonlyMap<string, readonly KeyRecord[]> {
    return this.#keys
  }

  faults(): ReadonlyMap<string, string> {
    return noFaults
  }

  onChange(handler: () => void): void {
    this.#handlers.add(handler)
  }

  /**
   * @param revision what the envelope said, which was signed
   * @param text what was in it
   * Errors: a sentence; the keys before stay.
   */
  take(revision: number, text: string): Result<null, string> {
    const set = readKeySet(text)
    if (!set.ok) return set
    if (set.value.revision !== revision) return err('the keys are of another revision')
    // An envelope that was kept, or a control node whose database is behind.
    if (revision < this.#revision) {
      return err(`the keys are of revision ${revision}, and ${this.#revision} is here already`)
    }
    if (revision === this.#revision) return ok(null)
    this.#copy.write(set.value)
    this.#adopt(set.value)
    return ok(null)
  }

  #adopt({ revision, records }: KeySet): void {
    this.#revision = revision
    this.#keys = byZone(records)
    for (const handler of this.#handlers) handler()
  }
}

const noFaults: ReadonlyMap<string, string> = new Map()
