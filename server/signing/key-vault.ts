// The keys of zones on a control node: what the database has, in memory, and a copy of it on the
// disk. Each change is a compare-and-swap, so that two control nodes never do the same thing twice.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { Mutex } from '#lib/mutex.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import type { ZoneKeysState, ZoneKeyStore } from '#state/ports/zone-keys.ts'
import type { KeyCopy } from './key-copy.ts'
import { byZone } from './key-set.ts'
import type { KeySet } from './key-set.ts'
import type { FirstKeys, KeySource, MakeFirst, NoFirstKeys } from './key-source.ts'
import { openedKeys, sealedKey } from './sealed-keys.ts'

/** In the data directory: made by a person whose database has lost its keys. */
export const giveBackFile = 'zone-keys.give-back'

export interface KeyVaultParts {
  readonly store: ZoneKeyStore
  readonly copy: KeyCopy
  /** 32 octets of GSLB_SECRET_KEY. */
  readonly secretKey: Uint8Array
  /**
   * What a zone without keys is to have first. Left out: one key. Errors: why it is to have none
   * that is made here.
   */
  readonly planFirst?: (zone: string) => Promise<Result<FirstKeys, NoFirstKeys>>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
}

type Unchanged = 'refused' | 'contended' | 'older' | 'unreadable'

export interface VaultFault {
  /**
   * `refused`: the change itself says why not. `contended`: others changed it again and again.
   * `older`: the database lacks what is known here.
   */
  readonly code: Unchanged | StoreFailure<'too-many-keys'>['code']
  readonly message: string
}

/** Whether the vault itself has said so in the log, once for all zones. */
export const isSaid = ({ code }: VaultFault): boolean =>
  code === 'store-away' || code === 'store-starting' || code === 'older'

/** @returns the keys that the zone is to have; errors: a sentence why there is no change */
type KeyChange = (before: readonly KeyRecord[]) => Result<readonly KeyRecord[], string>

/** What kept a first key from being made may have ended; it is asked for each ten seconds. */
const plannedAgainMs = 600_000
/** Each lost race is another node that has done something. */
const triesMax = 5

interface KnownZone {
  readonly version: number
  readonly records: readonly KeyRecord[]
}

export class KeyVault implements KeySource {
  readonly place = 'the database'
  readonly #parts: KeyVaultParts
  readonly #handlers = new Set<() => void>()
  #revision = 0
  /** What the store has, with changes of this node that are not in force yet. */
  #zones = new Map<string, KnownZone>()
  #keys: ReadonlyMap<string, readonly KeyRecord[]> = new Map()
  #faults: ReadonlyMap<string, string> = new Map()
  /** Looks and changes follow each other. */
  readonly #mutex = new Mutex()
  readonly #making = new Set<string>()
  /** Zones that get no first key here. */
  readonly #refused = new Map<string, NoFirstKeys & { readonly atMs: number }>()
  #isRead = false
  #isAway = false
  /** Changes of this node are stored, and not in force yet. */
  #isBehind = false
  #settling: Promise<void> | undefined
  /** The revision of a database that is older than what is known here; null: it is not. */
  #olderRevision: number | null = null

  constructor(parts: KeyVaultParts) {
    this.#parts = parts
  }

  /** Takes what the copy has: the database may be away, and is opened later. */
  start(): void {
    const copied = this.#parts.copy.read()
    if (copied === undefined) return
    this.#revision = copied.revision
    this.#keys = byZone(copied.records)
  }

  /** See `KeySet`: what nodes are given is of this one. */
  get revision(): number {
    return this.#revision
  }

  keys(): ReadonlyMap<string, readonly KeyRecord[]> {
    return this.#keys
  }

  faults(): ReadonlyMap<string, string> {
    return this.#faults
  }

  onChange(handler: () => void): void {
    this.#handlers.add(handler)
  }

  /** A sentence for each thing that keeps this node from what the database has. */
  troubles(): readonly string[] {
    const older = this.#olderRevision === null ? [] : [this.#olderSaid()]
    const sinceMs = this.#parts.clock.nowMs() - 2 * plannedAgainMs
    // One that is signed no more is not asked for again.
    const refused = [...this.#refused].filter(([zone, { atMs }]) => {
      return atMs >= sinceMs && !this.#keys.has(zone)
    })
    return [...older, ...this.#faults.values(), ...refused.map(([, { reason }]) => reason)]
  }

