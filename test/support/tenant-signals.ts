// Asserts that a store of health signals keeps places for tenants that come late.
import { expect } from 'vitest'
import type { Clock } from '#lib/clock.ts'
import { healthSignalLimits } from '#state/ports/health-signals.ts'
import type { HealthSignalLimits, HealthSignals } from '#state/ports/health-signals.ts'
import { FakeTime } from './fake-time.ts'

type MakeSignals = (clock: Clock, limits: HealthSignalLimits) => HealthSignals

/** @param make an empty store */
export async function expectSharesOfTenants(make: MakeSignals): Promise<void> {
  const time = new FakeTime(1_800_000_000_000)
  const signals = make(time.clock, { ...healthSignalLimits, perTenantMax: 2, signalsMax: 4 })
  const post = (tenantId: string, source: string) => {
    time.pass(1)
    const postedAtMs = time.clock.nowMs()
    const word = { memberUid: 'm1', healthy: false, score: null }
    return signals.post({ ...word, tenantId, source, postedAtMs, expiresAtMs: postedAtMs + 1_000 })
  }
  expect([await post('a', '1'), await post('a', '2')]).toEqual(['accepted', 'accepted'])
  expect(await post('a', '3')).toBe('full')
  expect(await post('a', '2')).toBe('accepted')
  expect(await post('b', '3')).toBe('accepted')
  // A member that moves to another tenant takes its word along.
  expect(await post('b', '2')).toBe('accepted')
  expect(await post('b', '4')).toBe('full')
  expect(await post('a', '4')).toBe('accepted')
  expect(await post('c', '5')).toBe('full')
  time.pass(healthSignalLimits.keptMs)
  expect([await post('b', '6'), await post('b', '7')]).toEqual(['accepted', 'accepted'])
  expect(await post('b', '8')).toBe('full')
}
