// Updates the serving state between two bundles: addresses, verdicts, signals and the clock.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { HealthLink } from './health-link.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import { ResolveLink } from './resolve-link.ts'
import { watchesNothing } from '#journal/journal.ts'
import type { StateWatch } from '#journal/journal.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'
import { OverlayClock } from './overlay-clock.ts'
import type { OverlayClockParts, OverlayStatus } from './overlay-clock.ts'

interface LiveStateParts extends Omit<OverlayClockParts, 'isProbed' | 'watch'> {
  /** null: health checks are off, every member counts as healthy. */
  readonly health: HealthMonitor | null
  /** null: host names have no addresses, as in tests without them. */
  readonly resolver?: AddressSource | null
  /** Called at each change of a published state. */
  readonly journal?: StateWatch | null
}

export class LiveState {
  readonly #health: HealthLink | null
  readonly #resolve: ResolveLink | null
  readonly #overlays: OverlayClock

  constructor({ health, resolver = null, journal, ...parts }: LiveStateParts) {
    const watch = journal ?? watchesNothing
    // The link subscribes first, because regressions are looked for in the columns that it writes.
    this.#health = health === null ? null : new HealthLink(health, parts.after, resolver, watch)
    this.#resolve =
      resolver === null
        ? null
        : new ResolveLink(resolver, (members) => this.#health?.addressesChanged(members), watch)
    this.#overlays = new OverlayClock({ ...parts, watch, isProbed: health !== null })
    health?.onUpdate(() => this.#overlays.healthChanged())
    health?.onSignal(() => this.#overlays.healthChanged())
  }

  /** Brings a state that is not published yet up to date. */
  prepare(bundle: Bundle, state: RoutingState): void {
    // Addresses are set first, because health belongs to an address.
    this.#resolve?.prepare(bundle, state)
    this.#health?.prepare(bundle, state)
    this.#overlays.serve(bundle, state)
  }

  /** Takes over the published state: its members are the ones that are probed from now on. */
  serve(bundle: Bundle, state: RoutingState): void {
    this.#health?.serve(bundle, state)
    this.#resolve?.serve(bundle, state)
  }

  overlays(): OverlayStatus {
    return this.#overlays.status()
  }

  get overlayClock(): OverlayClock {
    return this.#overlays
  }

  stop(): void {
    this.#overlays.stop()
  }
}
