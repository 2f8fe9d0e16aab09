// The health of one member, and the port to ask for it.
import type { VerdictOwner } from '#state/ports/health-verdicts.ts'
import type { Knowledge } from '#health/verdict/member-track.ts'
import type { MonitoredTarget, VerdictChange } from '#health/thread/messages.ts'
import type { HealthStats } from '#health/thread/stats.ts'

export interface MemberHealth {
  /** False: this node leaves it to others, and the rest is what they say. */
  readonly isProbed: boolean
  readonly healthy: boolean
  /** 0 to 1; 1 while scoring is off. */
  readonly score: number
  /** The mean, by which members are chosen. 0: too few probes. */
  readonly rttMs: number
  readonly isWarming: boolean
  readonly warmupPasses: number
  readonly knowledge: Knowledge
  /** Why it is unhealthy, in the probe's words; empty while it is healthy. */
  readonly reason: string
  /** When it became so, Unix epoch; 0: not known, as before the first probe. */
  readonly sinceMs: number
  /** When the last probe ended, Unix epoch; 0: none has. */
  readonly lastCheckMs: number
  /** From this node's last probe that measured it; `rttMs` is a mean. 0: none has. */
  readonly lastRttMs: number
  /** Interval of its health check. */
  readonly intervalMs: number
}

/** What another node's own probes say of a member. */
export interface PeerView {
  readonly node: string
  readonly healthy: boolean
  readonly score: number
  /** Empty also where the node is of a version that does not say it. */
  readonly reason: string
  /** Unix epoch, of its clock; 0: not known. */
  readonly sinceMs: number
}

/** What other nodes say of a member that this node leaves to them. */
export interface FollowedHealth extends VerdictOwner {
  readonly healthy: boolean
  readonly score: number
  readonly isWarming: boolean
  readonly reason: string
  /** Unix epoch; 0: not known. */
  readonly sinceMs: number
}

export interface TargetOptions {
  /** Keys of members that are new, or enabled again: those with a gate must pass it. */
  readonly arrivals?: ReadonlySet<string>
  /** A mean round trip time that moves by less keeps its old value. */
  readonly rttThresholdMs?: number
}

export interface HealthMonitor {
  /** False: checks of type script are not run here, as if their pools had none. */
  readonly runsScripts: boolean
  /** Loads the stored verdicts, then begins to probe. Returns at once. */
  start(): void
  /**
   * After `start`: resolves when the store has said what it knows, or that it cannot. One that says
   * nothing for long is not waited for; its verdicts then come while queries are answered.
   */
  adopted(): Promise<void>
  /** The full set. A member that stays at its address keeps its verdict, also with a new check. */
  setTargets(targets: readonly MonitoredTarget[], options?: TargetOptions): void
  /** `handler` is called with verdicts of this node that differ from those before. */
  onChange(handler: (changes: readonly VerdictChange[]) => void): void
  /** `handler` is called with the members whose `healthOf` may differ from before. */
  onUpdate(handler: (owners: readonly VerdictOwner[]) => void): void
  /** undefined: not a target. */
  healthOf(memberUid: string, ipAddress: string): MemberHealth | undefined
  /** The `healthy` of `healthOf`: true until a probe (or the store) says otherwise. */
  verdictOf(memberUid: string, ipAddress: string): boolean | undefined
  /** What this node's own probes say, whatever other nodes do. */
  ownHealthOf(memberUid: string, ipAddress: string): MemberHealth | undefined
  /** What other nodes say of a member, where their word counts. null: this node is alone. */
  peersOf(memberUid: string, ipAddress: string): readonly PeerView[] | null
  /** Other nodes that were heard lately, by name. null: this node is alone. */
  peers(): readonly string[] | null
  /** Probe agents that were heard lately, by name. null: this node is alone. */
  agents(): readonly string[] | null
  /** The words of so many agents count, those first by name. Until it is called: of all. */
  permitAgents(count: number): void
  /** `handler` is called with members of whom `signalOf` may say something else than before. */
  onSignal(handler: (memberUids: readonly string[]) => void): void
  /** What outside monitors say of a member, probed or not; undefined: nothing now. */
  signalOf(memberUid: string): boolean | undefined
  /** Every member of whom `signalOf` says something. */
  signalled(): Iterable<string>
  stats(): HealthStats
  /** Ends all probes, stores what is left. */
  stop(): Promise<void>
}

/** The monitor of this node's own probes. */
export interface OwnMonitor extends HealthMonitor {
  /** From now on only those are probed; of the others it says what `follow` was given. */
  probeOnly(isProbed: (key: string) => boolean): void
  /** Members that are probed, or no targets, are passed over. */
  follow(members: readonly FollowedHealth[]): void
}
