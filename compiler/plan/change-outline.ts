// What the guardrails for changes compare: how each name is answered, and which members pools have.
import { changeLimitDefaults } from '#schemas/objects/guardrails.ts'
import type { ObjectOf } from '#schemas/kinds.ts'
import type { Tree } from '#compiler/tree/tree.ts'
import type { RecordPlan } from './record-plan.ts'

export interface ChangeOutline {
  /** Of each name: what a change of it changes, as a number. */
  readonly shapes: ReadonlyMap<string, number>
  /** Of each name: the longest TTL of its service and its records, in seconds. */
  readonly ttls: ReadonlyMap<string, number>
  readonly pools: ReadonlyMap<string, PoolOutline>
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

/** See schemas/objects/guardrails.ts. */
export type ChangeLimits = { readonly [Name in keyof typeof changeLimitDefaults]: number }

export function changeOutline(tree: Tree, records: RecordPlan): ChangeOutline {
  const shapes = new Map<string, number>()
  const ttls = new Map<string, number>()
  const used = new Set<string>()
  for (const { file, object } of tree.of.Service) {
    const { pool, ttl } = object.spec
    if (pool !== null) used.add(pool)
    if (file.domainKey === undefined) continue
    shapes.set(file.domainKey, serviceShape(object.spec))
    ttls.set(file.domainKey, ttl)
  }
  for (const [name, rrsets] of records.at) {
    let shape = shapes.get(name) ?? 0
    let ttl = ttls.get(name) ?? 0
    for (const { model } of rrsets) {
      // In whatever order they stand.
      shape = (shape + recordShape(model.type, model.ttlSeconds, model.rdata)) | 0
      ttl = Math.max(ttl, model.ttlSeconds)
    }
    shapes.set(name, shape)
    ttls.set(name, ttl)
  }
  const { guardrails } = tree.settings?.object.spec ?? {}
  return { shapes, ttls, pools: poolsOf(tree, used), limits: changeLimitsOf(guardrails) }
}

export function changeLimitsOf(declared: Partial<ChangeLimits> = {}): ChangeLimits {
  const {
    changedNames = changeLimitDefaults.changedNames,
    removedMembers = changeLimitDefaults.removedMembers,
    lostRedundancy = changeLimitDefaults.lostRedundancy,
    ttlJump = changeLimitDefaults.ttlJump,
  } = declared
  return { changedNames, removedMembers, lostRedundancy, ttlJump }
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
