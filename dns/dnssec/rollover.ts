// Decides the next steps of a rollover, from what has happened to the keys of a zone and what its
// parent was seen to have: a pure function. RFC 7583, RFC 6781 sections 4.1.1 to 4.1.4.
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { parseName } from '#dns/name.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { KeyRecord, KeyRole, KeyTimes } from './key-record.ts'
import { areSame, hadDs, notAfter } from './key-times.ts'
import { longestTtls, servedTtls } from './served-ttls.ts'
import type { ServedTtls } from './served-ttls.ts'
import { DigestType, dsRdata } from './zone-key.ts'

export interface RollPolicy {
  /** null: what the keys are; `csk` where there are none. */
  readonly model: 'csk' | 'kskzsk' | null
  /** null: that of the keys; `defaultAlgorithm` where there are none. */
  readonly algorithm: number | null
  readonly defaultAlgorithm: number
  /** How long a KSK or CSK leads; null: until a person says so. */
  readonly kskMs: number | null
  /** How long a ZSK signs; null: until a person says so. */
  readonly zskMs: number | null
  /** Until all nodes have what was decided here. */
  readonly propagationMs: number
  /** Until all servers of the parent have what one has, and the TTL of DS records there. */
  readonly parentMs: number
}

/** What the servers of the parent had when they were asked last: DS in presentation form. */
export interface ParentView {
  readonly onAll: readonly string[]
  readonly onAny: readonly string[]
}

export interface RollInput {
  readonly records: readonly KeyRecord[]
  readonly policy: RollPolicy
  /** null: it was never asked, or not all of its servers answered. */
  readonly parent: ParentView | null
  /** It was asked just now. What it said before may be older than what another node has seen. */
  readonly isParentFresh: boolean
  /** TTL of the DNSKEY rrset, and the longest TTL of the zone, that caches may have. */
  readonly keyTtlMs: number
  readonly longestTtlMs: number
  readonly nowMs: number
  /** No wait ends before. See `look`. */
  readonly heldUntilMs: number
}

export interface WantedKey {
  readonly role: KeyRole
  readonly algorithm: number
}

/** A step that waits. */
export type Waiting =
  /** For caches. */
  | { readonly for: 'time'; readonly tag: number; readonly step: Step; readonly untilMs: number }
  /** For a person, or for a parent that reads CDS. */
  | { readonly for: 'parent'; readonly tag: number; readonly ds: string; readonly sinceMs: number }
  /** A person is to take them away: validators may not bear them beside the new one. */
  | { readonly for: 'old-ds'; readonly tag: number; readonly ds: readonly string[] }
  /** Nodes that answer by keys of before: each wait begins anew when they have the last ones. */
  | { readonly for: 'nodes'; readonly tag: number; readonly nodes: readonly string[] }
  /** It goes once another key has taken its place, which waits itself. */
  | { readonly for: 'key'; readonly tag: number; readonly by: number }
  /** Until then a key does. */
  | { readonly for: 'age'; readonly tag: number; readonly role: KeyRole; readonly untilMs: number }

export type Step = 'show' | 'sign' | 'give-ds' | 'remove' | 'stop-signing'

export interface Rolled {
  readonly records: readonly KeyRecord[]
  /** Keys to make and to add; then it is called again. */
  readonly wanted: readonly WantedKey[]
  readonly waiting: readonly Waiting[]
  /** When to look again at the latest; null: only when something else changes. */
  readonly nextMs: number | null
}

/** More than the waits of the RFCs: clocks of nodes are not quite the same. */
const safetyMs = 3_600_000
/** A longer time between two looks may be a jump of the clock. */
const gapMaxMs = 15 * 60_000
/** Clocks are set back a little all the time. */
const backMaxMs = 60_000

/** What a node knows of its clock and of a zone: what `RollInput.heldUntilMs` comes from. */
export interface Looked {
  /** null: never. */
  readonly atMs: number | null
  readonly heldUntilMs: number
  /** See `longestTtls`. */
  readonly ttls: readonly ServedTtls[]
}

/**
 * After a jump of the clock, or where another node has decided something by its own clock, nothing
 * goes on for as long as the longest wait: nothing from before it is cached then.
 *
 * @param isOthers another node has, or one still answers by keys of before
 */
