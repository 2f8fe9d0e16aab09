// Lists the names and zones of a tree, by which the guardrail measures a change.
import { removedNamesDefault } from '#schemas/objects/guardrails.ts'
import { checkName } from '#compiler/values/names.ts'
import type { Tree } from '#compiler/tree/tree.ts'
import type { RecordPlan } from './record-plan.ts'
import type { ZonePlan } from './zone-plan.ts'

/** How much of a name is there: a service without a pool exists, and has no records. */
export const Presence = { Absent: 0, Empty: 1, Answers: 2 } as const
export type Presence = (typeof Presence)[keyof typeof Presence]

/**
 * Domains of services, and names with records: lower case, with the final dot. A name that is not
 * there is absent.
 */
export type Names = ReadonlyMap<string, Presence>

export interface NameOutline {
  readonly names: Names
  /** The declared zones, with how many of the names each has. */
  readonly zones: ReadonlyMap<string, number>
  /** Percent of the names that the next change may remove. */
  readonly removedNamesMax: number
}

export function nameOutline(tree: Tree, plan: ZonePlan, records: RecordPlan): NameOutline {
  const names = new Map<string, Presence>()
  const counts = new Uint32Array(plan.zones.length)
  for (const [i, { file, object }] of tree.of.Service.entries()) {
    if (file.domainKey === undefined) continue
    names.set(file.domainKey, presenceOf(object.spec))
    counts[plan.zoneOfService[i]!]!++
  }
  for (const [name, [first]] of records.at) {
    if (!names.has(name)) counts[first!.model.zone]!++
    names.set(name, Presence.Answers)
  }
  const zones = new Map<string, number>()
  for (const [i, { name, isImplied }] of plan.zones.entries()) {
    if (!isImplied) zones.set(name, counts[i]!)
  }
  const { guardrails } = tree.settings?.object.spec ?? {}
  return { names, zones, removedNamesMax: guardrails?.removedNames ?? removedNamesDefault }
}

export function presenceOf({ pool }: { readonly pool: string | null }): Presence {
  return pool === null ? Presence.Empty : Presence.Answers
}

/** The form that an outline has a domain in; undefined: it is none. */
export function outlineName(domain: string): string | undefined {
  return checkName(domain, true).key
}
