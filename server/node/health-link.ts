// Connects health to candidate lists: which members of a bundle are probed, and what a verdict
// changes.
import { addressOfMember, textOf, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag } from '#bundle/format/cells.ts'
import { parseHealthCheck } from '#bundle/format/health-check.ts'
import { isAlias, isResolved, rowsOfMember } from '#bundle/format/hostnames.ts'
import { memberExtraOf } from '#bundle/format/member-extra.ts'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import { assert } from '#lib/assert.ts'
import { systemAfter } from '#lib/timer.ts'
import type { After } from '#lib/timer.ts'
import { membersOf, rebuildPool } from '#routing/state/candidates.ts'
import { routingSettingsOf } from '#routing/choose/environment.ts'
import { slotAddress } from '#routing/state/slots.ts'
import { MemberOut } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { VerdictOwner } from '#state/ports/health-verdicts.ts'
import { arrivals } from './arrivals.ts'
import { blend } from '#health/view/blend.ts'
import type { MemberHealth } from '#health/view/member-health.ts'
import type { HealthMonitor, MonitoredTarget } from '#health/view/monitor.ts'
import { targetKey } from '#health/probes/probe.ts'
import { watchesNothing } from '#journal/journal.ts'
import type { StateWatch } from '#journal/journal.ts'
import { madeChecks, probedPools } from '#bundle/load/probed-pools.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'

/** A bundle and its state, which is written here. */
interface Serving {
  readonly bundle: Bundle
  readonly state: RoutingState
}

/** The effect of a verdict on the lists of candidates: none, another order, or other members. */
const Change = { None: 0, Order: 1, Members: 2 } as const
type Change = (typeof Change)[keyof typeof Change]

/**
 * How late the order of a list may follow the scores: to sort thousands takes a millisecond, and
 * scores move with every probe. Changed members show at once.
 */
export const orderEveryMs = 250

export class HealthLink {
  readonly #monitor: HealthMonitor
  readonly #after: After
  readonly #resolver: Pick<AddressSource, 'statusOf'> | null
  readonly #watch: StateWatch
  /** Pools of the serving bundle whose order must be checked. */
  readonly #unordered = new Set<number>()
  #isOrderDue = false
  /** Probed members of the serving bundle, by uid and address (`targetKey`). */
  #places = new Map<string, number>()
  #serving: Serving | undefined
  /** Checks of the serving bundle by their texts, so that a change parses only new texts. */
  #checks: ReadonlyMap<string, HealthCheckModel> = new Map()
  /** Host names (`targetKey`) of which a further address is a new backend, with a gate to pass. */
  #settled = new Set<string>()
  /** Keys of the members that are new in the bundle that was prepared last. */
  #arrivals: ReadonlySet<string> = new Set()

  /** @param resolver null: host names have no addresses */
  constructor(
    monitor: HealthMonitor,
    after: After = systemAfter,
    resolver: Pick<AddressSource, 'statusOf'> | null = null,
    watch: StateWatch = watchesNothing,
  ) {
    this.#watch = watch
    this.#monitor = monitor
    this.#after = after
    this.#resolver = resolver
    monitor.onUpdate((owners) => {
      this.#applyUpdates(owners)
    })
    monitor.onSignal((memberUids) => {
      this.#applySignals(memberUids)
    })
  }

  /**
   * Sets the health columns of a state that is not published yet to what the monitor knows. Members
   * that the monitor does not know keep the state's value: healthy, or what was carried over.
   */
  prepare(bundle: Bundle, state: RoutingState): void {
    const probed = this.#probed(bundle)
    this.#arrivals = arrivals(this.#serving?.bundle, bundle, probed)
    const serving = { bundle, state }
    for (let pool = 0; pool < bundle.counts.pools; pool++) {
      const isProbed = probed[pool] === 1
      let isChanged = false
      for (const member of membersOf(bundle, pool)) {
        const isNew = isProbed ? this.#write(serving, member) !== Change.None : clear(state, member)
        isChanged ||= isNew
      }
      if (isChanged) rebuildPool(bundle, state, pool)
    }
    this.#writeSignals(serving, this.#monitor.signalled())
  }

