// The TSIG keys and run-time records of this node: what the store has, in memory, with its changes
// as they come. A write through it is in force on this node when its call resolves.
import type { Log } from '#lib/log.ts'
import { err } from '#lib/result.ts'
import type { After } from '#lib/timer.ts'
import type {
  DynamicDnsAdmin,
  DynamicDnsState,
  DynamicDnsStore,
  StoredTsigKey,
  RecordChange,
  RecordDelta,
  RecordWriter,
  SeenRecords,
} from '#state/ports/dynamic-dns.ts'
import type { StoreCall, StoreFailure } from '#state/ports/store-result.ts'
import { LiveKeys } from './live-keys.ts'
import type { LiveTsigKey } from './live-keys.ts'
import type { CopyChange } from './copy-changes.ts'
import { recordsPerTurn } from './local-copy.ts'
import type { LocalCopy } from './local-copy.ts'
import { WrittenRecords } from './written-records.ts'
import type { WrittenSnapshot } from './written-records.ts'

interface DynamicDnsParts {
  readonly store: DynamicDnsStore
  readonly copy: LocalCopy
  /** 32 octets of GSLB_SECRET_KEY; null: not set, and no key can be used. */
  readonly secretKey: Uint8Array | null
  readonly now: () => number
  readonly after: After
  readonly log: Log
}

interface TextsChange extends RecordDelta {
  /** As people write them, those whose records have changed. */
  readonly names: readonly string[]
}

/** Told of each change; a write waits until all have taken it. */
export type TextsHandler = (change: TextsChange) => void | Promise<void>

type KeysHandler = (keys: readonly LiveTsigKey[]) => void

/** From a change to its place in the copy; more changes meanwhile go with it. */
export const copyDelayMs = 500
/** Writes that wait for the one before them. */
const waitingMax = 1_000

export class DynamicDns implements DynamicDnsAdmin {
  readonly #parts: DynamicDnsParts
  readonly #handlers = new Set<TextsHandler>()
  readonly #keyHandlers = new Set<KeysHandler>()
  #stored = new Map<string, StoredTsigKey>()
  readonly texts = new WrittenRecords()
  /** -1: nothing was read yet, neither from the store nor from the copy. */
  #revisions = { keys: -1, records: -1 }
  #keys = LiveKeys.none
  /** When all handlers have taken the last change. */
  #taken: Promise<unknown> = Promise.resolve()
  #turns: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #nextLook: Promise<boolean> | undefined
  #callOffCopy: (() => void) | undefined
  #copying: Promise<void> | undefined
  #isAway = false

  constructor(parts: DynamicDnsParts) {
    this.#parts = parts
  }

  /** Takes what the copy has. */
  async start(): Promise<void> {
    const copied = this.#parts.copy.read()
    if (copied !== undefined) this.#adoptAll(copied, false)
    await this.#taken
  }

