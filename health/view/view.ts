// Combines own probes, peers and external signals into the health that routing uses.
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { HealthSignals } from '#state/ports/health-signals.ts'
import type { VerdictOwner } from '#state/ports/health-verdicts.ts'
import type { PeerHealth, PeerUpdate } from '#state/ports/peer-health.ts'
import { healthLimits } from '#health/limits.ts'
import { LiveSignals } from './live-signals.ts'
import type {
  FollowedHealth,
  HealthMonitor,
  MemberHealth,
  OwnMonitor,
  PeerView,
  TargetOptions,
} from './member-health.ts'
import type { MonitoredTarget, VerdictChange } from '#health/thread/messages.ts'
import { PeerPublisher } from './peer-publisher.ts'
import { PeerTable, peerStaleAfterMs } from './peer-table.ts'
import type { PeerVote } from './peer-table.ts'
import { decide, decideUnprobed, goesBySite } from './policy.ts'
import type { HealthPolicy } from './policy.ts'
import { SiteShare } from './site-share.ts'
import { targetKey } from '#health/probes/probe.ts'
import type { HealthStats } from '#health/thread/stats.ts'

export interface HealthPeers {
  /** Name of this node. */
  readonly node: string
  /** Site of this node. */
  readonly site: string
  /** How many nodes of a site probe a member; 0: all. Under `local-only` all do. */
  readonly probers: number
  readonly bus: PeerHealth
  /** True: this node is a probe agent. */
  readonly isAgent?: boolean
  /** True: this node receives reports of agents, and no other node receives its own. */
  readonly isLone?: boolean
}

interface HealthViewParts {
  /** The monitor of this node's own probes. */
  readonly local: OwnMonitor
  /** null: there are no external signals. */
  readonly signals: HealthSignals | null
  /** null: the node is alone. */
  readonly peers: HealthPeers | null
  readonly policy: HealthPolicy
  /** 1 to 100. */
  readonly quorumMinPercent: number
  readonly clock: Clock
  /** Calls `fn` once after `delayMs`; returns the function that cancels it. */
  readonly after: (delayMs: number, fn: () => void) => () => void
  /** Resolves when this process speaks for the node, and none before it; left out: it does. */
  readonly mayTell?: Promise<unknown>
  readonly log: Log
}

/**
 * Makes a monitor whose gates, statistics and changes of verdicts are those of the local monitor.
 */
export function createHealthView(parts: HealthViewParts): HealthMonitor {
  return new HealthView(parts)
}

class HealthView implements HealthMonitor {
  readonly runsScripts: boolean
  readonly #parts: HealthViewParts
  readonly #signals: LiveSignals | undefined
  readonly #table: PeerTable | undefined
  readonly #publisher: PeerPublisher | undefined
  readonly #share: SiteShare | undefined
  readonly #updateHandlers: ((owners: readonly VerdictOwner[]) => void)[] = []
  readonly #signalHandlers: ((memberUids: readonly string[]) => void)[] = []
  #targets: readonly MonitoredTarget[] = []
  /** The last results of `healthOf` that time alone can change: while there are peers. */
  readonly #said = new Map<string, MemberHealth>()
  /** Index of the next target to check for changes by time. */
  #sweepAt = 0
  /** Updates that arrive while all verdicts are loaded. */
  #backlog: PeerUpdate[] | undefined
  /** How many loads have begun. */
  #loads = 0
  /** Loads that failed in a row. */
  #failedLoads = 0
  /** Ticks until the next load after a failed one; 0: the last one succeeded. */
  #ticksToLoad = 0
  #isNamesakeLogged = false
  /** Since when this process speaks for the node; Infinity: one that it replaces does. */
  #tellsFromMs: number
  #unsubscribe: (() => void) | undefined
  #callOffTick: (() => void) | undefined

