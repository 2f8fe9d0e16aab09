// Compares the clients of two bundles, for the guardrail on moved clients.
import { loadBundle } from '#bundle/load/load.ts'
import { loadTables } from '#cli/simulate/tables.ts'
import type { Moved, MovedBetween } from '#compiler/plan/name-outline.ts'
import { systemClock } from '#lib/clock.ts'
import type { FamilyMovement, Plan } from '#plan/model.ts'
import { makePlan } from '#plan/plan.ts'
import { isNowhere } from '#plan/sides/outcome.ts'

/** Fewer than a plan for people asks: it is compared with a whole number of percent. */
const networksMax = 8_192

/**
 * With all members up. Databases are read when they are needed, and let go: a guardrail is judged
 * seldom. One that cannot be read tells nobody apart.
 */
export function createMovedBetween(databases: {
  readonly geoip?: string | undefined
  readonly asn?: string | undefined
}): MovedBetween {
  return (before, after) => {
    const [base, head] = [loadBundle(before), loadBundle(after)]
    if (!base.ok || !head.ok) return []
    const loaded = loadTables(databases)
    const tables = loaded.ok ? loaded : loadTables({})
    if (!tables.ok) return []
    const tablesOfHead = tables.value(head.value)
    const plan = makePlan({
      base: { source: '', bundle: base.value, tables: tables.value(base.value) },
      head: { source: '', bundle: head.value, tables: tablesOfHead },
      moments: [{ atMs: systemClock.nowMs(), health: null }],
      geo: tablesOfHead.geo,
      scripts: null,
      limits: { networksMax },
    })
    return movedIn(plan)
  }
}

/** Each name of which clients go elsewhere, or come. */
export function movedIn({ scenarios }: Pick<Plan, 'scenarios'>): readonly Moved[] {
  const most = new Map<string, Moved>()
  for (const { changes } of scenarios) {
    for (const change of changes) {
      const { name, tenant, kind, movement } = change
      if (kind === 'removed') continue
      const known = most.get(name)?.share ?? 0
      if (kind === 'added') {
        // It sends nobody elsewhere: other guardrails count it.
        most.set(name, { name, tenant, share: known })
      } else if (movement !== null) {
        const { ipv4, ipv6 } = movement
        if (Math.max(ipv4.moved, ipv6.moved) === 0) continue
        const share = Math.max(sentElsewhere(ipv4), sentElsewhere(ipv6), known)
        most.set(name, { name, tenant, share })
      }
    }
  }
  return [...most.values()]
}

/** Who had no address is taken from none: the first member of a pool moves nobody. */
function sentElsewhere({ moved, flows }: FamilyMovement): number {
  const taken = flows.filter(({ from }) => !isNowhere(from))
  if (taken.length === flows.length) return moved
  return Math.min(
    moved,
    taken.reduce((sum, { share }) => sum + share, 0),
  )
}
