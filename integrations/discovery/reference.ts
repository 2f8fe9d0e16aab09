// The question of one pool member to a source, and the addresses that it gets.
import type { DiscoveredFrom } from '#bundle/discovered/from.ts'
import { discoveredLimits, partsForTenant } from '#bundle/discovered/from.ts'
import type { HostnameStatus } from '#inputs/resolve/address-source.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { Rarely } from '#lib/timer.ts'
import type { After } from '#lib/timer.ts'
import type { FoundMembers } from '#state/ports/last-members.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import type { Held, Membership } from './membership.ts'
import type { Query } from './query.ts'
import { hasLabels } from '#integrations/targets/targets.ts'
import type { CheckedTargets } from '#integrations/targets/targets.ts'

export interface ReferenceStatus {
  /** The tenant of the pools that ask. */
  readonly tenant: string
  /** As in the file of a pool. */
  readonly from: string
  /** True: the source is not for that tenant. */
  readonly isRefused: boolean
  /** Kind of the source; empty: this node's settings do not have it. */
  readonly kind: string
  readonly members: readonly { readonly address: string; readonly weight: number }[]
  /** When the addresses were found, Unix epoch; 0: never. */
  readonly foundAtMs: number
  /** Why the addresses are old or incomplete; empty: all is well. */
  readonly error: string
  /** null: no members are held. */
  readonly held: Held | null
  /** Members for which there is no place. */
  readonly unused: number
  /** Targets of the source that cannot be members. */
  readonly leftOut: number
  /** Why the first of them cannot; empty: their weight is 0. */
  readonly fault: string
}

interface ReferenceParts {
  readonly name: string
  /** undefined: the text of the member has another form. */
  readonly from: DiscoveredFrom | undefined
  readonly kind: string
  readonly isRefused: boolean
  readonly membership: Membership
  readonly foundAtMs: number
  readonly slots: (before: readonly string[], now: readonly string[]) => readonly string[]
  readonly clock: Clock
  readonly after: After
  readonly log: Log
  /** @param isChanged whether the members changed, and not only what is said of them */
  readonly onNews: (isChanged: boolean) => void
}

export class Reference {
  readonly #parts: ReferenceParts
  #v4: readonly string[] = []
  #v6: readonly string[] = []
  #weights: ReadonlyMap<string, number> = new Map()
  #foundAtMs: number
  #fault = ''
  #unused = 0
  #leftOut = 0
  #targetFault = ''
  #callOff: (() => void) | undefined
  readonly #changed: Rarely
  readonly #vanished: Rarely
  /** undefined: no source is asked. */
  query: Query | undefined

  constructor(parts: ReferenceParts) {
    this.#parts = parts
    this.#foundAtMs = parts.foundAtMs
    const { after } = parts
    const { logEveryMs } = discoveryLimits
    this.#changed = new Rarely(after, logEveryMs, (changes) => this.#logMembers(changes))
    this.#vanished = new Rarely(after, logEveryMs, () => this.#logHeld())
    this.#fill()
  }

  get from(): DiscoveredFrom | undefined {
    return this.#parts.from
  }

  get isRefused(): boolean {
    return this.#parts.isRefused
  }

  /** A source that says that nothing has changed has found the same. */
  get #atMs(): number {
    const { query } = this
    const known = query === undefined || query.checked === null ? 0 : query.foundAtMs
    return Math.max(this.#foundAtMs, known)
  }

