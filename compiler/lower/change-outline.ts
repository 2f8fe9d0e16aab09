// What the guardrails for changes compare: how each name is answered, and which members pools have.
import { changeLimitDefaults } from '#schemas/objects/guardrails.ts'
import type { ObjectOf } from '#schemas/kinds.ts'
import type { Tree } from '#compiler/tree/tree.ts'
import { answerBits, poolAnswers, recordAnswers, serviceAnswers } from './answers.ts'
import type { Answers, Denial, PoolAnswers } from './answers.ts'
import type { RecordPlan } from './record-plan.ts'
import type { PlannedZone } from './zone-plan.ts'

export interface ChangeOutline {
  /** A hash by name: it differs where the name is answered in another way. */
  readonly shapes: ReadonlyMap<string, number>
  /** Seconds by name: the longest TTL of its service and its records. */
  readonly ttls: ReadonlyMap<string, number>
  readonly pools: ReadonlyMap<string, PoolOutline>
  /** What each name of `shapes` can answer. */
  readonly answers: ReadonlyMap<string, Answers>
  /** The declared ones. */
  readonly zones: ReadonlyMap<string, ZoneOutline>
  /** What the next change may do. */
  readonly limits: ChangeLimits
}

export interface PoolOutline {
  /** Addresses or host names of the enabled ones with a weight. */
  readonly members: readonly string[]
  /** A service asks it. */
  readonly isUsed: boolean
  readonly tenant: string
}

export interface ZoneOutline {
  /** Their names, in lower case. */
  readonly servers: readonly string[]
  /** The longest of what resolvers keep of the zone itself: NS, SOA, and that there is nothing. */
  readonly ttlSeconds: number
}

/** See schemas/objects/guardrails.ts. */
export type ChangeLimits = { readonly [Name in keyof typeof changeLimitDefaults]: number }

/** What the outline is of, as it is planned. */
export interface OutlineParts {
  readonly tree: Tree
  readonly zones: readonly PlannedZone[]
  readonly records: RecordPlan
  /** undefined: no response rule denies a name. */
  readonly denial: Denial | undefined
}

export function changeOutline({ tree, zones, records, denial }: OutlineParts): ChangeOutline {
  const shapes = new Map<string, number>()
  const ttls = new Map<string, number>()
  const answers = new Map<string, Answers>()
  const used = new Set<string>()
  const poolNamed = poolsByName(tree)
  for (const { file, object } of tree.of.Service) {
    const { pool, ttl } = object.spec
    if (pool !== null) used.add(pool)
    if (file.domainKey === undefined) continue
    shapes.set(file.domainKey, serviceShape(object.spec))
    ttls.set(file.domainKey, ttl)
    answers.set(file.domainKey, serviceAnswers(object.spec, poolNamed))
  }
  for (const [name, rrsets] of records.at) {
    let shape = shapes.get(name) ?? 0
    let ttl = ttls.get(name) ?? 0
    let given = answers.get(name) ?? 0
    for (const { model } of rrsets) {
      // In whatever order they stand.
      shape = (shape + recordShape(model.type, model.ttlSeconds, model.rdata)) | 0
      ttl = Math.max(ttl, model.ttlSeconds)
      given |= recordAnswers(model.type)
    }
    answers.set(name, given)
    shapes.set(name, shape)
    ttls.set(name, ttl)
  }
  if (denial !== undefined) {
    for (const [name, given] of answers) {
      if (denial(name)) answers.set(name, given | answerBits.denied)
    }
  }
  const { guardrails } = tree.settings?.object.spec ?? {}
  return {
    ...{ shapes, ttls, answers, zones: zonesOf(zones) },
    ...{ pools: poolsOf(tree, used), limits: changeLimitsOf(guardrails) },
  }
}

function poolsByName(tree: Tree): (name: string) => PoolAnswers | undefined {
  const pools = new Map<string, PoolAnswers>()
  for (const { object } of tree.of.Pool) {
    pools.set(object.metadata.name, poolAnswers(object.spec))
  }
  return (name) => pools.get(name)
}

/** @param zones of the settings */
export function zonesOf(zones: readonly PlannedZone[]): ReadonlyMap<string, ZoneOutline> {
  const found = new Map<string, ZoneOutline>()
  for (const { name, isImplied, nameservers, nsTtlSeconds, soa } of zones) {
    if (isImplied) continue
    const servers = nameservers.map((server) => server.name)
    const ttlSeconds = Math.max(nsTtlSeconds, soa.ttlSeconds, soa.minimumSeconds)
    found.set(name, { servers, ttlSeconds })
  }
  return found
}

export function changeLimitsOf(declared: Partial<ChangeLimits> = {}): ChangeLimits {
  const {
    changedNames = changeLimitDefaults.changedNames,
    removedMembers = changeLimitDefaults.removedMembers,
    lostRedundancy = changeLimitDefaults.lostRedundancy,
    ttlJump = changeLimitDefaults.ttlJump,
    lostAnswers = changeLimitDefaults.lostAnswers,
    replacedServers = changeLimitDefaults.replacedServers,
  } = declared
  return { changedNames, removedMembers, lostRedundancy, ttlJump, lostAnswers, replacedServers }
}

function poolsOf(tree: Tree, used: ReadonlySet<string>): ReadonlyMap<string, PoolOutline> {
  const pools = new Map<string, PoolOutline>()
  for (const { object, tenant } of tree.of.Pool) {
    const { name } = object.metadata
    pools.set(name, { members: countedMembers(object.spec), isUsed: used.has(name), tenant })
  }
  return pools
}

/** See `PoolOutline.members`. */
export function countedMembers({ members }: ObjectOf['Pool']['spec']): readonly string[] {
  return members
    .filter(({ enabled, weight }) => enabled && weight > 0)
    .map(({ ipAddress, hostname }) => ipAddress || hostname)
}

/** See `ChangeOutline.shapes`: what a service gives to that of its name. */
export function serviceShape(spec: ObjectOf['Service']['spec']): number {
  const { pool, algorithm, filterChain, onAllDown, answerCount, ttl } = spec
  const chain = filterChain.join('\n')
  return hashText(`${pool ?? ''}\n${algorithm}\n${onAllDown}\n${answerCount}\n${ttl}\n${chain}`, 0)
}

/** What a set of records gives to it. */
export function recordShape(
  type: number,
  ttlSeconds: number,
  rdata: readonly Uint8Array[],
): number {
  let hash = Math.imul(type + 1, 0x9e37_79b1) ^ ttlSeconds
  for (const octets of rdata) {
    for (const octet of octets) hash = Math.imul(hash ^ octet, 0x0100_0193)
    hash = Math.imul(hash ^ 0x1ff, 0x0100_0193)
  }
  return hash
}

/** FNV-1a: one change in four thousand million is not seen, and then counts as none. */
function hashText(text: string, seed: number): number {
  let hash = seed ^ 0x811c_9dc5
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193)
  }
  return hash
}
