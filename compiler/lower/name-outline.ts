// Outlines a tree: the names, pools and zones by which guardrails measure a change.
import type { Guardrails } from '#schemas/objects/guardrails.ts'
import { checkName } from '#compiler/values/names.ts'
import type { Tree } from '#compiler/tree/tree.ts'
import { answerBits, poolAnswers, recordAnswers, serviceAnswers } from './answers.ts'
import type { Answers, PoolAnswers } from './answers.ts'
import { countedMembers, recordShape, serviceShape, zonesOf } from './change-outline.ts'
import type { PoolOutline, ZoneOutline } from './change-outline.ts'
import { Presence, withRecords, withService } from './name-standing.ts'
import type { Standing } from './name-standing.ts'
import type { RecordPlan } from './record-plan.ts'
import type { ResponsePlan } from './response-plan.ts'
import { denialIn } from './response-plan.ts'
import type { ZonePlan } from './zone-plan.ts'

/** What guardrails compare of a name. */
export interface NameFacts {
  /** 0: nothing stands there. */
  readonly standing: Standing
  /** A hash: it differs where the name is answered in another way. */
  readonly shape: number
  /** The longest of its service and its records. */
  readonly ttlSeconds: number
  readonly answers: Answers
  /** Tenant of its service, or else of its records. */
  readonly tenant: string
}

/** A map, or what looks like one. */
export interface Facts<T> extends Iterable<readonly [name: string, facts: T]> {
  readonly get: (name: string) => T | undefined
  readonly size: number
}

/** What a judge compares of a state of the configuration. */
export interface Outline {
  /** Lower case, with the final dot. */
  readonly names: Facts<NameFacts>
  readonly pools: Facts<PoolOutline>
  /** The declared ones. */
  readonly zones: Facts<ZoneOutline>
}

/** All that a commit has, and what the next change may do to it. */
export interface NameOutline extends Outline {
  readonly guardrails: Guardrails | undefined
  readonly moveLimits: MoveLimits
  /** What the clients of the next change are compared with; left out: they are not. */
  readonly moves?: Moves
  /** Left out: nothing is known of parents. */
  readonly parentDs?: ParentDs
}

/** What the parent of a signed zone was last seen to have. */
export interface ParentOfZone {
  /** DS records in presentation form. */
  readonly ds: readonly string[]
  /** A control node rolls the keys: another algorithm comes step by step, and breaks nothing. */
  readonly rolls: boolean
}

/** By zone. */
export type ParentDs = ReadonlyMap<string, ParentOfZone>

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
  const names = new Map<string, Writable<NameFacts>>()
  const used = new Set<string>()
  const counts = new Uint32Array(plan.zones.length)
  const answersOf = new Map<string, PoolAnswers>()
  for (const { object } of tree.of.Pool) {
    answersOf.set(object.metadata.name, poolAnswers(object.spec))
  }
  for (const [i, { file, object, tenant }] of tree.of.Service.entries()) {
    const { spec } = object
    if (spec.pool !== null) used.add(spec.pool)
    if (file.domainKey === undefined) continue
    names.set(file.domainKey, {
      standing: withService(0, presenceOf(spec)),
      shape: serviceShape(spec),
      ttlSeconds: spec.ttl,
      answers: serviceAnswers(spec, (name) => answersOf.get(name)),
      tenant,
    })
    counts[plan.zoneOfService[i]!]!++
  }
  for (const [name, rrsets] of records.at) {
    const known = names.get(name)
    if (known === undefined) counts[rrsets[0]!.model.zone]!++
    const facts = known ?? { ...noFacts, tenant: rrsets[0]!.entry.tenant }
    for (const { model } of rrsets) {
      facts.standing = withRecords(facts.standing, model.type, 1)
      // In whatever order they stand.
      facts.shape = (facts.shape + recordShape(model.type, model.ttlSeconds, model.rdata)) | 0
      facts.ttlSeconds = Math.max(facts.ttlSeconds, model.ttlSeconds)
      facts.answers |= recordAnswers(model.type)
    }
    if (known === undefined) names.set(name, facts)
  }
  const denial = denialIn(responses)
  if (denial !== undefined) {
    for (const [name, facts] of names) if (denial(name)) facts.answers |= answerBits.denied
  }
  const pools = new Map<string, PoolOutline>()
  for (const { object, tenant } of tree.of.Pool) {
    const { name } = object.metadata
    pools.set(name, { members: countedMembers(object.spec), isUsed: used.has(name), tenant })
  }
  const { guardrails } = tree.settings?.object.spec ?? {}
  const zones = zonesOf(plan.zones, (i) => counts[i]! > 0)
  return { names, pools, zones, guardrails, moveLimits: moveLimitsOf(guardrails) }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** What is known of a name that is not there. */
export const noFacts: NameFacts = Object.freeze({
  ...{ standing: 0, shape: 0, ttlSeconds: 0, answers: 0, tenant: '' },
})

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
