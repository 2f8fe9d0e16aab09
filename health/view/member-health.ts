// Defines the health of one member, and the port to ask for it.
import type { VerdictOwner } from '#state/ports/health-verdicts.ts'
import type { Knowledge } from '#health/verdict/member-track.ts'
import type { MonitoredTarget, VerdictChange } from '#health/thread/messages.ts'
import type { HealthStats } from '#health/thread/stats.ts'

export interface MemberHealth {
  /** False: this node leaves it to others, and the other fields are from them. */
  readonly isProbed: boolean
  readonly healthy: boolean
  /** 0 to 1; 1 while scoring is off. */
  readonly score: number
  /** The mean by which members are chosen; 0: there were too few probes. */
  readonly rttMs: number
  readonly isWarming: boolean
  readonly warmupPasses: number
  readonly knowledge: Knowledge
  /** Why it is unhealthy, in the probe's words; empty while it is healthy. */
  readonly reason: string
  /** Time of the last change, Unix epoch; 0: unknown, as before the first probe. */
  readonly sinceMs: number
  /** End of the last probe, Unix epoch; 0: there was none. */
  readonly lastCheckMs: number
  /** The last measurement of this node's probes, while `rttMs` is a mean; 0: there was none. */
  readonly lastRttMs: number
  /** Interval of its health check. */
  readonly intervalMs: number
}

/** Verdict of another node's own probes on a member. */
export interface PeerView {
  readonly node: string
  readonly healthy: boolean
  readonly score: number
  /** Empty also when the node's version does not send it. */
  readonly reason: string
  /** Unix epoch, by the other node's clock; 0: unknown. */
  readonly sinceMs: number
}

/** Verdict of other nodes on a member that this node leaves to them. */
export interface FollowedHealth extends VerdictOwner {
  readonly healthy: boolean
  readonly score: number
  readonly isWarming: boolean
  readonly reason: string
  /** Unix epoch; 0: unknown. */
  readonly sinceMs: number
}

export interface TargetOptions {
  /** Keys of members that are new or enabled again: those with a gate must pass it. */
  readonly arrivals?: ReadonlySet<string>
  /** A mean round-trip time that moves by less keeps its value. */
  readonly rttThresholdMs?: number
}

export interface HealthMonitor {
  /** False: script checks do not run here, as if their pools had none. */
  readonly runsScripts: boolean
  /** Loads the stored verdicts, then begins to probe. Returns at once. */
  start(): void
  /**
   * Resolves when the store has returned its verdicts, or cannot. A slow store is not waited for:
   * its verdicts then come while queries are answered. To be called after `start`.
   */
  adopted(): Promise<void>
  /**
   * Replaces the full set. A member with the same address keeps its verdict, whatever its check.
   */
  setTargets(targets: readonly MonitoredTarget[], options?: TargetOptions): void
  /** Calls `handler` with verdicts of this node that changed. */
  onChange(handler: (changes: readonly VerdictChange[]) => void): void
  /** Calls `handler` with the members whose `healthOf` may have changed. */
  onUpdate(handler: (owners: readonly VerdictOwner[]) => void): void
  /** @returns undefined: it is no target */
  healthOf(memberUid: string, ipAddress: string): MemberHealth | undefined
  /** The `healthy` of `healthOf`: true until a probe, or the store, reports otherwise. */
  verdictOf(memberUid: string, ipAddress: string): boolean | undefined
  /** Verdict of this node's own probes, whatever other nodes report. */
  ownHealthOf(memberUid: string, ipAddress: string): MemberHealth | undefined
  /** Verdicts of other nodes on a member, where they count. null: this node is alone. */
  peersOf(memberUid: string, ipAddress: string): readonly PeerView[] | null
  /** Names of other nodes that were heard lately. null: this node is alone. */
  peers(): readonly string[] | null
  /** Names of probe agents that were heard lately. null: this node is alone. */
  agents(): readonly string[] | null
  /** Limits how many agents count, the first by name. Until it is called, all do. */
  permitAgents(count: number): void
  /** Calls `handler` with members whose `signalOf` may have changed. */
  onSignal(handler: (memberUids: readonly string[]) => void): void
  /** Verdict of outside monitors on a member, probed or not; undefined: there is none now. */
  signalOf(memberUid: string): boolean | undefined
  /** Every member with a signal. */
  signalled(): Iterable<string>
  stats(): HealthStats
  /** Ends all probes, and stores the rest. */
  stop(): Promise<void>
}

/** The monitor of this node's own probes. */
export interface OwnMonitor extends HealthMonitor {
  /** Probes only these members from now on; for others it returns what `follow` was given. */
  probeOnly(isProbed: (key: string) => boolean): void
  /** Ignores members that are probed, or no targets. */
  follow(members: readonly FollowedHealth[]): void
}
