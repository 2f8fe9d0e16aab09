// Which pools of a bundle this node probes: those with a health check that it may run.
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { parseHealthCheck } from '#bundle/format/health-check.ts'

const known = new WeakMap<Bundle, { readonly runsScripts: boolean; readonly pools: Uint8Array }>()

/**
 * By pool: 1 where it is probed. A check of type script on a node that may run none is as none:
 * nothing was found out of its members, and nobody is to count them as checked.
 */
export function probedPools(bundle: Bundle, runsScripts: boolean): Uint8Array {
  const found = known.get(bundle)
  if (found?.runsScripts === runsScripts) return found.pools
  const isScript = new Map<number, boolean>([[0, false]])
  const pools = new Uint8Array(bundle.counts.pools)
  for (let pool = 0; pool < pools.length; pool++) {
    const text = bundle.poolHealthCheck[pool]!
    let isUnrun = runsScripts ? false : isScript.get(text)
    if (isUnrun === undefined) {
      const words = textOf(bundle, text)
      // Others are not read for this.
      isUnrun = words.includes('"script"') && parseHealthCheck(words)?.type === 'script'
      isScript.set(text, isUnrun)
    }
    pools[pool] = text !== 0 && !isUnrun ? 1 : 0
  }
  known.set(bundle, { runsScripts, pools })
  return pools
}
