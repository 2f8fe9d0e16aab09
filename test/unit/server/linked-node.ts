// A node's control thread without its sockets: bundles go in, the routing state is looked at.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { MemberModel, PoolModel } from '#bundle/format/model.ts'
import { carryRoutingState, createRoutingState, isReady } from '#routing/state/candidates.ts'
import { firstCandidate, MemberOut, PoolCell } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { Family } from '#routing/state/query.ts'
import { HealthLink } from '#server/node/health-link.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { Outcome } from '#health/probes/probe.ts'
import { bundleOf, healthCheck, member, pool, zone } from '#test/support/bundle-models.ts'
import type { SimulatedMonitor } from '../health/simulated-monitor.ts'

export const check = {
  ...healthCheck,
  type: 'tcp' as const,
  intervalMs: 10_000,
  timeoutMs: 1_000,
}

type Parts = Partial<MemberModel>

/** A pool that is probed every ten seconds; the uid of a member ends like its address. */
export function bundleWith(
  members: Readonly<Record<string, Parts>>,
  parts: Partial<PoolModel> = {},
) {
  const models = Object.entries(members).map(([address, given]) => {
    const digits = address.split('.').at(-1)!.padStart(12, '0')
    return member(address, { uid: `00000000-0000-4000-8000-${digits}`, ...given })
  })
  const pools = [pool(1, [], { members: models, healthCheck: check, ...parts })]
  return bundleOf({ zones: [zone('test.')], pools })
}

export class LinkedNode {
  readonly #simulated: SimulatedMonitor
  readonly #link: HealthLink
  #serving: { bundle: Bundle; state: RoutingState } | undefined
  /** Results of an address's probes. */
  readonly outcomes = new Map<string, Outcome>()

  /** @param monitor what routing believes; left out, the simulated one's own probes */
  constructor(simulated: SimulatedMonitor, monitor: HealthMonitor = simulated.monitor) {
    this.#simulated = simulated
    this.#link = new HealthLink(monitor, simulated.world.after)
    simulated.world.answer = ({ ipAddress }) => ({
      outcome: this.outcomes.get(ipAddress) ?? 'success',
      afterMs: 10,
    })
  }

  /** @returns who warms up at the moment of the swap */
  install(bundle: Bundle): string {
    const before = this.#serving
    const state =
      before === undefined ? createRoutingState(bundle, 1) : carryRoutingState(before, bundle, 1)
    this.#link.prepare(bundle, state)
    const warming = [...state.memberOut].map((out) => (out === MemberOut.Warming ? 'w' : '-'))
    this.#link.serve(bundle, state)
    this.#serving = { bundle, state }
    return warming.join('')
  }

  walk(durationMs: number): void {
    this.#simulated.world.walk(durationMs)
  }

  get state(): RoutingState {
    return this.#serving!.state
  }

  /** `c` for each member that is a candidate, `w` for one that warms up, `-` otherwise. */
  get standings(): string {
    const { bundle, state } = this.#serving!
    return [...state.memberOut.keys()]
      .map((row) => {
        if ((state.memberOut[row]! & MemberOut.Warming) !== 0) return 'w'
        return isReady(bundle, state, row) ? 'c' : '-'
      })
      .join('')
  }

  /** How often the lists of the only pool were built. */
  get builds(): number {
    return this.state.pools[PoolCell.Version]!
  }

  /** The current list of IPv4 candidates of the only pool. */
  get listed(): number[] {
    const { state } = this
    const copy = state.pools[PoolCell.Version]! & 1
    const first = firstCandidate(state, 0, copy, Family.V4)
    const count = state.pools[PoolCell.Count + copy * 2 + Family.V4]!
    return [...state.candidates.subarray(first, first + count)]
  }
}
