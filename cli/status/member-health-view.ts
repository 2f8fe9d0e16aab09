// The health of members for the API: this node's probes, its peers' and the outside monitors' in
// one word.
import { unprobed } from '#api/ports/member-health.ts'
import type { AskedMember, KnownHealth, MemberHealthView } from '#api/ports/member-health.ts'
import type { Clock } from '#lib/clock.ts'
import { blend } from '#runtime/health/view/blend.ts'
import type { HealthMonitor } from '#runtime/health/view/monitor.ts'

/** More than one installation has; beyond it the times of the last news are forgotten. */
const newsMax = 200_000

/** @param monitor null: health checks are off, every member counts as healthy (document A) */
export function createMemberHealthView(
  monitor: HealthMonitor | null,
  node: string,
  clock: Clock,
): MemberHealthView {
  const handlers = new Set<(memberUids: readonly string[]) => void>()
  const newsAtMs = new Map<string, number>()
  const tell = (memberUids: readonly string[]): void => {
    for (const handler of handlers) handler(memberUids)
  }
  monitor?.onUpdate((owners) => {
    const nowMs = Math.floor(clock.nowMs())
    if (newsAtMs.size > newsMax) newsAtMs.clear()
    for (const { memberUid } of owners) newsAtMs.set(memberUid, nowMs)
    tell(owners.map(({ memberUid }) => memberUid))
  })
  monitor?.onSignal(tell)
  return {
    node,
    of: (member) =>
      monitor === null
        ? unprobed(node)
        : known(monitor, member, node, newsAtMs.get(member.uid) ?? 0),
    onChange: (handler) => {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
  }
}

function known(
  monitor: HealthMonitor,
  { uid, ipAddress, externalSignalMode }: AskedMember,
  node: string,
  lastCheckedMs: number,
): KnownHealth {
  const signal = monitor.signalOf(uid)
  const blended = (probe: boolean): boolean => blend(externalSignalMode, probe, signal)
  const own = monitor.ownHealthOf(uid, ipAddress)
  const routed = monitor.healthOf(uid, ipAddress)
  if (own === undefined || routed === undefined) return unprobed(node, blended(true))
  const { score, rttMs, isWarming, warmupPasses } = own
  const peers = monitor.peersOf(uid, ipAddress)
  return {
    healthy: blended(routed.healthy),
    score,
    rttMs,
    // A node that is alone measures nothing global.
    globalRttMs: peers === null ? null : routed.rttMs,
    isWarming,
    warmupPasses,
    lastCheckedMs,
    // The outside monitors' words are the same everywhere.
    nodes: [{ node, healthy: own.healthy, score }, ...(peers ?? [])].map((one) => ({
      node: one.node,
      healthy: blended(one.healthy),
      score: one.score,
    })),
  }
}
