// Holds the verdicts of the other nodes, with their age.
import { assert } from '#lib/assert.ts'
import type { VerdictOwner } from '#state/ports/health-verdicts.ts'
import type { PeerUpdate, PeerVerdict } from '#state/ports/peer-health.ts'
import { healthLimits } from '#health/limits.ts'
import type { Vote } from './policy.ts'
import { targetKey } from '#health/probes/probe.ts'

interface PeerNode {
  /** When the node was last heard, by this node's monotonic clock, since clocks of nodes differ. */
  heardMs: number
  /** undefined: it was only read from the store, or its version does not send it. */
  site: string | undefined
  isAgent: boolean
}

export interface PeerVote extends Vote {
  readonly node: string
  readonly rttMs: number
  readonly reason: string
  readonly sinceMs: number
  readonly isWarming: boolean
}

/** Counts ages from the arrival of a verdict. */
export class PeerTable {
  readonly #own: string
  readonly #ownAgent: readonly string[]
  readonly #nodes = new Map<string, PeerNode>()
  /** By `targetKey`, then by node. */
  readonly #members = new Map<string, Map<string, PeerVote>>()
  #votes = 0
  /** Agents beyond the permitted number: their verdicts do not count. */
  #muted: ReadonlySet<string> = new Set()
  #agentsMax = Infinity

  /**
   * @param own name of this node, whose own updates on the bus are ignored
   *
   * @param isAgent true: this node is one of the counted agents
   */
  constructor(own: string, isAgent = false) {
    this.#own = own
    this.#ownAgent = isAgent ? [own] : []
  }

  /** @returns the members whose votes may have changed */
  take(update: PeerUpdate, nowMs: number): readonly VerdictOwner[] {
    const { node, site, isAgent = false, changed, withdrawn } = update
    if (node === this.#own || !this.#hear(node, nowMs)) return []
    const known = this.#nodes.get(node)!
    if (typeof site === 'string') known.site = site
    if (known.isAgent !== isAgent) {
      known.isAgent = isAgent
      this.#mute()
    }
    for (const { memberUid, ipAddress } of withdrawn) {
      this.#delete(targetKey(memberUid, ipAddress), node)
    }
    for (const verdict of changed) this.#put(node, verdict)
    return [...withdrawn, ...changed]
  }

  /**
   * Replaces all votes by these, which were sent before this node listened. Their age is that of
   * the wall clocks, unless their node has been heard since.
   */
  replace(verdicts: readonly PeerVerdict[], wallMs: number, nowMs: number): void {
    this.#members.clear()
    this.#votes = 0
    for (const verdict of verdicts) {
      const { node, atMs } = verdict
      const heardMs = nowMs - Math.max(0, wallMs - atMs)
      if (node !== this.#own && this.#hear(node, heardMs)) this.#put(node, verdict)
    }
  }

  /** Nodes and agents that were heard less than `maxAgeMs` ago, unordered. */
  heard(
    maxAgeMs: number,
    nowMs: number,
  ): {
    readonly nodes: readonly string[]
    readonly agents: readonly string[]
  } {
    const heard = [...this.#nodes].filter(([, { heardMs }]) => nowMs - heardMs < maxAgeMs)
    const named = (isAgent: boolean): readonly string[] =>
      heard.filter(([, node]) => node.isAgent === isAgent).map(([name]) => name)
    return { nodes: named(false), agents: named(true) }
  }

  /** Limits how many agents count, the first by name. */
  permitAgents(count: number): void {
    this.#agentsMax = count
    this.#mute()
  }

  #mute(): void {
    const heard = [...this.#nodes].flatMap(([name, { isAgent }]) => (isAgent ? [name] : []))
    const agents = [...heard, ...this.#ownAgent]
    this.#muted = new Set(agents.toSorted().slice(Math.min(this.#agentsMax, agents.length)))
  }

  /** Nodes of a site, as they report it themselves, heard less than `maxAgeMs` ago; unordered. */
  nodesOfSite(site: string, maxAgeMs: number, nowMs: number): readonly string[] {
    const { nodes, agents } = this.heard(maxAgeMs, nowMs)
    return [...nodes, ...agents].filter(
      (node) => this.isOfSite(node, site) && !this.#muted.has(node),
    )
  }

  isOfSite(node: string, site: string): boolean {
    return this.#nodes.get(node)?.site === site
  }

  /** Votes younger than `maxAgeMs`, unordered. */
  votesOf(key: string, maxAgeMs: number, nowMs: number): readonly PeerVote[] {
    const votes: PeerVote[] = []
    for (const [node, vote] of this.#members.get(key) ?? []) {
      const known = this.#nodes.get(node)
      assert(known !== undefined, 'a vote is that of a node that is known')
      const isFresh = nowMs - known.heardMs < maxAgeMs
      if (isFresh && !this.#muted.has(node)) votes.push(vote)
    }
    return votes
  }

  /** True when no node was heard, or all were forgotten. */
  get isEmpty(): boolean {
    return this.#nodes.size === 0
  }

  has(key: string): boolean {
    return this.#members.has(key)
  }

  /** Forgets nodes that have been silent for long. */
  sweep(nowMs: number): void {
    for (const [node, { heardMs }] of this.#nodes) {
      if (nowMs - heardMs < healthLimits.peerForgottenMs) continue
      for (const key of [...this.#members.keys()]) this.#delete(key, node)
      const { isAgent } = this.#nodes.get(node)!
      this.#nodes.delete(node)
      if (isAgent) this.#mute()
    }
  }

  /** @returns false when there are too many nodes for one more */
  #hear(node: string, heardMs: number): boolean {
    const known = this.#nodes.get(node)
    if (known !== undefined) known.heardMs = Math.max(known.heardMs, heardMs)
    else if (this.#nodes.size >= healthLimits.peerNodesMax) return false
    else this.#nodes.set(node, { heardMs, site: undefined, isAgent: false })
    return true
  }

  #put(node: string, verdict: PeerVerdict): void {
    const { memberUid, ipAddress, healthy, score, rttMs } = verdict
    const { reason = '', sinceMs = 0, isWarming = false } = verdict
    const key = targetKey(memberUid, ipAddress)
    const votes = this.#members.get(key) ?? new Map<string, PeerVote>()
    if (!votes.has(node)) {
      if (this.#votes >= healthLimits.peerVotesMax) return
      this.#votes++
    }
    const shortReason = reason.slice(0, healthLimits.reasonLengthMax)
    votes.set(node, { node, healthy, score, rttMs, reason: shortReason, sinceMs, isWarming })
    this.#members.set(key, votes)
  }

  #delete(key: string, node: string): void {
    const votes = this.#members.get(key)
    if (votes?.delete(node) !== true) return
    this.#votes--
    assert(this.#votes >= 0, 'votes are counted when they are kept')
    if (votes.size === 0) this.#members.delete(key)
  }
}

/** Age at which a peer's verdict on a member no longer counts. */
export function peerStaleAfterMs(intervalMs: number): number {
  const { staleMsMin, staleMsMax } = healthLimits
  return Math.min(Math.max(3 * intervalMs, staleMsMin), staleMsMax)
}
