// OIDC login nonces in memory, for logins that return to this node.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { nonceLimits } from '../ports/oidc-nonces.ts'
import type { OidcNonces } from '../ports/oidc-nonces.ts'
import { ExpiringMap } from './expiring-map.ts'

export function createMemoryOidcNonces(clock: Clock): OidcNonces {
  const values = new ExpiringMap<string>(clock, nonceLimits.perNodeMax)
  return {
    put: async (nonce, value) => {
      assert(value.length <= nonceLimits.valueLengthMax, 'what a nonce stands for is short')
      values.set(nonce, value, nonceLimits.ttlMs)
      return ok(undefined)
    },
    take: async (nonce) => {
      const found = values.get(nonce)
      values.delete(nonce)
      return ok(found?.value ?? null)
    },
  }
}
