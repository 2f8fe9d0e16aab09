// What a change does beyond the guardrails: the names that it removes, else what else it alters.
import { isDeepStrictEqual } from 'node:util'
import type { ChangeLimits, ChangeOutline } from '#compiler/lower/change-outline.ts'
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import { otherTenants, ttlJumpMax } from '#schemas/objects/guardrails.ts'
import type { TenantGuardrails } from '#schemas/objects/guardrails.ts'
import { beyondLimit, tallyBetween } from './change-limits.ts'
import { movedBeyond, notBack } from './moved-limit.ts'
import { removalBetween, wordsOf } from './removal.ts'

export interface Breach {
  readonly code: 'NamesRemoved' | 'GuardrailReached'
  /** `removes 2 of 3 names (…)`: the end of a sentence about the change. */
  readonly words: string
}

/** undefined: so much may change. */
export function breachBetween(before: NameOutline, after: NameOutline): Breach | undefined {
  return breachOf(before, after) ?? breachInTenant(before, after) ?? moveBetween(before, after)
}

/** The same, where what goes back to what it was earlier is no change. */
export function breachSince(
  earlier: NameOutline,
  before: NameOutline,
  after: NameOutline,
): Breach | undefined {
  const changes = (): ChangeOutline => {
    const [was, now, then] = [before.changes(), after.changes(), earlier.changes()]
    return {
      shapes: withoutBack(was.shapes, now.shapes, then.shapes),
      ttls: withoutBack(was.ttls, now.ttls, then.ttls),
      pools: withoutBack(was.pools, now.pools, then.pools),
      answers: withoutBack(was.answers, now.answers, then.answers),
      zones: withoutBack(was.zones, now.zones, then.zones),
      limits: was.limits,
    }
  }
  const { moves: _moves, ...rest } = { ...before, changes }
  return breachBetween(rest, after) ?? moveSince(earlier, before, after)
}

function withoutBack<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  earlier: ReadonlyMap<string, T>,
): ReadonlyMap<string, T> {
  const chosen = new Map<string, T>()
  for (const [name, was] of before) {
    const now = after.get(name)
    const isBack = now !== undefined && isDeepStrictEqual(now, earlier.get(name))
    chosen.set(name, isBack ? now : was)
  }
  return chosen
}

function moveSince(
  earlier: NameOutline,
  { moves, moveLimits }: NameOutline,
  after: NameOutline,
): Breach | undefined {
  if (moves === undefined || after.moves === undefined) return undefined
  const { bundle } = after.moves
  const moved = notBack(moves.to(bundle), earlier.moves?.to(bundle))
  return reached(movedBeyond(moveLimits, moved)?.words)
}

function breachOf(before: NameOutline, after: NameOutline): Breach | undefined {
  const removal = removalBetween(before, after)
  if (removal !== null) return { code: 'NamesRemoved', words: `removes ${wordsOf(removal)}` }
  const changes = before.changes()
  return reached(beyondLimit(tallyBetween(changes, after.changes()), changes.limits)?.words)
}

const reached = (words: string | undefined): Breach | undefined =>
  words === undefined ? undefined : { code: 'GuardrailReached', words }

function moveBetween(before: NameOutline, after: NameOutline): Breach | undefined {
  const { moves, moveLimits } = before
  if (moves === undefined || after.moves === undefined) return undefined
  if (moveLimits.all === null && moveLimits.tenants.size === 0) return undefined
  return reached(movedBeyond(moveLimits, moves.to(after.moves.bundle))?.words)
}

/** What the limits of the whole permit may be most of what one tenant has. */
function breachInTenant(before: NameOutline, after: NameOutline): Breach | undefined {
  const { tenantLimits } = before
  if (Object.keys(tenantLimits).length === 0) return undefined
  const owners = before.tenantOf()
  const tenants = new Set(owners.values())
  for (const { tenant } of before.changes().pools.values()) tenants.add(tenant)
  const ownersNow = after.tenantOf()
  for (const tenant of tenants) {
    const limits = tenantLimits[tenant] ?? tenantLimits[otherTenants]
    if (limits === undefined) continue
    const breach = breachOf(
      ofTenant(before, owners, tenant, limits),
      ofTenant(after, ownersNow, tenant, limits),
    )
    if (breach !== undefined) return { ...breach, words: `${breach.words}, of tenant "${tenant}"` }
  }
  return undefined
}

/** As if there were nobody else; what is not limited there may change. */
function ofTenant(
  outline: NameOutline,
  owners: ReadonlyMap<string, string>,
  tenant: string,
  limits: TenantGuardrails,
): NameOutline {
  const own = <T>(all: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map([...all].filter(([name]) => owners.get(name) === tenant))
  const isRemovalLimited = limits.removedNames !== undefined
  return {
    ...outline,
    names: isRemovalLimited ? own(outline.names) : new Map(),
    zones: new Map(),
    removedNamesMax: limits.removedNames ?? 100,
    changes: (): ChangeOutline => {
      const { shapes, ttls, pools, answers } = outline.changes()
      return {
        shapes: own(shapes),
        ttls: own(ttls),
        answers: own(answers),
        zones: new Map(),
        pools: new Map([...pools].filter(([, pool]) => pool.tenant === tenant)),
        limits: limitsOfTenant(limits),
      }
    },
  }
}

/** What is not limited there may change. */
export function limitsOfTenant(limits: TenantGuardrails): ChangeLimits {
  return {
    changedNames: limits.changedNames ?? 100,
    removedMembers: limits.removedMembers ?? 100,
    lostRedundancy: limits.lostRedundancy ?? 100,
    ttlJump: limits.ttlJump ?? ttlJumpMax,
    lostAnswers: limits.lostAnswers ?? ttlJumpMax,
    replacedServers: 100,
  }
}
