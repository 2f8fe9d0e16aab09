// The first messages of a feed: every member that the client may see, with its health.
import { partsIn } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { healthOf } from '../resources/health-status.ts'
import type { MemberHealthView } from '#api/ports/member-health.ts'
import type { MemberPart } from '../resources/member.ts'
import { healthFacts } from './health-news.ts'
import { healthMessage, memberMessage, messageOf, revisionMessage } from './messages.ts'

/** @param tenant null: all tenants @param nowMs of members that no probe has looked at */
export function* snapshotMessages(
  config: ConfigSnapshot,
  health: MemberHealthView,
  tenant: string | null,
  nowMs: number,
): Generator<Buffer, void> {
  yield messageOf('snapshot', { revision: config.revision })
  for (const [poolId, member] of membersOf(config, tenant)) {
    yield memberMessage('snapshot', poolId, member)
    yield* healthOfMember(health, poolId, member, nowMs)
  }
  yield revisionMessage(config.revision)
}

/** The health alone, for who has the members; parameters as above. */
export function* healthMessages(
  config: ConfigSnapshot,
  health: MemberHealthView,
  tenant: string | null,
  nowMs: number,
): Generator<Buffer, void> {
  for (const [poolId, member] of membersOf(config, tenant)) {
    yield* healthOfMember(health, poolId, member, nowMs)
  }
}

function* membersOf(
  config: ConfigSnapshot,
  tenant: string | null,
): Generator<readonly [poolId: string, member: MemberPart], void> {
  for (const pool of config.list('Pool')) {
    if (tenant !== null && pool.tenant !== tenant) continue
    for (const member of partsIn('Member', pool)) yield [pool.uid, member]
  }
}

function healthOfMember(
  health: MemberHealthView,
  poolId: string,
  member: MemberPart,
  nowMs: number,
): Buffer[] {
  const known = healthOf(health, member)
  const atMs = known.lastCheckedMs || nowMs
  return healthFacts(health.node, poolId, member, known, atMs).map(healthMessage)
}