export function look(
  before: Looked,
  input: Pick<RollInput, 'records' | 'policy' | 'parent' | 'keyTtlMs' | 'longestTtlMs' | 'nowMs'>,
  isOthers: boolean,
): Looked {
  const { policy, nowMs, records, parent } = input
  const gapMs = before.atMs === null ? Infinity : nowMs - before.atMs
  const isTrusted = gapMs >= -backMaxMs && gapMs <= gapMaxMs
  const slackMs = policy.propagationMs + safetyMs
  const ttls = servedTtls(before.ttls, input, { nowMs, slackMs, isTrusted })
  const { keyTtlMs, longestTtlMs } = longestTtls(ttls)
  // Before the first DS of the zone no cache has one.
  const hasDs = parent === null || parent.onAny.length > 0 || hadDs(records)
  const parentMs = hasDs ? policy.parentMs : 0
  const untilMs = nowMs + Math.max(keyTtlMs, longestTtlMs, parentMs) + slackMs
  const heldUntilMs = isTrusted && !isOthers ? Math.min(before.heldUntilMs, untilMs) : untilMs
  return { atMs: nowMs, heldUntilMs, ttls }
}

/** Removed keys are forgotten after so long. */
const keptMs = 30 * 86_400_000

export function roll(input: RollInput): Rolled {
  const round = new Round(input)
  round.run()
  return round.result()
}

/** The DS record of a key, as its parent is to have it: SHA-256. RFC 8624 section 3.3. */
export function dsText({ zone, publicKey }: KeyRecord, digest: DigestType = DigestType.Sha256) {
  const wire = parseName(zone)
  // A record is read with its name checked.
  const name = wire.ok ? wire.value : new Uint8Array(1)
  return rdataTypeOf(RrType.DS).print(dsRdata(name, { rdata: publicKey }, digest))
}

/** Whether a DS record is of a key, by any digest that is in use. */
export function isDsOf(ds: string, record: KeyRecord): boolean {
  return Object.values(DigestType).some((digest) => dsText(record, digest) === ds)
}

const isGone = ({ times }: KeyRecord): boolean =>
  times.removedMs !== null && times.retiredMs !== null
const isShown = ({ times }: KeyRecord): boolean =>
  times.publishedMs !== null && times.removedMs === null
const isSigning = ({ role, times }: KeyRecord): boolean =>
  role !== 'ksk' && times.activeMs !== null && times.retiredMs === null
/** It may still come to be used. */
const isHopeful = ({ times }: KeyRecord): boolean =>
  times.retiredMs === null && times.removedMs === null

const ownOf = (records: readonly KeyRecord[]): KeyRecord[] =>
  records.filter((one) => one.secret !== null && !isGone(one))

interface Leading {
  readonly algorithm: number
  readonly entryRole: KeyRole
  readonly signerRole: KeyRole
  /** The newest keys of what is wanted; undefined: to be made. They stand in order of making. */
  readonly entry: KeyRecord | undefined
  readonly signer: KeyRecord | undefined
}

function leading(records: readonly KeyRecord[], policy: RollPolicy): Leading {
  const own = ownOf(records).filter(isHopeful)
  const algorithm = policy.algorithm ?? own.at(-1)?.algorithm ?? policy.defaultAlgorithm
  const isSplit =
    policy.model === null ? own.some(({ role }) => role !== 'csk') : policy.model === 'kskzsk'
  const [entryRole, signerRole]: [KeyRole, KeyRole] = isSplit ? ['ksk', 'zsk'] : ['csk', 'csk']
  const newest = (role: KeyRole): KeyRecord | undefined =>
    own.findLast((one) => one.role === role && one.algorithm === algorithm)
  return { algorithm, entryRole, signerRole, entry: newest(entryRole), signer: newest(signerRole) }
}

/**
 * A roll that a person begins: the keys that are to be made and added.
 *
 * @param what a role, or all that there are; in an emergency also while another roll goes on
 * Errors: a sentence.
 */
export function beginRoll(
  records: readonly KeyRecord[],
  policy: RollPolicy,
  what: { readonly role: KeyRole | null; readonly isEmergency: boolean },
): Result<readonly WantedKey[], string> {
  const { algorithm, entryRole, signerRole, entry, signer } = leading(records, policy)
  const roles = [...new Set([entryRole, signerRole])]
  if (entry === undefined || signer === undefined) {
    return err('The zone has no keys yet that another one could follow.')
  }
  if (what.role !== null && !roles.includes(what.role)) {
    return err(`The zone has no ${what.role.toUpperCase()}: its keys are ${roles.join(' and ')}.`)
  }
  const going = ownOf(records).length - roles.length
  if (going > 0 && !what.isEmergency) {
    return err(
      'A roll of this zone goes on. Wait until it has ended ("gslbd dnssec status"), or call it ' +
        'an emergency.',
    )
  }
  if (going > goingMax) return err(`The zone has ${going} keys that are on their way out.`)
  return ok(
    roles.filter((role) => (what.role ?? role) === role).map((role) => ({ role, algorithm })),
  )
}

