// Rolls the keys of signed zones on a control node: looks at each zone now and then, makes the keys
// it needs, and stores what has happened.
import { createHash } from 'node:crypto'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { keyRecordJson, recordOfKey } from '#dns/dnssec/key-record.ts'
import type { KeyRecord, KeyRole } from '#dns/dnssec/key-record.ts'
import { beginRoll, look, roll, sayDsSeen } from '#dns/dnssec/rollover.ts'
import type {
  Looked,
  ParentView,
  Rolled,
  RollInput,
  RollPolicy,
  WantedKey,
} from '#dns/dnssec/rollover.ts'
import { longestTtls } from '#dns/dnssec/served-ttls.ts'
import { entryFlags, zoneKey } from '#dns/dnssec/zone-key.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { withListed } from './foreign-keys.ts'
import { isSaid } from './key-vault.ts'
import type { KeyVault } from './key-vault.ts'
import type { KeptView, StoredLooks } from './stored-looks.ts'

/** A zone that should be signed. */
export interface KeptZone {
  /** Lower case, with the final dot. */
  readonly name: string
  readonly policy: RollPolicy
  /** Rdata of the DNSKEY records that other signers have; left out: they are not listed. */
  readonly listed?: readonly Uint8Array[]
  readonly keyTtlMs: number
  readonly longestTtlMs: number
}

export interface KeyKeeperParts {
  readonly vault: Pick<KeyVault, 'keys' | 'change'>
  readonly zones: () => readonly KeptZone[]
  /** Asks the servers of the parent; null: not all of them answered. */
  readonly parentOf: (zone: string) => Promise<ParentView | null>
  readonly looks: StoredLooks
  /** Nodes that lack keys for longer than so many ms, and are waited for; left out: none is. */
  readonly behind?: (beyondMs: number) => readonly string[]
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
}

interface ZoneState {
  looked: Looked
  /** A digest of the keys that this node has seen or written last. */
  text: string
  parent: ParentView | null
  askedMs: number
  view: KeptView
}

/** Pauses between looks: while a step waits for the parent, and otherwise. */
const askedAgainMs = { waiting: 600_000, calm: 3_600_000 } as const
/** One look takes this many zones; the next look takes the others. */
const askedMax = 64
const askedAtOnce = 8
/** One step may lead to the next. */
const roundsMax = 4
const tagTriesMax = 16

export class KeyKeeper {
  readonly #parts: KeyKeeperParts
  readonly #states = new Map<string, ZoneState>()
  #isLooking = false

  constructor(parts: KeyKeeperParts) {
    this.#parts = parts
  }

