// Makes the first messages of a feed: every member that the client may see, with its health.
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { effectiveIn } from '#api/config/effective.ts'
import type { OverlayView } from '#ports/overlay-view.ts'
import { OverlayIndex } from '#config/overlays/effective.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { healthOf } from '#api/resources/health-status.ts'
import type { MemberHealthView } from '#ports/member-health.ts'
import type { MemberPart } from '#api/resources/member.ts'
import { healthFacts } from './health-news.ts'
import { healthMessage, memberMessage, messageOf, revisionMessage } from './messages.ts'

interface FeedMessageParts {
  readonly config: ConfigSnapshot
  readonly health: MemberHealthView
  readonly overlays: OverlayView
  /** null: all tenants. */
  readonly tenant: string | null
  /** Time for the health of members that were never probed. */
  readonly nowMs: number
}

export function* snapshotMessages(parts: FeedMessageParts): Generator<Buffer, void> {
  const { config, overlays, tenant, nowMs } = parts
  const view = effectiveIn(config, overlays, nowMs)
  yield messageOf('snapshot', { revision: config.revision })
  for (const [pool, member] of membersOf(config, tenant)) {
    yield memberMessage('snapshot', pool.uid, member, view)
    yield* healthOfMember(parts, pool, member)
  }
  yield revisionMessage(config.revision)
}

/** The present overlays and health, for a client that has the members. */
export function* liveMessages(parts: FeedMessageParts): Generator<Buffer, void> {
  const { config, overlays, tenant, nowMs } = parts
  const view = effectiveIn(config, overlays, nowMs)
  for (const { pool, member } of OverlayIndex.of(config).allMembers()) {
    if (tenant !== null && pool.tenant !== tenant) continue
    yield memberMessage('updated', pool.uid, member, view)
  }
  for (const [pool, member] of membersOf(config, tenant)) {
    yield* healthOfMember(parts, pool, member)
  }
}

function* membersOf(
  config: ConfigSnapshot,
  tenant: string | null,
): Generator<readonly [pool: ConfigEntry<'Pool'>, member: MemberPart], void> {
  for (const pool of config.list('Pool')) {
    if (tenant !== null && pool.tenant !== tenant) continue
    for (const member of partsIn('Member', pool)) yield [pool, member]
  }
}

function healthOfMember(
  { health, nowMs }: FeedMessageParts,
  { uid, tenant }: ConfigEntry<'Pool'>,
  member: MemberPart,
) {
  const known = healthOf(health, member, tenant)
  const atMs = known.lastCheckedMs || nowMs
  return healthFacts(health.node, uid, member, known, atMs).map(healthMessage)
}