/**
 * A person says that all servers of the parent have the DS of a key, and of no other algorithm:
 * where they cannot be asked. It counts from now on, as if seen now.
 *
 * Errors: a sentence.
 */
export function sayDsSeen(
  records: readonly KeyRecord[],
  tag: number,
  nowMs: number,
): Result<readonly KeyRecord[], string> {
  const entries = ownOf(records).filter((one) => one.role !== 'zsk' && isShown(one))
  const said = entries.find((one) => one.tag === tag)
  if (said === undefined) {
    const tags = entries.map((one) => one.tag).join(', ')
    return err(`The zone has no key ${tag} that a DS record is of: those are ${tags || 'none'}.`)
  }
  if (said.times.dsSubmittedMs === null) {
    return err(
      `Key ${tag} may not have its DS record at the parent yet: "gslbd dnssec status" says when.`,
    )
  }
  if (!isLastGiven(said, entries)) {
    return err(`Key ${tag} is on its way out: the parent needs the DS record of another one.`)
  }
  const times = { ...said.times, dsSaidMs: nowMs, dsSeenMs: said.times.dsSeenMs ?? nowMs }
  return ok(records.map((one) => (one === said ? { ...one, times } : one)))
}

/** Whether CDS names it. */
function isLastGiven(one: KeyRecord, all: readonly KeyRecord[]): boolean {
  const { dsSubmittedMs } = one.times
  return (
    dsSubmittedMs !== null &&
    all.every((other) => !isShown(other) || (other.times.dsSubmittedMs ?? 0) <= dsSubmittedMs)
  )
}

/** Emergencies on top of each other: the DNSKEY rrset is to stay small. */
const goingMax = 6

class Round {
  readonly #input: RollInput
  #records: KeyRecord[]
  readonly #wanted: WantedKey[] = []
  readonly #waiting: Waiting[] = []
  #nextMs = Infinity

  constructor(input: RollInput) {
    this.#input = input
    const { nowMs } = input
    // A time to come is of a clock that was ahead: what it waits for begins anew.
    this.#records = input.records
      .map((record) => ({ ...record, times: notAfter(record.times, nowMs, input.records) }))
      .filter((one) => !isGone(one) || nowMs - one.times.removedMs! < keptMs)
  }

  run(): void {
    const { algorithm, entryRole, signerRole, entry, signer } = leading(
      this.#records,
      this.#input.policy,
    )
    if (entry === undefined) this.#wanted.push({ role: entryRole, algorithm })
    if (signer === undefined && signerRole !== entryRole) {
      this.#wanted.push({ role: signerRole, algorithm })
    }
    if (entry === undefined || signer === undefined) return
    this.#seeParent(algorithm)
    this.#bringIn(algorithm)
    this.#sign(signer.publicKey)
    this.#giveDs(entry.publicKey)
    this.#remove(entry.publicKey, signer.publicKey, algorithm)
    this.#renew(entry.publicKey, signer.publicKey)
    this.#tellOthers(entry.publicKey, signer.publicKey)
  }

  result(): Rolled {
    const nextMs = Number.isFinite(this.#nextMs) ? this.#nextMs : null
    const before = this.#input.records
    const isSame =
      before.length === this.#records.length &&
      before.every((one, i) => areSame(one.times, this.#records[i]!.times))
    const records = isSame ? before : this.#records
    return { records, wanted: this.#wanted, waiting: this.#waiting, nextMs }
  }

  /** Each key that is needed no more has a next step, also where it is another key's. */
  #tellOthers(entryKey: Uint8Array, signerKey: Uint8Array): void {
    const [entry, signer] = [this.#at(entryKey), this.#at(signerKey)]
    const waiting = new Set(this.#waiting.map(({ tag }) => tag))
    for (const { tag, role, publicKey } of this.#own) {
      if (waiting.has(tag) || publicKey === entryKey || publicKey === signerKey) continue
      const isEntryNext = role === 'ksk' || signer.times.activeMs !== null
      this.#waiting.push({ for: 'key', tag, by: (isEntryNext ? entry : signer).tag })
    }
  }

  get #own(): KeyRecord[] {
    return ownOf(this.#records)
  }

  #at(publicKey: Uint8Array): KeyRecord {
    return this.#records.find((one) => one.publicKey === publicKey)!
  }

  #set({ publicKey }: KeyRecord, ...names: readonly (keyof KeyTimes)[]): void {
    const { nowMs } = this.#input
    this.#change(publicKey, Object.fromEntries(names.map((name) => [name, nowMs])))
  }

  #change(publicKey: Uint8Array, times: Partial<KeyTimes>): void {
    this.#records = this.#records.map((one) =>
      one.publicKey === publicKey ? { ...one, times: { ...one.times, ...times } } : one,
    )
  }

  /** Whether a wait is over; else it is told of. */
  #passed(one: KeyRecord, sinceMs: number, waitMs: number, step: Step): boolean {
    const { nowMs, heldUntilMs } = this.#input
    const untilMs = Math.max(sinceMs + waitMs + safetyMs, heldUntilMs)
    if (nowMs >= untilMs) return true
    this.#waiting.push({ for: 'time', tag: one.tag, step, untilMs })
    this.#nextMs = Math.min(this.#nextMs, untilMs)
    return false
  }

