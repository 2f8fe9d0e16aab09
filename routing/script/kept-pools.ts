// Builds large pools in the script engine ahead of queries.
import { poolOfService, serviceCell } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { firstPolicyCode, PolicyCell } from '#bundle/format/routing-cells.ts'
import { scriptLimits } from './contract.ts'
import type { ScriptEngine } from './engine.ts'
import { scriptPoolOf } from './input.ts'
import type { ScriptPool } from './input.ts'

/**
 * @param seatStarts see ScriptSeats
 * @returns the kept pools
 */
export function keepPools(
  engine: ScriptEngine,
  bundle: Bundle,
  seatStarts: Uint32Array,
): ReadonlyMap<number, ScriptPool> {
  const pools = new Map<number, ScriptPool>()
  const texts = function* (): Generator<string> {
    for (const pool of largePools(bundle, seatStarts)) {
      const first = bundle.poolMemberStart[pool]!
      const members = Array.from({ length: sizeOf(bundle, pool) }, (_, i) => first + i)
      const built = scriptPoolOf(bundle, members, first)
      pools.set(pool, built)
      yield built.text
    }
  }
  const kept = engine.keep(texts())
  for (const [pool, { text }] of pools) if (!kept.has(text)) pools.delete(pool)
  return pools
}

/** Large pools and fallback pools of services with a script, in a fixed order. */
function largePools(bundle: Bundle, seatStarts: Uint32Array): ReadonlySet<number> {
  const pools = new Set<number>()
  for (let service = 0; service < bundle.counts.services; service++) {
    if (seatStarts[service] === seatStarts[service + 1]) continue
    const policy = serviceCell(bundle, service, NodeCell.Algorithm) - firstPolicyCode
    const fallback = bundle.policyRow[policy * PolicyCell.Words + PolicyCell.FallbackPool]! - 1
    for (const pool of [poolOfService(bundle, service), fallback]) {
      if (pool >= 0 && sizeOf(bundle, pool) >= scriptLimits.keptMembersMin) pools.add(pool)
    }
  }
  return pools
}

function sizeOf({ poolCount4, poolCount6 }: Bundle, pool: number): number {
  return poolCount4[pool]! + poolCount6[pool]!
}
