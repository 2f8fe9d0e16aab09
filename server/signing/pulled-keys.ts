// The keys of zones on a node that only answers: what a control node has sent, and its copy.
import type { KeyOfZone } from '#dns/dnssec/key-files.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { KeyCopy } from './key-copy.ts'
import { byZone, readKeySet } from './key-set.ts'
import type { KeySet } from './key-set.ts'
import type { KeySource } from './key-source.ts'

/** Key files of the node, which sign while nobody has sent keys. */
export interface OwnKeyFiles {
  readonly directory: string
  /** By zone. Errors: a sentence; the folder may have any key. */
  readonly read: () => Result<ReadonlyMap<string, KeyOfZone>, string>
}

export class PulledKeys implements KeySource {
  readonly place = 'what the control node has sent'
  readonly makeFirst = null
  readonly #copy: KeyCopy
  readonly #files: OwnKeyFiles | null
  readonly #handlers = new Set<() => void>()
  #revision = 0
  #keys: ReadonlyMap<string, readonly KeyRecord[]> = new Map()
  /** Zones whose files sign on, and why: a sentence. */
  #held: ReadonlyMap<string, string> = new Map()
  /** False: keys were sent before, and cannot be read: the files may be of long ago. */
  #mayHold = true

  constructor(copy: KeyCopy, files: OwnKeyFiles | null = null) {
    this.#copy = copy
    this.#files = files
  }

  /** Takes what the copy has. */
  start(): void {
    const copied = this.#copy.read()
    this.#mayHold = copied !== undefined || !this.#copy.isThere()
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

  /** A sentence for each zone that is not signed by what was sent. */
  troubles(): readonly string[] {
    return [...this.#held.values()]
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
    const held = this.#heldOf(set.value)
    if (!held.ok) return held
    this.#held = held.value
    const records = set.value.records.filter(({ zone }) => !this.#held.has(zone))
    // What is held is asked for again after a start: the files may be gone by then.
    this.#copy.write({ records, revision: revision - (this.#held.size > 0 ? 1 : 0) })
    this.#adopt({ records, revision })
    return ok(null)
  }

  /**
   * A zone that its files sign, by a key that never signed in what was sent: the parent has the DS
   * of the file, and caches have its key.
   */
  #heldOf({ records }: KeySet): Result<ReadonlyMap<string, string>, string> {
    const held = new Map<string, string>()
    if (this.#files === null || !this.#mayHold) return ok(held)
    const files = this.#files.read()
    if (!files.ok) return files
    const sent = byZone(records)
    for (const [zone, { key }] of files.value) {
      const others = this.#keys.has(zone) ? undefined : sent.get(zone)
      const same = others?.find(({ publicKey }) => Buffer.compare(publicKey, key.rdata) === 0)
      // One that was imported beside others takes over later.
      if (others === undefined || (same?.times.activeMs ?? null) !== null) continue
      held.set(zone, heldSaid(zone, key.tag, this.#files.directory, same !== undefined))
    }
    return ok(held)
  }

  #adopt({ revision, records }: KeySet): void {
    this.#revision = revision
    this.#keys = byZone(records)
    for (const handler of this.#handlers) handler()
  }
}

const noFaults: ReadonlyMap<string, string> = new Map()

function heldSaid(zone: string, tag: number, directory: string, isThere: boolean): string {
  const signs = `${zone} is signed by the key ${tag} in ${directory} here`
  if (isThere) return `${signs} until that key signs on the control node, too`
  return (
    `${signs}, which is not among the keys that the control node has sent: import it there ` +
    `(POST /api/v1/dnssec/zones/${zone}/keys), or, if it is an old one, move its files away and ` +
    'start this node again'
  )
}
