// Outlines a tree for guardrails: the names, pools and zones by which they measure a change.
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

/** Facts of a name that guardrails compare. */
export interface NameFacts {
  /** 0: the name holds nothing. */
  readonly standing: Standing
  /** A hash that changes with the way the name is answered. */
  readonly shape: number
  /** The longest TTL of its service and records. */
  readonly ttlSeconds: number
  readonly answers: Answers
  /** Tenant of its service, else of its records. */
  readonly tenant: string
}

/** The part of a map's interface that outlines need. */
export interface Facts<T> extends Iterable<readonly [name: string, facts: T]> {
  readonly get: (name: string) => T | undefined
  readonly size: number
}

/** The parts of a configuration that a judge compares. */
export interface Outline {
  /** Lower case, with the final dot. */
  readonly names: Facts<NameFacts>
  readonly pools: Facts<PoolOutline>
  /** Declared zones only. */
  readonly zones: Facts<ZoneOutline>
}

/** The outline of a commit, with the limits for the next change. */
export interface NameOutline extends Outline {
  readonly guardrails: Guardrails | undefined
  /** Compares the next change's clients with this commit's; left out: no comparison. */
  readonly moves?: Moves
  /** Left out: nothing is known of parents. */
  readonly parentDs?: ParentDs
}

/** The DS records that the parent of a signed zone was last seen to have. */
export interface ParentOfZone {
  /** DS records in presentation form. */
  readonly ds: readonly string[]
  /** A control node rolls the keys: a change of algorithm is done in steps and breaks nothing. */
  readonly rolls: boolean
}

/** By zone. */
export type ParentDs = ReadonlyMap<string, ParentOfZone>

export interface Moved {
  /** Tenant of the name's service; '': none. */
  readonly tenant: string
  readonly name: string
  /** Share of its clients that are moved, 0 to 1; 0: it only gains clients, or it is new. */
  readonly share: number
}

/** @returns only the names that lose or gain clients */
export type MovedBetween = (before: Uint8Array, after: Uint8Array) => readonly Moved[]

interface Moves {
  readonly bundle: Uint8Array
  readonly to: (after: Uint8Array) => readonly Moved[]
}

interface OutlinedPlans {
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
      // A sum, independent of the order.
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
  return { names, pools, zones, guardrails }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Facts of a name that does not exist. */
export const noFacts: NameFacts = Object.freeze({
  ...{ standing: 0, shape: 0, ttlSeconds: 0, answers: 0, tenant: '' },
})

export function withMoves(
  outline: NameOutline,
  bundle: Uint8Array,
  movedBetween: MovedBetween,
): NameOutline {
  let last: { readonly after: Uint8Array; readonly moved: readonly Moved[] } | undefined
  const to = (after: Uint8Array): readonly Moved[] => {
    // Cached: a judge asks more than once.
    if (last?.after !== after) last = { after, moved: movedBetween(bundle, after) }
    return last.moved
  }
  return { ...outline, moves: { bundle, to } }
}

export function presenceOf({ pool }: { readonly pool: string | null }): Presence {
  return pool === null ? Presence.Empty : Presence.Answers
}

/** Normalises a domain as outlines have it; undefined: not a valid name. */
export function outlineName(domain: string): string | undefined {
  return checkName(domain, true).key
}
