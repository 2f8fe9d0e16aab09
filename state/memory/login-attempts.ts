// Counts failed logins in memory.
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { loginAttemptLimits } from '../ports/login-attempts.ts'
import type { LoginAttempts } from '../ports/login-attempts.ts'
import { ExpiringMap } from './expiring-map.ts'

export function createMemoryLoginAttempts(clock: Clock): LoginAttempts {
  const counts = new ExpiringMap<{ count: number }>(clock, loginAttemptLimits.perNodeMax)
  return {
    record: async (key, windowMs) => {
      const known = counts.get(key)
      if (known !== undefined) {
        return ok({ count: ++known.value.count, resetsInMs: known.leftMs })
      }
      counts.set(key, { count: 1 }, windowMs)
      return ok({ count: 1, resetsInMs: windowMs })
    },
    count: async (key) => {
      const known = counts.get(key)
      return ok({ count: known?.value.count ?? 0, resetsInMs: known?.leftMs ?? 0 })
    },
    clear: async (key) => {
      counts.delete(key)
      return ok(undefined)
    },
  }
}
