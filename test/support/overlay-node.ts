// The part of a node that follows the clock: a bundle, its state, and time; no threads, no sockets.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel, MemberModel, RolloutModel, WindowModel } from '#bundle/format/model.ts'
import { addressOfMember } from '#bundle/format/bundle.ts'
import { carryRoutingState, createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { firstCandidate, PoolCell } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { OverlayClock } from '#server/node/overlay-clock.ts'
import type { RegressionEvent } from '#server/node/overlay-clock.ts'
import {
  bareModel,
  bundleOf,
  healthCheck,
  member,
  pool,
  service,
  uid,
  zone,
} from './bundle-models.ts'
import type { FakeTime } from './fake-time.ts'

/** Start of the times of `rollout` and `window`. */
export const noonMs = Date.UTC(2027, 0, 31, 12)

/** Two members of weight 40, 192.0.2.1 and 192.0.2.2, in a pool that is probed. */
export function modelWith(
  parts: Partial<BundleModel>,
  members: Partial<Record<'first' | 'second', Partial<MemberModel>>> = {},
): BundleModel {
  const one = member('192.0.2.1', { uid: uid(1), weight: 40, ...members.first })
  const two = member('192.0.2.2', { uid: uid(2), weight: 40, ...members.second })
  return {
    ...bareModel,
    zones: [zone('test.')],
    pools: [pool(1, [one, two], { healthCheck })],
    services: [service(1, 'www.test.', { algorithm: 'weighted-round-robin' })],
    ...parts,
  }
}

/** The first member's rollout from noon: 10 % for a minute, 50 % for two, 100 % for half of one. */
export function rollout(parts: Partial<RolloutModel> = {}): RolloutModel {
  return {
    uid: uid(0xf01),
    name: 'ramp',
    tenant: 'default',
    pool: 0,
    member: 0,
    baseWeight: 40,
    startAtMs: noonMs,
    steps: [
      { weightPct: 10, holdSeconds: 60 },
      { weightPct: 50, holdSeconds: 120 },
      { weightPct: 100, holdSeconds: 30 },
    ],
    regressionPolicy: { minHealthScore: 0, minHealthyMembers: 0, maxRttDeltaMs: 0 },
    intents: [],
    ...parts,
  }
}

/** The first member's maintenance, from noon to one. */
export function maintenance(parts: Partial<WindowModel> = {}): WindowModel {
  return {
    uid: uid(0xf02),
    name: 'night',
    tenant: 'default',
    pool: 0,
    member: 0,
    members: null,
    startAtMs: noonMs,
    endAtMs: noonMs + 3_600_000,
    ...parts,
  }
}

interface OverlayNode {
  readonly overlays: OverlayClock
  readonly events: readonly RegressionEvent[]
  readonly logged: readonly string[]
  /** Publishes a new bundle; health is carried over. */
  readonly publish: (model: BundleModel) => void
  /** The last state of a bundle, for writing health into. */
  readonly state: () => RoutingState
  readonly bundle: () => Bundle
  /** Writes health of a member, as the health link does. */
  readonly measure: (member: number, parts: Measured) => void
  /** The candidates of the first pool with their weights: `192.0.2.1*40 192.0.2.2*40`. */
  readonly rotation: () => string
  /** The first rollout: `running 1 20`. */
  readonly shown: () => string
}

interface Measured {
  readonly healthy?: boolean
  readonly score?: number
  readonly rttMs?: number
}

export function overlayNode(time: FakeTime, model: BundleModel, isProbed = true): OverlayNode {
  const events: RegressionEvent[] = []
  const logged: string[] = []
  const note = (_fields: object, message: string): void => void logged.push(message)
  const overlays = new OverlayClock({
    clock: time.clock,
    after: time.after,
    isProbed,
    log: { info: note, warn: note, error: note },
    onRegression: (event) => events.push(event),
  })
  let bundle = bundleOf(model)
  let state = createRoutingState(bundle, 1)
  overlays.serve(bundle, state)
  return {
    overlays,
    events,
    logged,
    publish: (next) => {
      const before = { bundle, state }
      bundle = bundleOf(next)
      state = carryRoutingState(before, bundle, 2)
      overlays.serve(bundle, state)
    },
    state: () => state,
    bundle: () => bundle,
    measure: (row, { healthy, score, rttMs }) => {
      if (healthy !== undefined) state.memberHealthy[row] = healthy ? 1 : 0
      if (score !== undefined) state.memberScore[row] = score
      if (rttMs !== undefined) state.memberRttMs[row] = rttMs
      rebuildPool(bundle, state, bundle.memberPool[row]!)
      overlays.healthChanged()
    },
    rotation: () => rotationOf(bundle, state, 0),
    shown: () => {
      const [first] = overlays.status().rollouts
      return first === undefined ? 'none' : `${first.state} ${first.stepIndex} ${first.weight}`
    },
  }
}

/** The candidate lists of a pool, both families, with weights from the sums beside them. */
export function rotationOf(bundle: Bundle, state: RoutingState, poolIndex: number): string {
  const copy = state.pools[poolIndex * PoolCell.Words + PoolCell.Version]! & 1
  const found: string[] = []
  for (const family of [0, 1]) {
    const first = firstCandidate(state, poolIndex, copy, family)
    const count = state.pools[poolIndex * PoolCell.Words + PoolCell.Count + copy * 2 + family]!
    for (let at = first; at < first + count; at++) {
      const before = at === first ? 0 : state.weightSums[at - 1]!
      const candidate = state.candidates[at]!
      found.push(`${addressOfMember(bundle, candidate)}*${state.weightSums[at]! - before}`)
    }
  }
  return found.join(' ')
}
