// Outlines one object as guardrails compare it: its names, members and servers.
import type { ObjectOf } from '#schemas/kinds.ts'
import type { PlannedZone } from './zone-plan.ts'

export interface PoolOutline {
  /** Addresses or host names of enabled members with a weight. */
  readonly members: readonly string[]
  /** Whether a service uses the pool. */
  readonly isUsed: boolean
  readonly tenant: string
}

export interface ZoneOutline {
  /** Names of its servers, in lower case. */
  readonly servers: readonly string[]
  /** The longest TTL among the zone's own records: NS, SOA, and negative answers. */
  readonly ttlSeconds: number
  readonly hasNames: boolean
  /** Number of the signing algorithm; 0: not signed. */
  readonly algorithm: number
}

/**
 * @param zones of the settings
 * @param hasNames whether the zone at a position has names
 */
export function zonesOf(
  zones: readonly PlannedZone[],
  hasNames: (i: number) => boolean,
): ReadonlyMap<string, ZoneOutline> {
  const found = new Map<string, ZoneOutline>()
  for (const [i, zone] of zones.entries()) {
    const { name, isImplied, nameservers, nsTtlSeconds, soa, algorithm = 0 } = zone
    if (isImplied) continue
    const servers = nameservers.map((server) => server.name)
    const ttlSeconds = Math.max(nsTtlSeconds, soa.ttlSeconds, soa.minimumSeconds)
    found.set(name, { servers, ttlSeconds, hasNames: hasNames(i), algorithm })
  }
  return found
}

/** See `PoolOutline.members`. */
export function countedMembers({ members }: ObjectOf['Pool']['spec']): readonly string[] {
  return members
    .filter(({ enabled, weight }) => enabled && weight > 0)
    .map(({ ipAddress, hostname }) => ipAddress || hostname)
}

/** Part of a service in `NameFacts.shape`. */
export function serviceShape(spec: ObjectOf['Service']['spec']): number {
  const { pool, algorithm, filterChain, onAllDown, answerCount, ttl } = spec
  const chain = filterChain.join('\n')
  return hashText(`${pool ?? ''}\n${algorithm}\n${onAllDown}\n${answerCount}\n${ttl}\n${chain}`, 0)
}

/** Part of a record set in `NameFacts.shape`. */
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

/** FNV-1a: one change in four thousand million goes unnoticed. */
function hashText(text: string, seed: number): number {
  let hash = seed ^ 0x811c_9dc5
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193)
  }
  return hash
}
