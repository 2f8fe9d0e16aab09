// Lists the names and zones of a tree, by which the guardrail measures a change.
import { removedNamesDefault } from '#schemas/objects/guardrails.ts'
import { checkName } from '#compiler/values/names.ts'
import type { Tree } from '#compiler/tree/tree.ts'
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
}

export function nameOutline(tree: Tree, plan: ZonePlan, records: RecordPlan): NameOutline {
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
    changes: () => (changes ??= changeOutline(tree, records)),
  }
}

export function presenceOf({ pool }: { readonly pool: string | null }): Presence {
  return pool === null ? Presence.Empty : Presence.Answers
}

/** The form that an outline has a domain in; undefined: it is none. */
export function outlineName(domain: string): string | undefined {
  return checkName(domain, true).key
}