  constructor(parts: HealthViewParts) {
    this.#parts = parts
    this.runsScripts = parts.local.runsScripts
    const { local, signals, peers, clock, after, mayTell, log } = parts
    this.#tellsFromMs = mayTell === undefined ? -Infinity : Infinity
    mayTell?.then(
      () => (this.#tellsFromMs = clock.nowMs()),
      () => undefined,
    )
    if (signals !== null) {
      const onChange = (memberUids: readonly string[]): void => {
        for (const handler of this.#signalHandlers) handler(memberUids)
      }
      this.#signals = new LiveSignals({ signals, clock, after, log, onChange })
    }
    if (peers !== null) {
      const { node, site, bus, isAgent = false, isLone = false } = peers
      const table = new PeerTable(node, isAgent)
      this.#table = table
      const publishing = { node, site, isAgent, peers: bus, local, clock, log }
      if (!isLone) this.#publisher = new PeerPublisher(publishing)
      const probers = parts.policy === 'local-only' ? 0 : peers.probers
      this.#share = new SiteShare({ node, site, probers, table, local, clock })
    }
    local.onUpdate((owners) => {
      this.#publisher?.note(owners)
      this.#update(owners)
    })
  }

  start(): void {
    this.#signals?.start()
    this.#listen()
    this.#parts.local.start()
  }

  adopted(): Promise<void> {
    return this.#parts.local.adopted()
  }

  setTargets(targets: readonly MonitoredTarget[], options: TargetOptions = {}): void {
    this.#targets = targets
    this.#sweepAt = 0
    this.#said.clear()
    this.#share?.setTargets(targets)
    this.#parts.local.setTargets(targets, options)
    // A node that has just started adopts verdicts of others before its first probe.
    const known = targets.filter((one) => this.#table?.has(targetKey(one.memberUid, one.ipAddress)))
    if (known.length > 0) this.#update(known)
  }

  onChange(handler: (changes: readonly VerdictChange[]) => void): void {
    this.#parts.local.onChange(handler)
  }

  onUpdate(handler: (owners: readonly VerdictOwner[]) => void): void {
    this.#updateHandlers.push(handler)
  }

  healthOf(memberUid: string, ipAddress: string): MemberHealth | undefined {
    const local = this.#parts.local.healthOf(memberUid, ipAddress)
    if (local === undefined || this.#table === undefined || this.#isAlone) return local
    const key = targetKey(memberUid, ipAddress)
    const health = this.#judge(this.#table, key, local)
    this.#said.set(key, health)
    return health
  }

  ownHealthOf(memberUid: string, ipAddress: string): MemberHealth | undefined {
    return this.#parts.local.healthOf(memberUid, ipAddress)
  }

  peersOf(memberUid: string, ipAddress: string): readonly PeerView[] | null {
    if (this.#table === undefined || this.#isAlone) return null
    const { intervalMs } = this.ownHealthOf(memberUid, ipAddress) ?? { intervalMs: 0 }
    const nowMs = this.#parts.clock.monotonicMs()
    const key = targetKey(memberUid, ipAddress)
    return this.#table.votesOf(key, peerStaleAfterMs(intervalMs), nowMs)
  }

  peers(): readonly string[] | null {
    return this.#heard()?.nodes ?? null
  }

  agents(): readonly string[] | null {
    return this.#heard()?.agents ?? null
  }

  permitAgents(count: number): void {
    this.#table?.permitAgents(count)
  }

  /** True: this node has heard no other, and none hears it. */
  get #isAlone(): boolean {
    return this.#parts.peers?.isLone === true && (this.#table?.isEmpty ?? true)
  }

  #heard(): ReturnType<PeerTable['heard']> | undefined {
    if (this.#isAlone) return undefined
    return this.#table?.heard(healthLimits.staleMsMin, this.#parts.clock.monotonicMs())
  }

  verdictOf(memberUid: string, ipAddress: string): boolean | undefined {
    return this.healthOf(memberUid, ipAddress)?.healthy
  }

  onSignal(handler: (memberUids: readonly string[]) => void): void {
    this.#signalHandlers.push(handler)
  }

  signalOf(memberUid: string): boolean | undefined {
    return this.#signals?.verdictOf(memberUid)
  }

  signalled(): Iterable<string> {
    return this.#signals?.members() ?? []
  }

  stats(): HealthStats {
    return this.#parts.local.stats()
  }

  async stop(): Promise<void> {
    this.#signals?.stop()
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#callOffTick?.()
    await this.#parts.local.stop()
  }

  #judge(table: PeerTable, key: string, local: MemberHealth): MemberHealth {
    const { policy, quorumMinPercent, clock } = this.#parts
    const nowMs = clock.monotonicMs()
    const votes = table.votesOf(key, peerStaleAfterMs(local.intervalMs), nowMs)
    const judged = local.isProbed
      ? decide(policy, local, votes, quorumMinPercent)
      : believe(this.#parts, local, this.#ofSite(table, votes), votes)
    // The minimum of the cluster, over measurements of the last three minutes.
    let { rttMs } = local
    for (const vote of table.votesOf(key, healthLimits.staleMsMax, nowMs)) {
      if (vote.rttMs > 0 && (rttMs === 0 || vote.rttMs < rttMs)) rttMs = vote.rttMs
    }
    return { ...local, ...judged, rttMs }
  }

  #ofSite(table: PeerTable, votes: readonly PeerVote[]): readonly PeerVote[] {
    const { site = '' } = this.#parts.peers ?? {}
    return votes.filter(({ node }) => table.isOfSite(node, site))
  }

  #listen(): void {
    const { peers } = this.#parts
    const table = this.#table
    if (peers === null || table === undefined) return
    this.#unsubscribe = peers.bus.subscribe(
      (update) => {
        this.#hear(table, update)
      },
      () => void this.#load(table, peers.bus),
    )
    void this.#load(table, peers.bus)
    this.#tickLater(table, peers.bus)
  }

  #hear(table: PeerTable, update: PeerUpdate): void {
    this.#warnOfNamesake(update)
    this.#backlog?.push(update)
    if ((this.#backlog?.length ?? 0) > healthLimits.peerBacklogMax) this.#backlog = undefined
    this.#update(table.take(update, this.#parts.clock.monotonicMs()))
  }

  /** Warns of a node with the same name: each would ignore the updates of the other. */
  #warnOfNamesake(update: PeerUpdate): void {
    const { peers, log } = this.#parts
    const isOwn = update.node === peers?.node && update.atMs >= this.#tellsFromMs
    if (!isOwn || this.#isNamesakeLogged || this.#publisher?.hasSent(update) !== false) return
    this.#isNamesakeLogged = true
    log.error(
      { node: update.node },
      'another node has the name of this one, and neither hears the other; give each a state.nodeName',
    )
  }

  /**
   * Replaces the table by what the bus stores. A bus that was away announces its return; but a load
   * can fail by itself, and then only another try helps.
   */
  async #load(table: PeerTable, bus: PeerHealth): Promise<void> {
    const load = ++this.#loads
    this.#backlog = []
    this.#ticksToLoad = 0
    const verdicts = await bus.load().catch(() => undefined)
    // Another load has begun since, or nobody listens any more.
    if (load !== this.#loads || this.#unsubscribe === undefined) return
    const backlog = this.#backlog
    this.#backlog = undefined
    if (verdicts === undefined || backlog === undefined) {
      this.#ticksToLoad = Math.min(2 ** this.#failedLoads++, healthLimits.peerLoadTicksMax)
      return
    }
    this.#failedLoads = 0
    const { clock } = this.#parts
    const nowMs = clock.monotonicMs()
    table.replace(verdicts, clock.nowMs(), nowMs)
    for (const update of backlog) table.take(update, nowMs)
    this.#update(this.#outdatedOf(this.#targets))
  }

  #tickLater(table: PeerTable, bus: PeerHealth): void {
    this.#callOffTick = this.#parts.after(healthLimits.peerTickMs, () => {
      if (this.#tellsFromMs < Infinity) void this.#publisher?.tick()
      table.sweep(this.#parts.clock.monotonicMs())
      this.#share?.tick()
      if (!this.#isAlone) this.#sweep()
      if (this.#ticksToLoad > 0 && --this.#ticksToLoad === 0) void this.#load(table, bus)
      this.#tickLater(table, bus)
    })
  }

  /** Checks a part of the targets for verdicts that became stale. */
  #sweep(): void {
    const count = Math.ceil(this.#targets.length / healthLimits.peerSweepTicks)
    const share = this.#targets.slice(this.#sweepAt, this.#sweepAt + count)
    const end = this.#sweepAt + share.length
    this.#sweepAt = end >= this.#targets.length ? 0 : end
    this.#update(this.#outdatedOf(share))
  }

  /** Targets whose health differs from what routing was last told. */
  #outdatedOf(targets: readonly MonitoredTarget[]): readonly VerdictOwner[] {
    return targets.filter(({ memberUid, ipAddress }) => {
      const before = this.#said.get(targetKey(memberUid, ipAddress))
      const now = this.healthOf(memberUid, ipAddress)
      return now !== undefined && !isSame(now, before)
    })
  }

  #update(owners: readonly VerdictOwner[]): void {
    if (owners.length === 0) return
    this.#follow(owners)
    for (const handler of this.#updateHandlers) handler(owners)
  }

  /** The verdicts of others become this node's last verdict on members that it leaves to them. */
  #follow(owners: readonly VerdictOwner[]): void {
    const followed: FollowedHealth[] = []
    for (const { memberUid, ipAddress } of owners) {
      const health = this.healthOf(memberUid, ipAddress)
      if (health?.isProbed === false) followed.push({ memberUid, ipAddress, ...health })
    }
    if (followed.length > 0) this.#parts.local.follow(followed)
  }
}

function isSame(a: MemberHealth, b: MemberHealth | undefined): boolean {
  const isSameGate = a.isWarming === b?.isWarming
  return isSameGate && a.healthy === b.healthy && a.score === b.score && a.rttMs === b.rttMs
}

interface UnprobedRule {
  readonly policy: HealthPolicy
  /** 1 to 100. */
  readonly quorumMinPercent: number
}

type Believed = Omit<FollowedHealth, 'memberUid' | 'ipAddress'>

/**
 * Decides about a member that this node leaves to others: by their verdicts and the policy.
 *
 * @param last the verdict until now: it stays while nobody has one
 * @param site verdicts from nodes of this node's site
 */
function believe(
  { policy, quorumMinPercent }: UnprobedRule,
  last: MemberHealth,
  site: readonly PeerVote[],
  peers: readonly PeerVote[],
): Believed {
  const counted = goesBySite(policy) && site.length > 0 ? site : peers
  if (counted.length === 0) return last
  const { healthy, score } = decideUnprobed(policy, last, { site, peers }, quorumMinPercent)
  const agreeing = counted.filter((vote) => vote.healthy === healthy)
  const times = agreeing.map(({ sinceMs }) => sinceMs).filter((sinceMs) => sinceMs > 0)
  return {
    healthy,
    score,
    // A gate is open here when it is open at a node that counts.
    isWarming: agreeing.length > 0 && agreeing.every(({ isWarming }) => isWarming),
    reason: healthy ? '' : (agreeing.find(({ reason }) => reason !== '')?.reason ?? ''),
    sinceMs: times.length === 0 ? 0 : Math.min(...times),
  }
}
