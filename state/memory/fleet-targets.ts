// What sources of discovery gave, in the memory of one process.
import type { Clock } from '#lib/clock.ts'
import type { FleetTargets } from '../ports/fleet-targets.ts'
import { ExpiringMap } from './expiring-map.ts'

const entriesMax = 256

export function createMemoryFleetTargets(clock: Clock): FleetTargets {
  const told = new ExpiringMap<string>(clock, entriesMax)
  return {
    publish: async (key, text, keptMs) => told.set(key, text, keptMs),
    read: async (key) => told.get(key)?.value ?? null,
  }
}
