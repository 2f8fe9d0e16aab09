// Implements the API's port to member health: this node's probes, those of its peers, and external
// signals.
import { scoreOf, unprobed } from '#ports/member-health.ts'
import type { AskedMember, KnownHealth, MemberHealthView } from '#ports/member-health.ts'
import type { Clock } from '#lib/clock.ts'
import { blend } from '#health/view/blend.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'

/** More than one installation has; beyond it, the times of signals are dropped. */
const signalsMax = 200_000

/** The verdict of outside monitors on a member, and since when. */
interface Signal {
  readonly said: boolean | undefined
  readonly sinceMs: number
}

const noSignal: Signal = { said: undefined, sinceMs: 0 }

/** @param monitor null: health checks are off, and every member counts as healthy */
export function createMemberHealthView(
  monitor: HealthMonitor | null,
  node: string,
  clock: Clock,
): MemberHealthView {
  const handlers = new Set<(memberUids: readonly string[]) => void>()
  const signals = new Map<string, Signal>()
  const tell = (memberUids: readonly string[]): void => {
    for (const handler of handlers) handler(memberUids)
  }
  monitor?.onUpdate((owners) => {
    tell(owners.map(({ memberUid }) => memberUid))
  })
  monitor?.onSignal((memberUids) => {
    const sinceMs = clock.nowMs()
    if (signals.size > signalsMax) signals.clear()
    for (const uid of memberUids) {
      const said = monitor.signalOf(uid)
      if (said !== signals.get(uid)?.said) signals.set(uid, { said, sinceMs })
    }
    tell(memberUids)
  })
  return {
    node,
    of: (member) =>
      monitor === null
        ? unprobed(node)
        : known(monitor, member, node, signals.get(member.uid) ?? noSignal),
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
  { sinceMs: signalledMs }: Signal,
): KnownHealth {
  const signal = monitor.signalOf(uid)
  const blended = (probe: boolean): boolean => blend(externalSignalMode, probe, signal)
  /** Outside monitors are heard by all nodes alike. */
  const judged = (found: Found): Found => {
    const healthy = blended(found.healthy)
    const score = scoreOf(healthy, found.score)
    if (healthy === found.healthy) return { ...found, score }
    // The verdict of the probes does not count, so the time is that of the monitors.
    const reason = healthy ? '' : 'an outside monitor says that it is down'
    return { healthy, score, reason, sinceMs: Math.floor(signalledMs) }
  }
  const own = monitor.ownHealthOf(uid, ipAddress)
  const routed = monitor.healthOf(uid, ipAddress)
  if (own === undefined || routed === undefined) {
    const { healthy, reason, sinceMs } = judged({ healthy: true, ...unknown })
    const isProbed = signal !== undefined
    return { ...unprobed(node, healthy, reason, sinceMs), isProbed }
  }
  const { score, reason, sinceMs } = judged(foundIn(own))
  const peers = monitor.peersOf(uid, ipAddress)
  return {
    isProbed: true,
    healthy: blended(routed.healthy),
    score,
    // The last round trip of a member that is down is old.
    rttMs: own.healthy ? own.lastRttMs : 0,
    // A node that is alone has no global measurement.
    globalRttMs: peers === null ? null : routed.rttMs,
    isWarming: routed.isWarming,
    warmupPasses: own.warmupPasses,
    reason,
    sinceMs,
    lastCheckedMs: Math.floor(own.lastCheckMs),
    // Without a probe of its own, this node has no finding.
    nodes: [...(own.isProbed ? [{ node, ...own }] : []), ...(peers ?? [])].map((one) => {
      return { node: one.node, ...judged(foundIn(one)) }
    }),
  }
}

/** Findings of one node about a member. */
interface Found {
  readonly healthy: boolean
  readonly score: number
  readonly reason: string
  readonly sinceMs: number
}

const unknown = { score: 1, reason: '', sinceMs: 0 }

function foundIn({ healthy, score, reason, sinceMs }: Found): Found {
  return { healthy, score, reason: healthy ? '' : reason, sinceMs: Math.floor(sinceMs) }
}
