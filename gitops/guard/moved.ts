// The guardrail on moved clients: how large a share of the clients of a name goes elsewhere.
import type { Moved, MoveLimits } from '#compiler/plan/name-outline.ts'
import { otherTenants } from '#schemas/objects/guardrails.ts'

/** Words, as the end of "Commit c0ffee …"; undefined: so many may move. */
export function movedBeyond(limits: MoveLimits, moved: readonly Moved[]): string | undefined {
  const all = [...moved].sort((a, b) => b.share - a.share)
  for (const { name, tenant, share } of all) {
    const percent = share * 100
    const whose = `sends ${rounded(percent)} % of the clients of ${name} elsewhere, more than`
    if (limits.all !== null && percent > limits.all) return `${whose} ${limits.all} %`
    const own = limits.tenants.get(tenant) ?? limits.tenants.get(otherTenants)
    if (own !== undefined && percent > own) return `${whose} ${own} %, of tenant "${tenant}"`
  }
  return undefined
}

/** Never the limit itself, which it is beyond. */
function rounded(percent: number): string {
  return percent >= 10 ? percent.toFixed(1).replace(/\.0$/, '') : percent.toPrecision(2)
}
