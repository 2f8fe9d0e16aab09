// Compares the clients of two bundles, for the guardrail on moved clients.
import { loadBundle } from '#bundle/load/load.ts'
import { loadTables } from '#cli/simulate/tables.ts'
import type { Moved, MovedBetween } from '#compiler/plan/name-outline.ts'
import { systemClock } from '#lib/clock.ts'
import type { AnswerChange, FamilyMovement, Plan } from '#plan/model.ts'
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

/** The name of each tenant of which the most clients go elsewhere. */
export function movedIn({ scenarios }: Pick<Plan, 'scenarios'>): readonly Moved[] {
  const most = new Map<string, Moved>()
  for (const { changes } of scenarios) {
    for (const change of changes) {
      const { name, tenant } = change
      const share = shareOf(change)
      if (share > (most.get(tenant)?.share ?? 0)) most.set(tenant, { name, tenant, share })
    }
  }
  return [...most.values()]
}

/** A name that comes or goes sends nobody elsewhere: other guardrails count it. */
function shareOf({ kind, movement }: AnswerChange): number {
  if (kind !== 'changed' || movement === null) return 0
  return Math.max(sentElsewhere(movement.ipv4), sentElsewhere(movement.ipv6))
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
