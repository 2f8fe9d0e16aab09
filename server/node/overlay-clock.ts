// Applies rollouts and maintenance windows to the serving state at their times, and rolls back a
// rollout that makes members unhealthy or slow.
import { textOf, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import type { Overlays, Rollout } from '#bundle/format/overlays.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'
import { rebuildPool } from '#routing/state/candidates.ts'
import { applyOverlays, nothingApplied, overlaysAt, tripKey } from '#routing/time/overlay.ts'
import type { AppliedOverlays, OverlayMoment, WindowState } from '#routing/time/overlay.ts'
import { observe, regressionOf } from '#routing/time/regression.ts'
import type { StateWatch } from '#journal/journal.ts'
import type { RolloutState, RolloutTrip } from '#routing/time/rollout.ts'
import type { RoutingState } from '#routing/state/state.ts'

export interface OverlayClockParts {
  readonly clock: Clock
  readonly after: After
  /** false: nobody is probed here, so nothing is measured and no regression seen. */
  readonly isProbed: boolean
  readonly log: Log
  /** Called at each change of a published state. */
  readonly watch?: StateWatch
  /** For alerts: called once for each regression. */
  readonly onRegression?: ((event: RegressionEvent) => void) | undefined
}

/** A rollout that this node has taken back. */
export interface RegressionEvent {
  readonly rollout: RolloutName
  /** Identifies the attempt: a rollout that starts again has another time. */
  readonly startAtMs: number
  readonly reason: string
  readonly atMs: number
}

/** A regression that another node has seen. */
interface ForeignTrip extends RolloutTrip {
  readonly rolloutUid: string
  readonly startAtMs: number
}

interface RolloutName {
  readonly uid: string
  readonly name: string
  readonly tenant: string
}

export interface RolloutStatus extends RolloutName {
  readonly memberUid: string
  readonly pool: string
  readonly state: RolloutState
  readonly stepIndex: number
  /** The weight that is in effect on this node. */
  readonly weight: number
  /** Why the rollout is held or over; empty while it proceeds. */
  readonly reason: string
  /** Milliseconds; null: not measured. */
  readonly baselineRttMs: number | null
}

interface WindowStatus extends RolloutName {
  readonly pool: string
  /** null: each member of the pool. */
  readonly memberUid: string | null
  readonly state: WindowState
}

export interface OverlayStatus {
  readonly rollouts: readonly RolloutStatus[]
  readonly windows: readonly WindowStatus[]
  /** null: nothing will change by time alone. */
  readonly nextEventAtMs: number | null
  /** Count of regressions seen since the process started. */
  readonly regressions: number
  /** The latest events, newest last; at most 100. */
  readonly events: readonly RegressionEvent[]
}

/** The tick of the rollout controller. Bounds how late a jump of the clock is noticed. */
export const tickMs = 5_000
const eventsMax = 100
/**
 * How many trips of other nodes are kept for bundles that may still come; the oldest is dropped.
 */
const foreignMax = 1_000

/** The state of a rollout that outlives changes of the bundle, by `tripKey`. */
interface Memory {
  baselineRttMs: number | null
  trip: RolloutTrip | null
  /** The state as it was logged last. */
  shown: string
}

interface Serving {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly overlays: Overlays
  applied: AppliedOverlays
  moment: OverlayMoment
}

const noMoment: OverlayMoment = { rollouts: [], windows: [], nextEventAtMs: Infinity }

export class OverlayClock {
  readonly #parts: OverlayClockParts
  #serving: Serving | undefined
  #memories = new Map<string, Memory>()
  /** Trips that other nodes have reported, by `tripKey`. */
  readonly #foreign = new Map<string, RolloutTrip>()
  /** States of windows as they were logged last, by uid. */
  #windowsShown: ReadonlyMap<string, WindowState> = new Map()
  #events: RegressionEvent[] = []
  #regressions = 0
  #callOff: (() => void) | undefined
  #isDue = false

  constructor(parts: OverlayClockParts) {
    this.#parts = parts
  }

  /** Takes over a state that is not published yet, to which no overlay has been applied. */
  serve(bundle: Bundle, state: RoutingState): void {
    const { members } = bundle.counts
    assert(state.memberCount === members, 'overlays go into the state of the bundle that serves')
    const overlays = overlaysOf(bundle)
    const known = this.#memories
    this.#memories = new Map()
    for (const rollout of overlays.rollouts) {
      const key = tripKey(rollout)
      const trip = this.#foreign.get(key) ?? null
      const memory = known.get(key) ?? { baselineRttMs: null, trip, shown: '' }
      this.#memories.set(key, memory)
    }
    this.#callOff?.()
    this.#serving = { bundle, state, overlays, applied: nothingApplied, moment: noMoment }
    this.#tick()
  }

  /** Schedules a search for regressions, because a health column has changed. */
  healthChanged(): void {
    const isRunning = this.#serving?.moment.rollouts.some(
      ({ moment }) => moment.state === 'running',
    )
    if (isRunning !== true || this.#isDue) return
    // Many verdicts at once cause one search.
    this.#isDue = true
    this.#arm(0)
  }

  /** Applies a trip that another node has reported; of two reports the first counts. */
  adopt({ rolloutUid: uid, startAtMs, atMs, reason }: ForeignTrip): void {
    const key = tripKey({ uid, startAtMs })
    if (this.#foreign.has(key)) return
    const trip = { atMs, reason }
    this.#foreign.set(key, trip)
    if (this.#foreign.size > foreignMax) {
      const [oldest] = this.#foreign.keys()
      this.#foreign.delete(oldest!)
    }
    const memory = this.#memories.get(key)
    if (memory === undefined || memory.trip !== null) return
    memory.trip = trip
    this.#tick()
  }

  /**
   * Returns the round trip from when the rollout began on this node; null when it was not measured,
   * or is not of this bundle.
   */
  baselineRttMs(uid: string): number | null {
    const rollout = this.#serving?.overlays.rollouts.find((one) => one.uid === uid)
    return rollout === undefined ? null : this.#memories.get(tripKey(rollout))!.baselineRttMs
  }

  status(): OverlayStatus {
    const { bundle, moment } = this.#serving ?? {}
    const next = moment?.nextEventAtMs ?? Infinity
    return {
      rollouts: bundle === undefined ? [] : this.#rolloutStatuses(bundle),
      windows: bundle === undefined ? [] : this.#windowStatuses(bundle),
      nextEventAtMs: next === Infinity ? null : next,
      regressions: this.#regressions,
      events: [...this.#events],
    }
  }

  stop(): void {
    this.#callOff?.()
    this.#callOff = undefined
    this.#serving = undefined
  }

  #tick(): void {
    const serving = this.#serving
    if (serving === undefined) return
    this.#isDue = false
    const { overlays } = serving
    const nowMs = this.#parts.clock.nowMs()
    this.#show(serving, nowMs)
    if (this.#findRegressions(serving, nowMs)) this.#show(serving, nowMs)
    this.#logChanges(serving)
    if (overlays.rollouts.length + overlays.windows.length === 0) return
    this.#arm(Math.max(0, Math.min(serving.moment.nextEventAtMs - nowMs, tickMs)))
  }

  #arm(delayMs: number): void {
    assert(delayMs >= 0 && delayMs <= tickMs, 'the next look at overlays is at most a tick away')
    this.#callOff?.()
    this.#callOff = this.#parts.after(delayMs, () => {
      this.#callOff = undefined
      this.#tick()
    })
  }

  /** Applies what holds now to the state; lists are rebuilt where members have changed. */
  #show(serving: Serving, nowMs: number): void {
    const { bundle, state, overlays } = serving
    const trips = new Map<string, RolloutTrip>()
    for (const [key, { trip }] of this.#memories) if (trip !== null) trips.set(key, trip)
    serving.moment = overlaysAt(overlays, nowMs, trips)
    serving.applied = applyOverlays(bundle, state, serving.moment, serving.applied)
    for (const pool of serving.applied.staleLists) {
      rebuildPool(bundle, state, pool)
      this.#parts.watch?.poolChanged(state, pool, true)
    }
  }

  /** @returns true when a rollout has been taken back */
  #findRegressions({ bundle, state, moment }: Serving, nowMs: number): boolean {
    let isAny = false
    for (const { rollout, moment: at } of moment.rollouts) {
      if (at.state !== 'running') continue
      const memory = this.#memories.get(tripKey(rollout))!
      const { isProbed } = this.#parts
      const seen = observe(bundle, state, rollout, isProbed, memory.baselineRttMs)
      // A node that joins late has no earlier round trip than the first one that it measures.
      memory.baselineRttMs ??= seen.rttMs
      const reason = regressionOf(rollout.regressionPolicy, seen)
      if (reason === undefined) continue
      memory.trip = { atMs: nowMs, reason }
      this.#announce(rollout, memory.trip)
      isAny = true
    }
    return isAny
  }

  #announce({ uid, name, tenant, startAtMs }: Rollout, { reason, atMs }: RolloutTrip): void {
    const event = { rollout: { uid, name, tenant }, startAtMs, reason, atMs }
    this.#regressions++
    this.#events = [...this.#events, event].slice(-eventsMax)
    this.#parts.log.warn(
      { rollout: name, tenant, uid, reason },
      'rollout rolled back: this node has seen a regression',
    )
    this.#parts.onRegression?.(event)
  }

  #logChanges({ moment }: Serving): void {
    for (const { rollout, moment: at } of moment.rollouts) {
      const memory = this.#memories.get(tripKey(rollout))!
      const shown = `${at.state} ${at.stepIndex} ${at.weight}`
      if (memory.shown === shown) continue
      memory.shown = shown
      const { name, tenant } = rollout
      const { state, stepIndex, weight, reason } = at
      const where = { rollout: name, tenant, state, stepIndex, weight, reason }
      this.#parts.log.info(where, 'rollout moved on')
    }
    this.#logWindows(moment)
  }

  /** A window that has not begun is not logged. */
  #logWindows({ windows }: OverlayMoment): void {
    const before = this.#windowsShown
    this.#windowsShown = new Map(windows.map(({ window, moment }) => [window.uid, moment.state]))
    for (const { window, moment } of windows) {
      const { uid, name, tenant } = window
      const was = before.get(uid)
      const hasEnded = was === 'active' && moment.state !== 'active'
      const hasBegun = was !== 'active' && moment.state === 'active'
      if (!hasBegun && !hasEnded) continue
      const what = hasBegun ? 'maintenance window begins' : 'maintenance window ends'
      this.#parts.log.info({ window: name, tenant }, what)
    }
  }

  #rolloutStatuses(bundle: Bundle): RolloutStatus[] {
    const { moment, state } = this.#serving!
    return moment.rollouts.map(({ rollout, moment: at }) => ({
      uid: rollout.uid,
      name: rollout.name,
      tenant: rollout.tenant,
      memberUid: uidOf(bundle.memberUid, rollout.member),
      pool: textOf(bundle, bundle.poolName[rollout.pool]!),
      state: at.state,
      stepIndex: at.stepIndex,
      weight: state.memberWeight[rollout.member]!,
      reason: at.reason,
      baselineRttMs: this.#memories.get(tripKey(rollout))!.baselineRttMs,
    }))
  }

  #windowStatuses(bundle: Bundle): WindowStatus[] {
    return this.#serving!.moment.windows.map(({ window, moment }) => ({
      uid: window.uid,
      name: window.name,
      tenant: window.tenant,
      pool: textOf(bundle, bundle.poolName[window.pool]!),
      memberUid: window.member < 0 ? null : uidOf(bundle.memberUid, window.member),
      state: moment.state,
    }))
  }
}
