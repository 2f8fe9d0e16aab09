// Lists the names and zones of a tree, by which the guardrail measures a change.
import { removedNamesDefault } from '#schemas/objects/guardrails.ts'
import type { Guardrails, TenantGuardrails } from '#schemas/objects/guardrails.ts'
import { checkName } from '#compiler/values/names.ts'
import type { Tree } from '#compiler/tree/tree.ts'
import type { ResponsePlan } from './response-plan.ts'
import { denialIn } from './response-plan.ts'
import { changeOutline } from './change-outline.ts'
import type { ChangeOutline } from './change-outline.ts'
import { Presence, withRecords, withService } from './name-standing.ts'
import type { Standing } from './name-standing.ts'
import type { RecordPlan } from './record-plan.ts'
import type { ZonePlan } from './zone-plan.ts'

/**
 * Domains of services, and names with records: lower case, with the final dot. A name that is not
 * there has nothing.
 */
export type Names = ReadonlyMap<string, Standing>

export interface NameOutline {
  readonly names: Names
  /** The declared zones, with how many of the names each has. */
  readonly zones: ReadonlyMap<string, number>
  /** Percent of the names that the next change may remove. */
  readonly removedNamesMax: number
  /** The rest of what a change is measured by; worked out once, when it is asked for. */
  readonly changes: () => ChangeOutline
  /** Whose each name is; worked out when it is asked for. */
  readonly tenantOf: () => ReadonlyMap<string, string>
  /** What the next change may do in one tenant; `*`: in each that is not named. */
  readonly tenantLimits: Readonly<Record<string, TenantGuardrails>>
  readonly moveLimits: MoveLimits
  /** What the clients of the next change are compared with; left out: they are not. */
  readonly moves?: Moves
}

/** Percent of the clients of a name that the next change may send elsewhere. */
export interface MoveLimits {
  /** null: there is no limit. */
  readonly all: number | null
  /** By tenant; `*`: of each that is not named. */
  readonly tenants: ReadonlyMap<string, number>
}

export interface Moved {
  /** Whose service the name is; '': nobody's. */
  readonly tenant: string
  readonly name: string
  /** Part of its clients that were sent elsewhere, 0 to 1; 0: clients only come, or it is new. */
  readonly share: number
}

/** @returns each name of which clients go elsewhere, or come; no other */
export type MovedBetween = (before: Uint8Array, after: Uint8Array) => readonly Moved[]

export interface Moves {
  readonly bundle: Uint8Array
  readonly to: (after: Uint8Array) => readonly Moved[]
}

export interface OutlinedPlans {
  readonly zones: ZonePlan
  readonly records: RecordPlan
  readonly responses: ResponsePlan
}

export function nameOutline(
  tree: Tree,
  { zones: plan, records, responses }: OutlinedPlans,
): NameOutline {
  const names = new Map<string, Standing>()
  const counts = new Uint32Array(plan.zones.length)
  for (const [i, { file, object }] of tree.of.Service.entries()) {
    if (file.domainKey === undefined) continue
    names.set(file.domainKey, withService(0, presenceOf(object.spec)))
    counts[plan.zoneOfService[i]!]!++
  }
  for (const [name, rrsets] of records.at) {
    let standing = names.get(name) ?? 0
    if (standing === 0) counts[rrsets[0]!.model.zone]!++
    for (const { model } of rrsets) standing = withRecords(standing, model.type, 1)
    names.set(name, standing)
  }
  const zones = new Map<string, number>()
  for (const [i, { name, isImplied }] of plan.zones.entries()) {
    if (!isImplied) zones.set(name, counts[i]!)
  }
  const { guardrails } = tree.settings?.object.spec ?? {}
  const removedNamesMax = guardrails?.removedNames ?? removedNamesDefault
  let changes: ChangeOutline | undefined
  return {
    names,
    zones,
    removedNamesMax,
    changes: () =>
      (changes ??= changeOutline({
        ...{ tree, records, zones: plan.zones },
        denial: denialIn(responses),
      })),
    tenantOf: () => tenantsOf(tree, records),
    tenantLimits: guardrails?.tenants ?? {},
    moveLimits: moveLimitsOf(guardrails),
  }
}

function tenantsOf(tree: Tree, records: RecordPlan): ReadonlyMap<string, string> {
  const owners = new Map<string, string>()
  for (const [name, rrsets] of records.at) owners.set(name, rrsets[0]!.entry.tenant)
  for (const { file, tenant } of tree.of.Service) {
    if (file.domainKey !== undefined) owners.set(file.domainKey, tenant)
  }
  return owners
}

/** @param guardrails of the settings */
export function moveLimitsOf(guardrails: Guardrails | undefined): MoveLimits {
  const { movedClients = null, tenants = {} } = guardrails ?? {}
  const byTenant = new Map<string, number>()
  for (const [tenant, limits] of Object.entries(tenants)) {
    if (limits.movedClients !== undefined) byTenant.set(tenant, limits.movedClients)
  }
  return { all: movedClients, tenants: byTenant }
}

export function withMoves(
  outline: NameOutline,
  bundle: Uint8Array,
  movedBetween: MovedBetween,
): NameOutline {
  let last: { readonly after: Uint8Array; readonly moved: readonly Moved[] } | undefined
  const to = (after: Uint8Array): readonly Moved[] => {
    // A judge asks more than once.
    if (last?.after !== after) last = { after, moved: movedBetween(bundle, after) }
    return last.moved
  }
  return { ...outline, moves: { bundle, to } }
}

export function presenceOf({ pool }: { readonly pool: string | null }): Presence {
  return pool === null ? Presence.Empty : Presence.Answers
}

/** The form that an outline has a domain in; undefined: it is none. */
export function outlineName(domain: string): string | undefined {
  return checkName(domain, true).key
}