  stop(): void {
    if (this.#callOffCopy !== undefined || this.#copying !== undefined) this.#copyAtOnce()
  }

  /** @param name in wire form and lower case */
  find(name: Uint8Array): LiveTsigKey | undefined {
    return this.#keys.find(name)
  }

  snapshot(): WrittenSnapshot {
    return this.texts.snapshot()
  }

  /** @returns what ends it */
  onChange(handler: TextsHandler): () => void {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  /** Called at once, and with each change of the keys. @returns what ends it */
  onKeys(handler: KeysHandler): () => void {
    handler(this.#keys.all())
    this.#keyHandlers.add(handler)
    return () => this.#keyHandlers.delete(handler)
  }

  /** Something was read, from the store or from the copy. */
  isKnown(): boolean {
    return this.#revisions.records !== -1
  }

  /**
   * Takes what other nodes have written. A call while another one waits for its turn shares it.
   * @returns false: the store cannot be reached, and what was known stays
   */
  refresh(): Promise<boolean> {
    this.#nextLook ??= this.#takenInTurn(async () => {
      this.#nextLook = undefined
      return await this.#look()
    })
    return this.#nextLook
  }

  readonly createKey: DynamicDnsStore['createKey'] = (key) =>
    this.#write(async () => {
      const created = await this.#parts.store.createKey(key)
      if (created.ok) await this.#takeKeys(created.value, (keys) => keys.set(key.id, key))
      return created
    })

  readonly deleteKey: DynamicDnsStore['deleteKey'] = (scope, id) =>
    this.#write(async () => {
      const deleted = await this.#parts.store.deleteKey(scope, id)
      if (deleted.ok && deleted.value !== null) {
        await this.#takeKeys(deleted.value, (keys) => keys.delete(id))
      }
      return deleted
    })

  readonly createRecord: DynamicDnsStore['createRecord'] = (record) =>
    this.#write(async () => {
      const created = await this.#parts.store.createRecord(record)
      if (created.ok) await this.#takeRecords(created.value)
      return created
    })

  readonly deleteRecord: DynamicDnsStore['deleteRecord'] = (scope, id) =>
    this.#write(async () => {
      const deleted = await this.#parts.store.deleteRecord(scope, id)
      if (deleted.ok && deleted.value !== null) await this.#takeRecords(deleted.value)
      return deleted
    })

  /**
   * All changes of one update or none: durable, and in force on this node, when it resolves.
   *
   * @param onStored called when they are durable and in `texts`: the next update may be checked
   * @param seen by which the changes were decided; other nodes may have written since
   */
  apply(
    writer: RecordWriter,
    changes: readonly RecordChange[],
    onStored: () => void = () => undefined,
    seen?: SeenRecords,
  ): ReturnType<DynamicDnsStore['applyChanges']> {
    return this.#write(async () => {
      const { store, now } = this.#parts
      const applied = await store.applyChanges(writer, changes, now(), seen)
      if (!applied.ok) return applied
      await this.#takeRecords(applied.value)
      onStored()
      return applied
    })
  }

  readonly listKeys: DynamicDnsStore['listKeys'] = (scope) => this.#parts.store.listKeys(scope)
  readonly listRecords: DynamicDnsStore['listRecords'] = (scope) =>
    this.#parts.store.listRecords(scope)

  async #write<T, Code extends string>(work: () => StoreCall<T, Code>): StoreCall<T, Code> {
    if (this.#waiting >= waitingMax) {
      const message = `${waitingMax} writes of TSIG keys and records wait already.`
      return err({ code: 'store-away', message })
    }
    return await this.#takenInTurn(work)
  }

  /** The next turn begins before this change is taken: many changes are taken at once. */
  async #takenInTurn<T>(work: () => Promise<T>): Promise<T> {
    const { result, taken } = await this.#inTurn(async () => {
      const done = await work()
      return { result: done, taken: this.#taken }
    })
    await taken
    return result
  }

  /** Writes and looks follow each other, so that what they found is taken in the same order. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++
    const before = this.#turns
    const done = (async () => {
      await before
      return await work()
    })()
    this.#turns = done.catch(() => undefined)
    try {
      return await done
    } finally {
      this.#waiting--
    }
  }

  async #look(): Promise<boolean> {
    const { store } = this.#parts
    const found = await store.revisions()
    if (!found.ok) return this.#isLost(found.error)
    const { keys, records } = found.value
    if (keys !== this.#revisions.keys || records !== this.#revisions.records) {
      const loaded = await store.load()
      if (!loaded.ok) return this.#isLost(loaded.error)
      this.#adoptAll(loaded.value, true)
    }
    this.#isAway = false
    return true
  }

  #isLost({ message }: StoreFailure): false {
    if (!this.#isAway) {
      this.#parts.log.warn({ reason: message }, 'TSIG keys and run-time records stay as they are')
    }
    this.#isAway = true
    return false
  }

  async #takeKeys(
    revision: number,
    change: (keys: Map<string, StoredTsigKey>) => unknown,
  ): Promise<void> {
    // What this node did is in force here, even where what others did before it cannot be read.
    change(this.#stored)
    this.#bindKeys()
    if (revision === this.#revisions.keys + 1) this.#revisions.keys = revision
    else await this.#look()
    this.#copyLater()
  }

  async #takeRecords({ revision, added, removed }: RecordDelta): Promise<void> {
    if (revision === this.#revisions.records) return
    const isNext = revision === this.#revisions.records + 1
    // Other nodes have written before: all of it has to be read.
    if (isNext || !(await this.#look())) {
      if (isNext) this.#revisions.records = revision
      this.#tell({ removed, added })
    }
    if (added.length + removed.length === 0) return
    // Not before it is in the state, which a copy may take meanwhile.
    this.#note({ from: revision - 1, revision, added, removed })
  }

  #note(change: CopyChange): void {
    if (!this.#parts.copy.note(change)) this.#copyAtOnce()
  }

  #adoptAll(state: DynamicDnsState, isNews: boolean): void {
    const from = this.#revisions.records
    this.#revisions = { ...state.revisions }
    this.#stored = new Map(state.keys.map((key) => [key.id, key]))
    this.#bindKeys()
    if (isNews) this.#copyLater()
    const { records: revision } = state.revisions
    if (revision === from) return
    const delta = this.texts.deltaTo(state.records)
    this.#tell(delta, isNews)
    // It is one line: more of what others wrote waits for the copy.
    const isLong = delta.added.length + delta.removed.length > recordsPerTurn
    if (isNews && !isLong) this.#note({ from, revision, ...delta })
  }

  #bindKeys(): void {
    const { secretKey, log } = this.#parts
    const before = this.#keys.unreadable
    this.#keys = new LiveKeys([...this.#stored.values()], secretKey)
    for (const handler of this.#keyHandlers) handler(this.#keys.all())
    const { unreadable } = this.#keys
    if (unreadable === 0 || unreadable === before) return
    const reason =
      secretKey === null ? 'GSLB_SECRET_KEY is not set' : 'they are of another GSLB_SECRET_KEY'
    log.error({ keys: unreadable }, `TSIG keys cannot be used on this node: ${reason}`)
  }

  #tell(delta: Omit<RecordDelta, 'revision'>, isNews = true): void {
    const revision = Math.max(this.#revisions.records, 0)
    const { added, removed } = delta
    const change = { revision, added, removed }
    const names = this.texts.change(change)
    if (isNews) this.#copyLater()
    const handlers = [...this.#handlers]
    this.#taken = Promise.all(handlers.map(async (handler) => handler({ ...change, names })))
    // A write that waits for `#taken` gets the error; without one it must not end the process.
    this.#taken.catch(() => undefined)
  }

  #copyLater(): void {
    this.#callOffCopy ??= this.#parts.after(copyDelayMs, () => this.#writeCopy())
  }

  #writeCopy(): void {
    this.#callOffCopy = undefined
    // Until then the copy is that of a moment before.
    if (this.#copying !== undefined) return this.#copyLater()
    this.#copying = this.#parts.copy.write(this.#state())?.finally(() => {
      this.#copying = undefined
    })
  }

  #copyAtOnce(): void {
    this.#callOffCopy?.()
    this.#callOffCopy = undefined
    this.#parts.copy.writeAtOnce(this.#state())
  }

  #state(): DynamicDnsState {
    return {
      // As they are now: it may be written in several turns.
      revisions: { ...this.#revisions },
      keys: [...this.#stored.values()],
      records: [...this.texts.records()],
    }
  }
}
