// Lists the names and zones of a tree, by which the guardrail measures a change.
import { removedNamesDefault } from '#schemas/objects/guardrails.ts'
import { checkName } from '#compiler/values/names.ts'
import type { Tree } from '#compiler/tree/tree.ts'
import type { RecordPlan } from './record-plan.ts'
import type { ZonePlan } from './zone-plan.ts'

export interface NameOutline {
  /** Domains of services, and names with records: each once, lower case, with the final dot. */
  readonly names: readonly string[]
  /** The declared zones, with how many of the names each has. */
  readonly zones: ReadonlyMap<string, number>
  /** Percent of the names that the next change may remove. */
  readonly removedNamesMax: number
}

export function nameOutline(tree: Tree, plan: ZonePlan, records: RecordPlan): NameOutline {
  const names: string[] = []
  const counts = new Uint32Array(plan.zones.length)
  for (const [i, { file }] of tree.of.Service.entries()) {
    if (file.domainKey === undefined) continue
    names.push(file.domainKey)
    counts[plan.zoneOfService[i]!]!++
  }
  for (const [name, [first]] of records.at) {
    if (tree.serviceAt.has(name)) continue
    names.push(name)
    counts[first!.model.zone]!++
  }
  const zones = new Map<string, number>()
  for (const [i, { name, isImplied }] of plan.zones.entries()) {
    if (!isImplied) zones.set(name, counts[i]!)
  }
  const { guardrails } = tree.settings?.object.spec ?? {}
  return { names, zones, removedNamesMax: guardrails?.removedNames ?? removedNamesDefault }
}

/** The form that an outline has a domain in; undefined: it is none. */
export function outlineName(domain: string): string | undefined {
  return checkName(domain, true).key
}
