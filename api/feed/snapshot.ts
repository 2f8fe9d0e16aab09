// What a client begins with: every member that it may see, and how each of them is.
import { partsIn } from '#gitops/config-entry.ts'
import type { ConfigSnapshot } from '#gitops/config-index.ts'
import { healthOf } from '../resources/health-status.ts'
import type { MemberHealthView } from '../member-health.ts'
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
  for (const pool of config.list('Pool')) {
    if (tenant !== null && pool.tenant !== tenant) continue
    for (const member of partsIn('Member', pool)) {
      yield memberMessage('snapshot', pool.uid, member)
      const known = healthOf(health, member)
      const atMs = known.lastCheckedMs || nowMs
      for (const facts of healthFacts(health.node, pool.uid, member, known, atMs)) {
        yield healthMessage(facts)
      }
    }
  }
  yield revisionMessage(config.revision)
}