  /** What nodes are given. Errors: a sentence; they keep what they have. */
  set(): Result<KeySet, string> {
    // Nodes would take a zone that is left out as one whose keys are gone.
    for (const [zone, fault] of this.#faults) if (!this.#keys.has(zone)) return err(fault)
    return ok({ revision: this.#revision, records: [...this.#keys.values()].flat() })
  }

  /** Takes what other nodes have written. @returns false: the store cannot be reached */
  refresh(): Promise<boolean> {
    return this.#mutex.take(async () => (await this.#look()) === null)
  }

  /** Durable, and in force on this node, when it resolves. */
  async change(zone: string, change: KeyChange): Promise<Result<readonly KeyRecord[], VaultFault>> {
    const changed = await this.#mutex.take(() => this.#change(zone, change))
    if (this.#isBehind) await this.#settle()
    return changed
  }

  /** Puts all keys that are known here into a database that is older: a person has said so. */
  giveBack(): Promise<Result<null, VaultFault>> {
    return this.#mutex.take(() => this.#giveBack())
  }

  /** Why the zone has no key here, and none is made: a sentence; null: it has, or may have. */
  refusedFirst(zone: string): string | null {
    return this.#keys.has(zone) ? null : (this.#refused.get(zone)?.reason ?? null)
  }

  readonly makeFirst: MakeFirst = (zone, make) => {
    // Said already; nodes would take the first key in the place of all that they have.
    if (this.#olderRevision !== null) return null
    const refused = this.#refused.get(zone)
    const isFresh =
      refused?.isSoonOver === false &&
      Math.abs(this.#parts.clock.nowMs() - refused.atMs) < plannedAgainMs
    if (!isFresh && !this.#making.has(zone)) {
      this.#making.add(zone)
      void this.#makeFirst(zone, make).finally(() => this.#making.delete(zone))
    }
    return refused?.reason ?? null
  }

  async #makeFirst(zone: string, make: Parameters<MakeFirst>[1]): Promise<void> {
    const { log, clock, planFirst = oneKey } = this.#parts
    // The copy may be behind what the database has.
    await this.refresh()
    if (this.#keys.has(zone) || this.#olderRevision !== null) return
    const plan = await planFirst(zone)
    if (!plan.ok) {
      this.#refused.set(zone, { ...plan.error, atMs: clock.nowMs() })
      return
    }
    this.#refused.delete(zone)
    const records = make(plan.value)
    const isFirst: KeyChange = (before) => (before.length > 0 ? ok(before) : ok(records))
    const made = await this.change(zone, isFirst)
    if (!made.ok) {
      log.error({ zone, reason: made.error.message }, 'a key to sign the zone with is not made')
    } else if (made.value === records) {
      const tags = records.map(({ tag }) => tag)
      log.info({ zone, tags }, 'made a key to sign the zone with')
    }
  }

  async #change(
    zone: string,
    change: KeyChange,
  ): Promise<Result<readonly KeyRecord[], VaultFault>> {
    const { store, secretKey, clock } = this.#parts
    // Each time but for changes that follow each other at once: the database may be another one.
    const away = this.#isBehind ? null : await this.#look()
    if (away !== null) return err(away)
    for (let tries = 0; tries < triesMax; tries++) {
      if (this.#olderRevision !== null) return err({ code: 'older', message: this.#olderSaid() })
      const fault = this.#faults.get(zone)
      if (fault !== undefined) return err({ code: 'unreadable', message: fault })
      const known = this.#zones.get(zone)
      const before = known?.records ?? []
      const after = change(before)
      if (!after.ok) return err({ code: 'refused', message: after.error })
      if (after.value === before) return ok(before)
      const isOfZone = after.value.every((record) => record.zone === zone)
      assert(isOfZone, 'a change of one zone has keys of that zone')
      const keys = after.value.map((record) => sealedKey(record, secretKey))
      const swapped = await store.swap(zone, known?.version ?? 0, keys, clock.nowMs())
      if (swapped.ok) {
        this.#isBehind = true
        if (after.value.length === 0) this.#zones.delete(zone)
        else this.#zones.set(zone, { version: swapped.value, records: after.value })
        return ok(after.value)
      }
      const { code, message } = swapped.error
      if (code !== 'changed-meanwhile') return err({ code, message })
      const failure = await this.#look()
      if (failure !== null) return err(failure)
    }
    const message = `The keys of ${zone} were changed by others ${triesMax} times meanwhile.`
    return err({ code: 'contended', message })
  }

  /**
   * Changes that waited for each other come into force together: all keys are read, written into
   * the copy and handed to threads once, and not for each zone.
   */
  #settle(): Promise<void> {
    this.#settling ??= this.#mutex.take(async () => {
      this.#settling = undefined
      if (!this.#isBehind) return
      const failure = await this.#look()
      // They are stored. Not the new revision: the next look reads what others did meanwhile.
      if (failure !== null) this.#take(this.#revision, this.#zones, this.#faults)
      this.#isBehind = false
    })
    return this.#settling
  }

  async #giveBack(): Promise<Result<null, VaultFault>> {
    const { store, secretKey, clock, log } = this.#parts
    const away = await this.#look()
    if (away !== null) return err(away)
    if (this.#olderRevision === null) return ok(null)
    const loaded = await store.load()
    if (!loaded.ok) return loaded
    const versions = new Map(loaded.value.zones.map(({ zone, version }) => [zone, version]))
    let left = this.#keys.size
    for (const [zone, records] of this.#keys) {
      const keys = records.map((record) => sealedKey(record, secretKey))
      // The last one makes it the newest: until then other nodes take nothing of it.
      const atMs = --left === 0 ? Math.max(clock.nowMs(), this.#revision) : 0
      const swapped = await store.swap(zone, versions.get(zone) ?? 0, keys, atMs)
      if (!swapped.ok) return err({ code: 'contended', message: swapped.error.message })
    }
    log.info({ zones: this.#keys.size }, 'keys of zones that this node had are in the database')
    const failure = await this.#look()
    return failure === null ? ok(null) : err(failure)
  }

  #olderSaid(): string {
    const found = this.#olderRevision
    return (
      `the database has keys of zones of revision ${found}, and ${this.#revision} is known here: ` +
      'it was lost, or is older, so nothing is taken from it; bring the right one back, or make ' +
      `the file ${giveBackFile} in the data directory of this node, whose keys it has then`
    )
  }

  /** @returns whether the database lacks what is known here; then it stays as it is */
  #isOlder(revision: number): boolean {
    const was = this.#olderRevision
    // Without keys there is nothing to lose.
    const isOlder = revision < this.#revision && this.#keys.size > 0
    this.#olderRevision = isOlder ? revision : null
    const { log } = this.#parts
    if (was === null && isOlder) {
      log.error({ reason: this.#olderSaid() }, unusable)
    } else if (was !== null && !isOlder) {
      log.info({ revision }, 'keys of zones come from the database again')
    }
    return isOlder
  }

  /** @returns null: what the store has is known */
  async #look(): Promise<StoreFailure | null> {
    const { store, log } = this.#parts
    const revision = await store.revision()
    if (!revision.ok) return this.#lost(revision.error)
    const isOlder = this.#isOlder(revision.value)
    if (!isOlder && (!this.#isRead || revision.value !== this.#revision)) {
      const loaded = await store.load()
      if (!loaded.ok) return this.#lost(loaded.error)
      if (!this.#isOlder(loaded.value.revision)) this.#adopt(loaded.value)
    }
    if (this.#isAway) log.info({}, 'the database with the keys of zones is there again')
    this.#isAway = false
    return null
  }

  #lost(failure: StoreFailure): StoreFailure {
    const { log } = this.#parts
    if (!this.#isAway) log.warn({ reason: failure.message }, 'keys of zones stay as they are')
    this.#isAway = true
    return failure
  }

  #adopt({ revision, zones }: ZoneKeysState): void {
    const { secretKey, log } = this.#parts
    const known = new Map<string, KnownZone>()
    const faults = new Map<string, string>()
    for (const set of zones) {
      const before = this.#zones.get(set.zone)
      // The same objects: what was made of them stays good, and opening a key takes 100 µs.
      if (before?.version === set.version) {
        known.set(set.zone, before)
        continue
      }
      const records = openedKeys(set, secretKey)
      if (records.ok) {
        known.set(set.zone, { version: set.version, records: records.value })
        continue
      }
      faults.set(set.zone, records.error)
      // What could be read last goes on: changes are refused meanwhile.
      const last = this.#keys.get(set.zone)
      if (last !== undefined) known.set(set.zone, { version: 0, records: last })
    }
    const said = [...faults.values()]
    if (said.length > 0) log.error({ zones: said.length, first: said[0] }, unusable)
    this.#isRead = true
    this.#take(revision, known, faults)
  }

  #take(
    revision: number,
    zones: Map<string, KnownZone>,
    faults: ReadonlyMap<string, string>,
  ): void {
    this.#isBehind = false
    this.#revision = revision
    this.#zones = zones
    this.#faults = faults
    this.#keys = new Map([...zones].map(([zone, { records }]) => [zone, records]))
    const set = this.set()
    if (set.ok) this.#parts.copy.write(set.value)
    for (const handler of this.#handlers) handler()
  }
}

const oneKey = (): Promise<Result<FirstKeys, NoFirstKeys>> =>
  Promise.resolve(ok({ isSplit: false }))

const unusable = 'keys of zones in the database cannot be used'