  /**
   * Makes this the serving state: verdicts go into it, and its members are the ones that are
   * probed.
   */
  serve(bundle: Bundle, state: RoutingState): void {
    const { members } = bundle.counts
    assert(state.memberCount === members, 'verdicts go into the state of the bundle that serves')
    this.#serving = { bundle, state }
    // A new state's lists are built from the scores as they are.
    this.#unordered.clear()
    for (const key of this.#arrivals) this.#settled.add(key)
    this.#target(this.#serving)
    this.#arrivals = new Set()
  }

  /** Probes the new addresses of the host names of these members. */
  addressesChanged(members: Iterable<number>): void {
    const serving = this.#serving
    if (serving === undefined) return
    this.#target(serving)
    const { bundle } = serving
    const pools = new Set<number>()
    for (const member of members) {
      if (this.#write(serving, member) !== Change.None) pools.add(bundle.memberPool[member]!)
    }
    for (const pool of pools) this.#rebuild(serving, pool)
  }

  #rebuild({ bundle, state }: Serving, pool: number): void {
    rebuildPool(bundle, state, pool)
    this.#watch.poolChanged(state, pool, true)
  }

  #probed(bundle: Bundle): Uint8Array {
    return probedPools(bundle, madeChecks(this.#monitor))
  }

  #target(serving: Serving): void {
    const { bundle } = serving
    const before = this.#places
    const arrivals = new Set(this.#arrivals)
    const settled = new Set<string>()
    this.#places = new Map()
    const targets: MonitoredTarget[] = []
    const checks = new Map<string, HealthCheckModel>()
    const probed = this.#probed(bundle)
    for (let pool = 0; pool < bundle.counts.pools; pool++) {
      if (probed[pool] === 0) continue
      const checkKey = textOf(bundle, bundle.poolHealthCheck[pool]!)
      const known = checks.get(checkKey) ?? this.#checks.get(checkKey)
      const check = known ?? parseHealthCheck(checkKey)
      assert(check !== undefined, 'the loader has read every health check')
      checks.set(checkKey, check)
      const poolName = textOf(bundle, bundle.poolName[pool]!)
      for (const member of membersOf(bundle, pool)) {
        // A disabled member never answers, so its health is not needed.
        if ((bundle.memberFlags[member]! & MemberFlag.Enabled) === 0) continue
        const memberUid = uidOf(bundle.memberUid, member)
        const { warmupThreshold } = memberExtraOf(bundle, member)
        const name = targetKey(memberUid, addressOfMember(bundle, member))
        if (this.#settled.has(name)) settled.add(name)
        for (const ipAddress of this.#addressesOf(serving, member)) {
          const key = targetKey(memberUid, ipAddress)
          targets.push({ memberUid, ipAddress, check, checkKey, pool: poolName, warmupThreshold })
          this.#places.set(key, member)
          if (key === name) continue
          settled.add(name)
          if (!before.has(key) && this.#settled.has(name)) arrivals.add(key)
        }
      }
    }
    this.#settled = settled
    const rttThresholdMs = routingSettingsOf(bundle).latency.minRttThresholdMs
    this.#checks = checks
    this.#monitor.setTargets(targets, { arrivals, rttThresholdMs })
  }

  /**
   * Returns the addresses at which a member is probed: its own, or for an alias all those of its
   * host name.
   */
  #addressesOf({ bundle, state }: Serving, member: number): readonly string[] {
    if (bundle.hasHostnames && isResolved(bundle, member)) {
      const address = slotAddress(bundle, state, member)
      return address === '' ? [] : [address]
    }
    const declared = addressOfMember(bundle, member)
    if (!bundle.hasHostnames || !isAlias(bundle, member)) return [declared]
    const { v4 = [], v6 = [] } = this.#resolver?.statusOf(declared) ?? {}
    return [...v4, ...v6].filter((address) => address !== '')
  }

  #healthOf(serving: Serving, member: number, memberUid: string): Found | undefined {
    const addresses = this.#addressesOf(serving, member)
    if (addresses.length === 1) return this.#monitor.healthOf(memberUid, addresses[0]!)
    const found = addresses.flatMap((one) => this.#monitor.healthOf(memberUid, one) ?? [])
    if (found.length > 0) return together(found)
    const { bundle } = serving
    if (!isAlias(bundle, member)) return undefined
    // An alias whose host name has no address cannot be probed.
    const error = this.#resolver?.statusOf(addressOfMember(bundle, member)).error ?? ''
    return error === '' ? undefined : { healthy: false, score: 1, rttMs: 0, isWarming: false }
  }

  #applyUpdates(owners: readonly VerdictOwner[]): void {
    const serving = this.#serving
    if (serving === undefined) return
    const pools = new Set<number>()
    const written = new Set<number>()
    for (const { memberUid, ipAddress } of owners) {
      const member = this.#places.get(targetKey(memberUid, ipAddress))
      if (member === undefined) continue
      const change = this.#write(serving, member)
      const pool = serving.bundle.memberPool[member]!
      written.add(pool)
      if (change === Change.Members) pools.add(pool)
      else if (change === Change.Order) this.#orderLater(pool)
    }
    for (const pool of pools) {
      this.#rebuild(serving, pool)
      this.#unordered.delete(pool)
      written.delete(pool)
    }
    for (const pool of written) this.#watch.poolChanged(serving.state, pool, false)
  }

  #orderLater(pool: number): void {
    this.#unordered.add(pool)
    if (this.#isOrderDue) return
    this.#isOrderDue = true
    this.#after(orderEveryMs, () => {
      this.#isOrderDue = false
      if (this.#serving === undefined) return
      for (const one of this.#unordered) this.#rebuild(this.#serving, one)
      this.#unordered.clear()
    })
  }

  #applySignals(memberUids: readonly string[]): void {
    if (this.#serving !== undefined) this.#writeSignals(this.#serving, memberUids)
  }

  #writeSignals(serving: Serving, memberUids: Iterable<string>): void {
    const { bundle } = serving
    const pools = new Set<number>()
    for (const memberUid of memberUids) {
      const member = memberOfUid(bundle, memberUid)
      for (const row of member < 0 ? [] : rowsOfMember(bundle, member)) {
        if (this.#write(serving, row) !== Change.None) pools.add(bundle.memberPool[row]!)
      }
    }
    for (const pool of pools) this.#rebuild(serving, pool)
  }

  /** Writes the verdict on a member to the state. */
  #write(serving: Serving, member: number): Change {
    const { bundle, state } = serving
    const memberUid = uidOf(bundle.memberUid, member)
    const isProbed = this.#probed(bundle)[bundle.memberPool[member]!] === 1
    const found = isProbed ? this.#healthOf(serving, member, memberUid) : undefined
    // Without a check only an outside monitor can call a member unhealthy.
    const probe = found?.healthy ?? (isProbed ? state.memberHealthy[member] === 1 : true)
    const signal = this.#monitor.signalOf(memberUid)
    const { externalSignalMode, warmupThreshold } = memberExtraOf(bundle, member)
    const isArrival =
      this.#arrivals.size > 0 &&
      this.#arrivals.has(targetKey(memberUid, addressOfMember(bundle, member)))
    // The monitor does not know yet that this bundle removes a gate. A member that it has probed
    // all along has nothing to pass: no further verdict would come, and the member would warm up
    // for ever.
    const isWarming = warmupThreshold > 0 && (found?.isWarming ?? isArrival)
    if (found !== undefined) state.memberRttMs[member] = found.rttMs
    const healthy = blend(externalSignalMode, probe, signal) ? 1 : 0
    const score = Math.fround(found?.score ?? state.memberScore[member]!)
    const out =
      (state.memberOut[member]! & ~MemberOut.Warming) | (isWarming ? MemberOut.Warming : 0)
    const isOther = state.memberHealthy[member] !== healthy || state.memberOut[member] !== out
    const isReordered = state.memberScore[member] !== score
    state.memberHealthy[member] = healthy
    state.memberScore[member] = score
    state.memberOut[member] = out
    if (isOther) return Change.Members
    return isReordered ? Change.Order : Change.None
  }
}

/** The result of a probe or another source for a member. */
type Found = Pick<MemberHealth, 'healthy' | 'score' | 'rttMs' | 'isWarming'>

/**
 * Combines the findings of an alias: it is as good as the best of the addresses that it leads to.
 */
function together(found: readonly Found[]): Found {
  const healthy = found.filter((one) => one.healthy)
  const counted = healthy.length > 0 ? healthy : found
  const measured = counted.map(({ rttMs }) => rttMs).filter((rttMs) => rttMs > 0)
  return {
    healthy: healthy.length > 0,
    score: Math.max(...counted.map(({ score }) => score)),
    rttMs: measured.length === 0 ? 0 : Math.min(...measured),
    isWarming: counted.every(({ isWarming }) => isWarming),
  }
}

/** Sets a member without a check to no verdict, no score, no time and no gate. */
function clear(state: RoutingState, member: number): boolean {
  const out = state.memberOut[member]!
  const isPlain =
    state.memberHealthy[member] === 1 &&
    state.memberScore[member] === 1 &&
    (out & MemberOut.Warming) === 0
  state.memberHealthy[member] = 1
  state.memberScore[member] = 1
  state.memberRttMs[member] = 0
  state.memberOut[member] = out & ~MemberOut.Warming
  return !isPlain
}

/**
 * Finds a member by its uid, or -1. A search through the column is enough, since signals are rare.
 */
function memberOfUid({ memberUid: column }: Bundle, memberUid: string): number {
  const all = Buffer.from(column.buffer, column.byteOffset, column.byteLength)
  const uid = Buffer.from(memberUid.replaceAll('-', ''), 'hex')
  if (uid.length !== 16) return -1
  let at = all.indexOf(uid)
  while (at >= 0 && at % 16 !== 0) at = all.indexOf(uid, at + 1)
  return at < 0 ? -1 : at / 16
}
