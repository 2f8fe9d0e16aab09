// Outlines one object as guardrails compare it: its names, members and servers.
import type { ObjectOf } from '#schemas/kinds.ts'
import type { PlannedZone } from './zone-plan.ts'

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
  readonly hasNames: boolean
  /** Number of the algorithm that it is signed with; 0: it is not signed. */
  readonly algorithm: number
}

/** @param zones of the settings @param hasNames of the zone at that position */
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

/** See `NameFacts.shape`: what a service gives to that of its name. */
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
