// Compares the clients of two bundles, for the guardrail on moved clients.
import { loadBundle } from '#bundle/load/load.ts'
import { loadTables } from '#judge/simulate/tables.ts'
import type { Moved, MovedBetween } from '#compiler/lower/name-outline.ts'
import { systemClock } from '#lib/clock.ts'
import type { AnswerChange, PlanSummary } from '#judge/document/model.ts'
import { makePlan } from '#judge/plan/plan.ts'
import { sentElsewhere } from '#judge/plan/sent-elsewhere.ts'
import type { PlanRequest } from '#judge/plan/plan.ts'

/** Fewer networks than in a plan for people: the share has one digit after the point. */
const networksMax = 8_192

/**
 * Compares with all members up. Databases are loaded on demand and dropped, since this guardrail is
 * judged seldom. If one cannot be read, its steps treat all clients alike.
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
    const { moved } = movesOf({
      base: { source: '', bundle: base.value, tables: tables.value(base.value) },
      head: { source: '', bundle: head.value, tables: tablesOfHead },
      moments: [{ atMs: systemClock.nowMs(), health: null }],
      geo: tablesOfHead.geo,
      scripts: null,
    })
    return moved
  }
}

/** Makes a plan for the figures alone, which lists no answers. */
export function movesOf(request: Omit<PlanRequest, 'onChange' | 'listedEntriesMax' | 'limits'>): {
  readonly moved: readonly Moved[]
  readonly summary: PlanSummary
} {
  const moved = new MovedNames()
  const { summary } = makePlan({
    ...request,
    limits: { networksMax },
    onChange: (change) => moved.add(change),
    listedEntriesMax: 0,
  })
  return { moved: moved.all, summary }
}

/** Collects each name of which clients go elsewhere, or start to come. */
export class MovedNames {
  readonly #most = new Map<string, Moved>()

  add({ name, tenant, kind, movement }: AnswerChange): void {
    if (kind === 'removed') return
    const known = this.#most.get(name)?.share ?? 0
    if (kind === 'added') {
      // The name lost its answer, so it sends nobody elsewhere: other guardrails count that.
      this.#most.set(name, { name, tenant, share: known })
    } else if (movement !== null) {
      const { ipv4, ipv6 } = movement
      if (Math.max(ipv4.moved, ipv6.moved) === 0) return
      const share = Math.max(sentElsewhere(ipv4), sentElsewhere(ipv6), known)
      this.#most.set(name, { name, tenant, share })
    }
  }

  get all(): readonly Moved[] {
    return [...this.#most.values()]
  }
}