  /** What each zone waits for. */
  views(): readonly KeptView[] {
    return [...this.#states.values()].map(({ view }) => view)
  }

  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      await this.#look()
    } finally {
      this.#isLooking = false
    }
  }

  async #look(): Promise<void> {
    const { zones, vault, looks } = this.#parts
    const kept = zones().filter(({ name }) => vault.keys().has(name))
    const names = new Set(kept.map(({ name }) => name))
    for (const name of this.#states.keys()) if (!names.has(name)) this.#states.delete(name)
    const due = new Set(kept.filter((zone) => this.#isDue(zone)).slice(0, askedMax))
    await this.#askParents([...due])
    // All at once: the vault puts changes that wait into force together.
    await Promise.all(kept.map((zone) => this.#keep(zone, this.#stateOf(zone.name), due.has(zone))))
    looks.write(
      [...this.#states].map(([zone, { looked, text }]) => ({ zone, looked, text })),
      this.views(),
    )
  }

  #isDue({ name }: KeptZone): boolean {
    const { parent, view, askedMs } = this.#stateOf(name)
    const isWaiting = parent === null || view.waiting.some((one) => one.for !== 'age')
    const periodMs = isWaiting ? askedAgainMs.waiting : askedAgainMs.calm
    return Math.abs(this.#parts.clock.nowMs() - askedMs) >= periodMs
  }

  /** Several at once: silent parents would make a look as long as a jump of the clock. */
  async #askParents(zones: readonly KeptZone[]): Promise<void> {
    const waiting = [...zones]
    const ask = async (): Promise<void> => {
      for (let zone = waiting.pop(); zone !== undefined; zone = waiting.pop()) {
        await this.#askParent(zone.name)
      }
    }
    await Promise.all(Array.from({ length: askedAtOnce }, ask))
  }

  async #askParent(zone: string): Promise<ParentView | null> {
    const state = this.#stateOf(zone)
    state.askedMs = this.#parts.clock.nowMs()
    return (state.parent = await this.#parts.parentOf(zone))
  }

  /**
   * Begins a roll that a person asks for.
   *
   * @param zone lower case, with the final dot
   * Errors: a sentence that says what to do.
   */
  async begin(
    zone: string,
    what: { readonly role: KeyRole | null; readonly isEmergency: boolean },
  ): Promise<Result<KeptView, string>> {
    const kept = this.#parts.zones().find(({ name }) => name === zone)
    if (kept === undefined) return err(notSigned(zone))
    const state = this.#stateOf(zone)
    const changed = await this.#parts.vault.change(zone, (before) => {
      const begun = beginRoll(before, kept.policy, what)
      if (!begun.ok) return begun
      return ok(begun.value.reduce((all, one) => [...all, this.#made(zone, one, all)], before))
    })
    if (!changed.ok) return err(changed.error.message)
    state.text = textOf(changed.value)
    await this.#keep(kept, state, false)
    return ok(state.view)
  }

  /**
   * Notes a person's word that the parent has the DS of a key. Where the parent can be asked, its
   * answer counts alone.
   *
   * @param zone lower case, with the final dot
   * Errors: a sentence that says what to do.
   */
  async seen(zone: string, tag: number): Promise<Result<KeptView, string>> {
    const { vault, clock, log, zones } = this.#parts
    const kept = zones().find(({ name }) => name === zone)
    if (kept === undefined) return err(notSigned(zone))
    const possible = sayDsSeen(vault.keys().get(zone) ?? [], tag, clock.nowMs())
    if (!possible.ok) return possible
    const state = this.#stateOf(zone)
    const parent = await this.#askParent(zone)
    if (parent !== null) {
      await this.#keep(kept, state, true)
      const keys = vault.keys().get(zone) ?? []
      const isSeen = keys.some((one) => one.tag === tag && one.times.dsSeenMs !== null)
      return isSeen ? ok(state.view) : err(saysOtherwise(tag, parent))
    }
    const changed = await vault.change(zone, (before) => sayDsSeen(before, tag, clock.nowMs()))
    if (!changed.ok) return err(changed.error.message)
    log.info({ zone }, `the DS of key ${tag} is at the parent, as a person says`)
    state.text = textOf(changed.value)
    await this.#keep(kept, state, false)
    return ok(state.view)
  }

  #stateOf(zone: string): ZoneState {
    const known = this.#states.get(zone)
    if (known !== undefined) return known
    const stored = this.#parts.looks.of(zone)
    const state: ZoneState = {
      looked: stored?.looked ?? { atMs: null, heldUntilMs: 0, ttls: [] },
      text: stored?.text ?? '',
      ...{ parent: null, askedMs: -Infinity },
      view: { zone, waiting: [], nextMs: null, parent: null },
    }
    this.#states.set(zone, state)
    return state
  }

  async #keep(zone: KeptZone, state: ZoneState, isParentFresh: boolean): Promise<void> {
    const { vault, clock, log } = this.#parts
    const nowMs = clock.nowMs()
    const before = vault.keys().get(zone.name) ?? []
    const text = textOf(before)
    const behind = this.#parts.behind?.(zone.policy.propagationMs) ?? []
    const isOthers = text !== state.text || behind.length > 0
    const { parent } = state
    state.looked = look(state.looked, { ...zone, records: before, parent, nowMs }, isOthers)
    state.text = text
    const { heldUntilMs, ttls } = state.looked
    const seen = { parent, isParentFresh }
    const input = { ...zone, ...longestTtls(ttls), ...seen, nowMs, heldUntilMs }
    const whole = (all: readonly KeyRecord[]): readonly KeyRecord[] =>
      zone.listed === undefined ? all : withListed(all, zone.name, zone.listed, nowMs)
    let last = this.#rolled(whole(before), input)
    if (last.records !== before) {
      const changed = await vault.change(zone.name, (records) => {
        last = this.#rolled(whole(records), input)
        return ok(last.records)
      })
      if (!changed.ok) {
        const reason = changed.error.message
        if (!isSaid(changed.error))
          log.warn({ zone: zone.name, reason }, 'keys of a zone do not roll')
        return
      }
      state.text = textOf(changed.value)
      for (const line of changesIn(before, changed.value)) log.info({ zone: zone.name }, line)
    }
    const { nextMs } = last
    const waiting = withNodes(last.waiting, behind)
    state.view = { zone: zone.name, waiting, nextMs, parent: state.parent }
  }

  #rolled(records: readonly KeyRecord[], input: Omit<RollInput, 'records'>): Rolled {
    let rolled = roll({ ...input, records })
    for (let again = 0; again < roundsMax && rolled.wanted.length > 0; again++) {
      const { name } = input as Omit<RollInput, 'records'> & Pick<KeptZone, 'name'>
      const all = rolled.wanted.reduce(
        (known, one) => [...known, this.#made(name, one, known)],
        rolled.records,
      )
      rolled = roll({ ...input, records: all })
    }
    return rolled
  }

  #made(zone: string, { role, algorithm }: WantedKey, known: readonly KeyRecord[]): KeyRecord {
    const flags = role === 'zsk' ? 256 : entryFlags
    const createdMs = this.#parts.clock.nowMs()
    // The compiler has checked the algorithm.
    const kind = signingAlgorithm(algorithm)!
    const make = (): KeyRecord =>
      recordOfKey(zone, zoneKey(kind.generate(), flags)!, role, { createdMs })
    let key = make()
    // Validators would have to try both of two keys with one tag.
    for (let i = 0; i < tagTriesMax && known.some(({ tag }) => tag === key.tag); i++) key = make()
    return key
  }
}

/** Adds the nodes that a step waits for. */
function withNodes(waiting: Rolled['waiting'], nodes: readonly string[]): Rolled['waiting'] {
  const first = waiting.find((one) => one.for === 'time')
  if (first === undefined || nodes.length === 0) return waiting
  return [...waiting, { for: 'nodes', tag: first.tag, nodes }]
}

const notSigned = (zone: string): string => `${zone} is not signed here: set "dnssec" of the zone.`

function saysOtherwise(tag: number, { onAll, onAny }: ParentView): string {
  const found = onAny.length === 0 ? 'no DS record' : onAny.map((ds) => `"${ds}"`).join(', ')
  const all = onAny.length > onAll.length ? ', not all of them everywhere' : ''
  return (
    `The servers of the parent can be asked, and have ${found}${all}: the DS record of key ` +
    `${tag} has to be on all of them, and none of another algorithm. It is seen then by itself.`
  )
}

/** Digest by which changes of other nodes are noticed. */
const textOf = (records: readonly KeyRecord[]): string =>
  createHash('sha256')
    .update(JSON.stringify(records.map(keyRecordJson)))
    .digest('base64')

const happened = {
  publishedMs: 'is in the DNSKEY records',
  activeMs: 'signs',
  dsSubmittedMs: 'is to be in the DS records of the parent: see "gslbd dnssec status"',
  dsSeenMs: 'is in the DS records of the parent',
  retiredMs: 'signs no more records',
  removedMs: 'is out of the DNSKEY records',
} as const

/** A line for each thing that has happened. */
function changesIn(before: readonly KeyRecord[], after: readonly KeyRecord[]): readonly string[] {
  return after.flatMap((one) => {
    const was = before.find(({ publicKey }) => Buffer.compare(publicKey, one.publicKey) === 0)
    const what = Object.entries(happened).filter(([name]) => {
      const key = name as keyof typeof happened
      return one.times[key] !== null && (was?.times[key] ?? null) === null
    })
    const key = `the ${one.role.toUpperCase()} ${one.tag}`
    const made = was === undefined ? [`${key} is made`] : []
    return [...made, ...what.map(([, said]) => `${key} ${said}`)]
  })
}
