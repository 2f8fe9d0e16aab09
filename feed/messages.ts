// Defines the messages of the feed, and who may see which.
import { targetOf } from '#compiler/values/member-target.ts'
import type { EffectiveView } from '#config/overlays/effective.ts'
import { showMember } from '#api/resources/member.ts'
import type { MemberPart } from '#api/resources/member.ts'
import type { NodeView } from '#ports/member-health.ts'

type MessageType =
  | 'health_update'
  | 'pool_update'
  | 'member_update'
  | 'service_update'
  | 'stats_update'
  | 'snapshot'
  | 'revision'

export type Action = 'created' | 'updated' | 'deleted'

/** An event about an object of one tenant. */
export interface FeedEvent {
  readonly tenant: string
  readonly message: Buffer
}

export function messageOf(type: MessageType, payload: object): Buffer {
  return Buffer.from(JSON.stringify({ type, payload }))
}

export function memberMessage(
  action: Action | 'snapshot',
  poolId: string,
  member: MemberPart,
  view: EffectiveView,
): Buffer {
  return messageOf('member_update', { action, poolId, member: showMember(poolId, member, view) })
}

export interface HealthFacts extends NodeView {
  /** True: some node probes the member, or an outside monitor watches it. */
  readonly isProbed: boolean
  readonly poolId: string
  readonly member: MemberPart
  /** Unix epoch. */
  readonly atMs: number
  readonly rttMs: number
  /** Unix epoch; 0: unknown, as for other nodes. */
  readonly lastCheckMs: number
}

export function healthMessage(facts: HealthFacts): Buffer {
  const { poolId, member, healthy, isProbed: probed, score, atMs, rttMs, node } = facts
  const { reason, sinceMs: since, lastCheckMs: lastCheck } = facts
  const timestamp = Math.floor(atMs)
  const ipAddress = targetOf(member)
  const verdict = { poolId, ipAddress, healthy, score, timestamp, rttMs, node }
  // Members may share an address and differ in port.
  return messageOf('health_update', {
    ...verdict,
    memberId: member.uid,
    probed,
    reason,
    since,
    lastCheck,
  })
}

/** Confirms everything up to this commit; a client may resume from it. */
export function revisionMessage(revision: string): Buffer {
  return messageOf('revision', { revision })
}