  get status(): HostnameStatus {
    const { members, error, unused } = this.describe()
    const weights = new Map(members.map(({ address, weight }) => [address, weight]))
    return { v4: this.#v4, v6: this.#v6, resolvedAtMs: this.#atMs, error, unused, weights }
  }

  describe(): ReferenceStatus {
    const { name, kind, isRefused, membership } = this.#parts
    const { tenant, text: from } = partsForTenant(name)
    const members = [...this.#v4, ...this.#v6].filter((address) => address !== '')
    return {
      ...{ tenant, from, kind, isRefused },
      members: members.map((address) => ({ address, weight: this.#weights.get(address) ?? 1 })),
      foundAtMs: this.#atMs,
      error: this.#fault || heldText(membership.held, membership.findsNobody),
      held: membership.held,
      unused: this.#unused,
      leftOut: this.#leftOut,
      fault: this.#targetFault,
    }
  }

  /** What is kept and told to other nodes; undefined: nothing was found yet. */
  found(): FoundMembers | undefined {
    if (this.#atMs === 0) return undefined
    const { name, membership } = this.#parts
    return { name, members: [...membership.members], atMs: this.#atMs }
  }

  /** Notes why no source can be asked. */
  fail(why: string): void {
    this.#tellFault(why)
  }

  /** Takes the last answer of the source. */
  take({ checked, error, foundAtMs }: Query): void {
    if (checked === null || error !== '') this.#tellFault(error)
    else this.#takeTargets(checked, foundAtMs)
  }

  /** Takes an answer from before this question was asked, though the source may fail by now. */
  takeLast({ checked, error, foundAtMs }: Query): void {
    if (checked !== null) this.#takeTargets(checked, foundAtMs)
    if (error !== '') this.#tellFault(error)
  }

  accept(): boolean {
    if (!this.#parts.membership.accept()) return false
    this.#look()
    return true
  }

  stop(): void {
    this.#callOff?.()
    this.#changed.stop()
    this.#vanished.stop()
  }

  #takeTargets(checked: CheckedTargets, foundAtMs: number): void {
    const wanted = this.#parts.from?.labels ?? new Map<string, string>()
    const weights = new Map<string, number>()
    for (const target of checked.targets) {
      if (!hasLabels(target, wanted)) continue
      // Several on one machine become one member with the weight of all.
      const sum = (weights.get(target.address) ?? 0) + target.weight
      weights.set(target.address, Math.min(sum, discoveryLimits.weightMax))
    }
    const wasFaulty = this.#fault !== ''
    this.#fault = ''
    this.#foundAtMs = foundAtMs
    this.#leftOut = checked.leftOut
    this.#targetFault = checked.fault
    this.#look(weights, wasFaulty)
  }

  #look(found?: ReadonlyMap<string, number>, wasFaulty = false): void {
    const { membership, clock, after, onNews } = this.#parts
    const before = this.#text()
    const heldBefore = membership.held
    const heldTextBefore = heldText(heldBefore, membership.findsNobody)
    membership.take(clock.nowMs(), found)
    this.#fill()
    this.#callOff?.()
    this.#callOff = undefined
    if (membership.nextMs < Infinity) {
      const delayMs = Math.max(0, membership.nextMs - clock.nowMs())
      this.#callOff = after(delayMs, () => {
        this.#look()
      })
    }
    const isChanged = before !== this.#text()
    this.#log(isChanged, heldBefore)
    const isHeldOther = heldTextBefore !== heldText(membership.held, membership.findsNobody)
    if (isChanged || isHeldOther || wasFaulty) onNews(isChanged)
  }

  #log(isChanged: boolean, heldBefore: Held | null): void {
    const { held } = this.#parts.membership
    if (held !== null && held.missing !== heldBefore?.missing) this.#vanished.note()
    if (isChanged) this.#changed.note()
  }

  #logHeld(): void {
    const { log, membership } = this.#parts
    const { from } = this.describe()
    if (membership.held === null) return
    const { missing, members } = membership.held
    const line = 'too many members vanished at once: they are held, and answered'
    log.warn({ from, missing, members }, line)
  }

  #logMembers(changes: number): void {
    const { from, members, unused, leftOut, fault } = this.describe()
    const addresses = members.map(({ address }) => address)
    const fields = { from, members: addresses, unused, leftOut, fault }
    const often = changes > 1 ? { changes } : {}
    this.#parts.log.info({ ...fields, ...often }, 'members were discovered')
  }

  #text(): string {
    const weights = [...this.#weights.values()].join(' ')
    return [...this.#v4, ...this.#v6, weights].join(' ')
  }

  /**
   * Members keep their slots; vanished members give theirs up to found ones.
   */
  #fill(): void {
    const { membership, slots } = this.#parts
    const placedBefore = new Set([...this.#v4, ...this.#v6])
    const rankOf = (address: string): number =>
      (membership.isThere(address) ? 0 : 2) + (placedBefore.has(address) ? 0 : 1)
    const ranked = [...membership.members].map(
      ([address, weight]) => ({ address, weight, rank: rankOf(address) }) as const,
    )
    ranked.sort((a, b) => a.rank - b.rank || (a.address < b.address ? -1 : 1))
    const isIpv6 = (address: string): boolean => address.includes(':')
    const ofFamily = (isV6: boolean): readonly string[] => {
      const own = ranked.filter(({ address }) => isIpv6(address) === isV6)
      return own.slice(0, discoveredLimits.slots).map(({ address }) => address)
    }
    this.#v4 = slots(this.#v4, ofFamily(false))
    this.#v6 = slots(this.#v6, ofFamily(true))
    const placed = new Set([...this.#v4, ...this.#v6])
    const members = ranked.filter(({ address }) => placed.has(address))
    members.sort((a, b) => (a.address < b.address ? -1 : 1))
    this.#weights = new Map(members.map(({ address, weight }) => [address, weight]))
    this.#unused = ranked.length - this.#weights.size
  }

  #tellFault(why: string): void {
    if (why === this.#fault) return
    this.#fault = why
    const { log, onNews } = this.#parts
    const { tenant, text: from } = partsForTenant(this.#parts.name)
    const since = this.#atMs === 0 ? null : new Date(this.#atMs).toISOString()
    log.warn(
      { tenant, from, reason: why, since },
      since === null
        ? 'members cannot be discovered, and none are known'
        : 'members cannot be discovered; the last good ones are answered',
    )
    onNews(false)
  }
}

function heldText(held: Held | null, isEmpty: boolean): string {
  if (held === null) return ''
  const { missing, members } = held
  const what = `${missing} of ${members} members are not found any more`
  if (isEmpty) {
    return (
      `${what}: the source finds nobody, so they are held, whatever discovery.maxRemoved says; ` +
      'if it is right, take the entry out of the pool, or let them go'
    )
  }
  return `${what}, too many at once: they are held; discovery.maxRemoved says how many may go`
}
