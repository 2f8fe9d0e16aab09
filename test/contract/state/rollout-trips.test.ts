// Regressions of rollouts: what one node tells, all hear, the first one of an attempt counts.
import { describe, expect, test } from 'vitest'
import { rolloutTripLimits } from '#state/ports/rollout-trips.ts'
import type { SharedTrip } from '#state/ports/rollout-trips.ts'
import {
  ephemeralAdapters,
  sharedAdapters,
  useEphemeral,
} from '#test/support/ephemeral-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'
import { waitUntil } from '#test/support/wait-until.ts'

/** What nodes share outlives who tells it. */
const shared = sharedAdapters

function useStore(start: (typeof ephemeralAdapters)[number][1]) {
  const store = useEphemeral(start)
  const trip = (nth: number, startAtMs = 7): SharedTrip => ({
    ...{ rolloutUid: `r${nth}`, startAtMs, atMs: store().clock.nowMs() },
    ...{ reason: 'it is ill', node: 'one' },
  })
  return { store, trip }
}

describe.each(ephemeralAdapters)('regressions of rollouts in %s', (_name, start) => {
  const { store, trip } = useStore(start)

  test('are received by all nodes, also by the sender', async () => {
    const { rolloutTrips } = store().ports
    const heard: SharedTrip[] = []
    const leave = rolloutTrips.subscribe((one) => heard.push(one))
    const told = await rolloutTrips.tell(trip(1))
    // A store that is away says so, and the commit tells the others.
    if (!told.ok) return expect(told.error.code).toBe('store-away')
    await waitUntil('the trip', () => heard.length > 0)
    expect(heard[0]).toEqual(trip(1))
    leave()
    await valueOf(rolloutTrips.tell(trip(2)))
    expect(heard.map(({ rolloutUid }) => rolloutUid)).not.toContain('r2')
  })
})

describe.each(shared)('regressions of rollouts that are kept in %s', (_name, start) => {
  const { store, trip } = useStore(start)

  test('keep the first of an attempt, and another one for another attempt', async () => {
    const { rolloutTrips } = store().ports
    const heard: SharedTrip[] = []
    rolloutTrips.subscribe((one) => heard.push(one))
    await valueOf(rolloutTrips.tell(trip(1)))
    await valueOf(rolloutTrips.tell({ ...trip(1), reason: 'later', node: 'two' }))
    await valueOf(rolloutTrips.tell({ ...trip(1, 8), reason: 'anew' }))
    await waitUntil('all', () => heard.some(({ reason }) => reason === 'anew'))
    expect(new Set(heard.map(({ reason }) => reason))).toEqual(new Set(['it is ill', 'anew']))
  })

  test('are not received when they are too old', async () => {
    const { rolloutTrips } = store().ports
    const heard: string[] = []
    rolloutTrips.subscribe(({ rolloutUid }) => heard.push(rolloutUid))
    const old = { ...trip(1), atMs: trip(1).atMs - rolloutTripLimits.keptMs }
    await valueOf(rolloutTrips.tell(old))
    await valueOf(rolloutTrips.tell(trip(2)))
    await waitUntil('the newer one', () => heard.includes('r2'))
    expect(heard).not.toContain('r1')
  })
})
