// Spreads a regression that one node saw to all nodes, and to subscribers such as alerts.
import { assert } from '#lib/assert.ts'
import type { OverlayView } from '#ports/overlay-view.ts'
import type { TripOf } from '#config/overlays/effective.ts'
import type { Log } from '#lib/log.ts'
import { tripKey } from '#routing/time/overlay.ts'
import type { RolloutTrip } from '#routing/time/rollout.ts'
import type { RegressionEvent } from '#server/node/overlay-clock.ts'
import { rolloutTripLimits } from '#state/ports/rollout-trips.ts'
import type { RolloutTrips, SharedTrip } from '#state/ports/rollout-trips.ts'

/** A regression that this node knows of, once for each attempt since its start. */
interface ReceivedRegression extends SharedTrip {
  /** False: another node saw it. */
  readonly isOwn: boolean
}

interface RegressionsParts {
  readonly shared: RolloutTrips
  readonly nodeName: string
  /** Applies it to the answers of this node. */
  readonly adopt: (trip: SharedTrip) => void
  readonly log: Log
}

export class Regressions implements Pick<OverlayView, 'trip' | 'onRegression'> {
  readonly #parts: RegressionsParts
  readonly #handlers = new Set<(heard: ReceivedRegression) => void>()
  /** Regressions by attempt. The oldest is dropped, and is a commit by then. */
  readonly #trips = new Map<string, RolloutTrip>()
  #leave: () => void = () => undefined

  constructor(parts: RegressionsParts) {
    this.#parts = parts
  }

  start(): void {
    this.#leave = this.#parts.shared.subscribe((trip) => this.#heard(trip))
  }

  stop(): void {
    this.#leave()
  }

  readonly trip: TripOf = (uid, startAtMs) => this.#trips.get(tripKey({ uid, startAtMs })) ?? null

  /** Subscribes. `handler` must not throw. Returns the function that unsubscribes. */
  readonly onRegression = (handler: (heard: ReceivedRegression) => void): (() => void) => {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  /** To be called when this node saw a regression, and has applied it. */
  saw({ rollout, startAtMs, atMs, reason }: RegressionEvent): void {
    const { nodeName: node, shared, log } = this.#parts
    const trip = { rolloutUid: rollout.uid, startAtMs, atMs, reason, node }
    if (!this.#remember(trip)) return
    for (const handler of this.#handlers) handler({ ...trip, isOwn: true })
    // The commit tells the other nodes as well, but later.
    void shared.tell(trip).then((done) => {
      if (done.ok) return
      const fields = { rollout: rollout.name, reason: done.error.message }
      log.warn(fields, 'the other nodes learn of a regression through Git alone')
    })
  }

  #heard(trip: SharedTrip): void {
    if (!this.#remember(trip)) return
    const { rolloutUid: uid, reason, node } = trip
    this.#parts.log.warn(
      { uid, node, reason },
      'rollout rolled back: another node has seen a regression',
    )
    this.#parts.adopt(trip)
    for (const handler of this.#handlers) handler({ ...trip, isOwn: false })
  }

  /** @returns false: it is known already */
  #remember({ rolloutUid: uid, startAtMs, atMs, reason }: SharedTrip): boolean {
    const key = tripKey({ uid, startAtMs })
    if (this.#trips.has(key)) return false
    this.#trips.set(key, { atMs, reason })
    if (this.#trips.size > rolloutTripLimits.tripsMax) {
      const [oldest] = this.#trips.keys()
      this.#trips.delete(oldest!)
    }
    assert(this.#trips.size <= rolloutTripLimits.tripsMax, 'regressions are within their limit')
    return true
  }
}
