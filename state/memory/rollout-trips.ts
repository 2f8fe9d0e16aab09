// Regressions of rollouts in a process that shares nothing.
import { ok } from '#lib/result.ts'
import type { RolloutTrips, SharedTrip } from '../ports/rollout-trips.ts'

export function createMemoryRolloutTrips(): RolloutTrips {
  const handlers = new Set<(trip: SharedTrip) => void>()
  return {
    tell: async (trip) => {
      for (const handler of handlers) handler(trip)
      return ok(undefined)
    },
    subscribe: (handler) => {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
  }
}