  get #keySetMs(): number {
    return this.#input.keyTtlMs + this.#input.policy.propagationMs
  }

  get #recordsMs(): number {
    return this.#input.longestTtlMs + this.#input.policy.propagationMs
  }

  /** Notes since when the parent has the DS of each key, without those of other algorithms. */
  #seeParent(algorithm: number): void {
    const { parent, isParentFresh } = this.#input
    if (parent === null) return
    for (const one of this.#own.filter(({ role }) => role !== 'zsk')) {
      const isThere = parent.onAll.some((ds) => isDsOf(ds, one))
      const others = parent.onAny.filter((ds) => Number(ds.split(' ')[1]) !== one.algorithm)
      const isSeen = isThere && others.length === 0
      const wasSeen = one.times.dsSeenMs !== null
      if (isParentFresh && isSeen && !wasSeen) this.#set(one, 'dsSeenMs')
      if (isParentFresh && !isSeen && wasSeen) this.#change(one.publicKey, { dsSeenMs: null })
      if (isParentFresh && one.times.dsSaidMs !== null) {
        this.#change(one.publicKey, { dsSaidMs: null })
      }
      if (isThere && others.length > 0 && one.algorithm === algorithm) {
        this.#waiting.push({ for: 'old-ds', tag: one.tag, ds: others })
      }
    }
  }

  /** New keys into the DNSKEY rrset; those of a new algorithm sign everything before. */
  #bringIn(algorithm: number): void {
    const shown = this.#own.filter(isShown)
    const isFirst = shown.length === 0
    const isKnown = isFirst || shown.some((one) => one.algorithm === algorithm)
    const fresh = this.#own.filter(
      (one) => one.algorithm === algorithm && isHopeful(one) && one.times.publishedMs === null,
    )
    for (const one of fresh) {
      if (isFirst) this.#set(one, 'publishedMs', 'activeMs')
      else if (isKnown && one.times.activeMs === null) this.#set(one, 'publishedMs')
      else if (one.role !== 'ksk' && one.times.activeMs === null) this.#set(one, 'activeMs')
    }
    if (isKnown) return
    const signers = this.#own.filter((one) => one.algorithm === algorithm && isSigning(one))
    const sign = signers.at(-1)
    if (sign === undefined) return
    if (!this.#passed(sign, sign.times.activeMs!, this.#recordsMs, 'show')) return
    for (const one of fresh) this.#set(one, 'publishedMs')
  }

  /** The newest key signs records once resolvers know it; those before it end at that moment. */
  #sign(publicKey: Uint8Array): void {
    const one = this.#at(publicKey)
    const { publishedMs, activeMs } = one.times
    if (publishedMs === null) return
    if (activeMs === null) {
      if (!this.#passed(one, publishedMs, this.#keySetMs, 'sign')) return
      this.#set(one, 'activeMs')
    }
    for (const old of this.#own) {
      const isBefore = old.publicKey !== publicKey && old.algorithm === one.algorithm
      if (isBefore && isSigning(old)) this.#set(old, 'retiredMs')
    }
  }

  #giveDs(publicKey: Uint8Array): void {
    const one = this.#at(publicKey)
    const { publishedMs, dsSubmittedMs } = one.times
    if (publishedMs === null) return
    const others = this.#own.filter((other) => other !== one && isShown(other))
    const lastMs = Math.max(...others.map(({ times }) => times.dsSubmittedMs ?? -Infinity))
    if (dsSubmittedMs === null || dsSubmittedMs < lastMs) {
      // The zone may have been unsigned before: everything in caches is to have signatures.
      const waitMs = Math.max(this.#keySetMs, this.#recordsMs)
      const isSecond = others.some(({ role }) => role !== 'zsk')
      const needMs = isSecond ? this.#keySetMs : waitMs
      if (!this.#passed(one, publishedMs, needMs, 'give-ds')) return
      this.#set(one, 'dsSubmittedMs')
      // What a person said was before the parent was told of this one.
      for (const { publicKey: other } of this.#own) this.#change(other, { dsSaidMs: null })
      // It came back: what was seen was before the parent was told of the other one.
      if (dsSubmittedMs !== null) this.#change(publicKey, { dsSeenMs: null })
      if (one.role === 'ksk') this.#set(one, 'activeMs')
    }
    if (this.#at(publicKey).times.dsSeenMs !== null) return
    const sinceMs = this.#at(publicKey).times.dsSubmittedMs!
    this.#waiting.push({ for: 'parent', tag: one.tag, ds: dsText(one), sinceMs })
  }

  #remove(entryKey: Uint8Array, signerKey: Uint8Array, algorithm: number): void {
    const entry = this.#at(entryKey)
    const olds = this.#own.filter(
      ({ publicKey }) => publicKey !== entryKey && publicKey !== signerKey,
    )
    for (const old of olds) {
      if (old.algorithm === algorithm) this.#removeSame(old, entry, this.#at(signerKey))
    }
    const others = olds.filter((old) => old.algorithm !== algorithm)
    if (others.length > 0) this.#removeAlgorithm(others, entry)
  }

  /** Whether every resolver has the DS of the key that leads now. */
  #isDsKnown(entry: KeyRecord, about: KeyRecord): boolean {
    const { dsSeenMs, dsSaidMs, dsSubmittedMs } = entry.times
    if (dsSeenMs === null || dsSubmittedMs === null) return false
    if (dsSaidMs === null && this.#input.parent === null) return false
    const { parentMs, propagationMs } = this.#input.policy
    return this.#passed(about, dsSeenMs, parentMs + propagationMs, 'remove')
  }

  #removeSame(old: KeyRecord, entry: KeyRecord, signer: KeyRecord): void {
    const { publishedMs, activeMs, retiredMs } = old.times
    if (signer.times.activeMs === null) return
    const isSigner = old.role !== 'ksk'
    if (isSigner && isSigning(old)) return
    if (isSigner && activeMs !== null && retiredMs !== null) {
      if (!this.#passed(old, retiredMs, this.#recordsMs, 'remove')) return
    }
    if (old.role !== 'zsk' && publishedMs !== null && !this.#isDsKnown(entry, old)) return
    this.#set(old, 'removedMs', ...(retiredMs === null ? (['retiredMs'] as const) : []))
  }

  /** RFC 6781 section 4.1.4: keys go first, and signatures when no resolver has the keys. */
  #removeAlgorithm(others: readonly KeyRecord[], entry: KeyRecord): void {
    const unseen = others.filter(({ times }) => times.publishedMs === null)
    for (const old of unseen) this.#set(old, 'removedMs', 'retiredMs')
    const shown = others.filter(isShown)
    if (shown.length > 0) {
      const isReady = entry.times.publishedMs !== null && this.#isDsKnown(entry, shown[0]!)
      if (!isReady) return
      for (const old of shown) this.#set(old, 'removedMs')
    }
    for (const { publicKey } of others) {
      const old = this.#at(publicKey)
      const { removedMs, retiredMs } = old.times
      if (removedMs === null || retiredMs !== null) continue
      if (this.#passed(old, removedMs, this.#keySetMs, 'stop-signing')) this.#set(old, 'retiredMs')
    }
  }

  /** A key that is too old is followed by another one, when nothing else is going on. */
  #renew(entryKey: Uint8Array, signerKey: Uint8Array): void {
    const { policy, nowMs } = this.#input
    const [entry, signer] = [this.#at(entryKey), this.#at(signerKey)]
    const isCalm = this.#own.length === (entry === signer ? 1 : 2)
    const lines: readonly (readonly [KeyRecord, number | null])[] =
      entry === signer
        ? [[entry, policy.kskMs]]
        : [
            [entry, policy.kskMs],
            [signer, policy.zskMs],
          ]
    for (const [one, lifeMs] of lines) {
      if (lifeMs === null || one.times.activeMs === null) continue
      // Nobody waits for a parent that has no DS of the zone at all.
      if (one.role !== 'zsk' && one.times.dsSeenMs === null) continue
      const untilMs = one.times.activeMs + lifeMs
      this.#waiting.push({ for: 'age', tag: one.tag, role: one.role, untilMs })
      if (nowMs < untilMs) this.#nextMs = Math.min(this.#nextMs, untilMs)
      else if (isCalm) this.#wanted.push({ role: one.role, algorithm: one.algorithm })
    }
  }
}
