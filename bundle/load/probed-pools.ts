// Finds the pools of a bundle that a node probes: those with a health check that it may run.
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { parseHealthCheck } from '#bundle/format/health-check.ts'

/** The health checks that a node runs. */
export type MadeChecks = 'all' | 'no-scripts' | 'none'

/** @param health null: health checks are off */
export function madeChecks(health: { readonly runsScripts: boolean } | null): MadeChecks {
  return health === null ? 'none' : health.runsScripts ? 'all' : 'no-scripts'
}

const known = new WeakMap<Bundle, { readonly checks: MadeChecks; readonly pools: Uint8Array }>()

/**
 * By pool: 1 where it is probed. A script check on a node that may not run scripts counts as no
 * check: its members must not be counted as checked.
 */
export function probedPools(bundle: Bundle, checks: MadeChecks): Uint8Array {
  const found = known.get(bundle)
  if (found?.checks === checks) return found.pools
  const isScript = new Map<number, boolean>([[0, false]])
  const pools = new Uint8Array(bundle.counts.pools)
  for (let pool = 0; checks !== 'none' && pool < pools.length; pool++) {
    const text = bundle.poolHealthCheck[pool]!
    let isUnrun = checks === 'all' ? false : isScript.get(text)
    if (isUnrun === undefined) {
      const words = textOf(bundle, text)
      // Texts without the word are not parsed.
      isUnrun = words.includes('"script"') && parseHealthCheck(words)?.type === 'script'
      isScript.set(text, isUnrun)
    }
    pools[pool] = text !== 0 && !isUnrun ? 1 : 0
  }
  known.set(bundle, { checks, pools })
  return pools
}
