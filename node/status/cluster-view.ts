// Implements the API's port to the cluster: announcements of nodes, and restarts by message.
import type { ClusterView, SeenNode } from '#ports/cluster-view.ts'
import type { DriftedNode } from '#fleet/drift.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import { clusterNodeLimits } from '#state/ports/cluster-nodes.ts'
import type { ClusterNode, ClusterNodes, TakeRestart } from '#state/ports/cluster-nodes.ts'

interface ClusterParts {
  /** The announcement of this node now. */
  readonly self: () => ClusterNode
  readonly nodes: ClusterNodes
  /** false: there is no way to reach other nodes. */
  readonly isShared: boolean
  /** Asks this node to restart. */
  readonly takeRestart: TakeRestart
  readonly clock: Clock
  /** Reports of nodes that pull, sent with their requests for bundles. */
  readonly fleet: () => Promise<readonly DriftedNode[]>
}

export function createClusterView(parts: ClusterParts): ClusterView {
  const nodes = async (): Promise<readonly SeenNode[]> => {
    const self = parts.self()
    const listed = await parts.nodes.list()
    const others = (listed.ok ? listed.value : [])
      .filter(({ name }) => name !== self.name)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const oldestMs = parts.clock.nowMs() - clusterNodeLimits.missingMs
    const fleet = await parts.fleet()
    const reported = new Map(fleet.map((one) => [nameAndRole(one.report), one]))
    const announced = [
      { ...self, isSelf: true, isMissing: false },
      ...others.map((one) => ({ ...one, isSelf: false, isMissing: one.atMs < oldestMs })),
    ].map((one) => ({
      ...one,
      ...fleetSide(reported.get(nameAndRole({ ...one, role: 'control' }))),
    }))
    const nowMs = parts.clock.nowMs()
    const pulling = fleet.filter(({ report }) => report.role !== 'control')
    return [...announced, ...pulling.map((one) => seenOf(one, nowMs))]
  }
  return { nodes, restart: (name) => restart(parts, name) }
}

async function restart(
  { self, nodes, isShared, takeRestart, fleet }: ClusterParts,
  name: string,
): ReturnType<ClusterView['restart']> {
  if (name === self().name) return outcomeOf(name, takeRestart())
  if ((await fleet()).some(({ report }) => report.name === name && report.role !== 'control')) {
    return err({ code: 'unsupervised', message: pulls })
  }
  if (!isShared) return err({ code: 'alone', message: alone })
  const listed = await nodes.list()
  if (!listed.ok) return err({ code: 'silent', message: listed.error.message })
  if (!listed.value.some((one) => one.name === name)) {
    return err({ code: 'unknown', message: 'there is no such node' })
  }
  const asked = await nodes.askRestart(name)
  if (!asked.ok) return err({ code: 'silent', message: asked.error.message })
  return outcomeOf(name, asked.value)
}

function outcomeOf(
  name: string,
  fault: string | null | undefined,
): Awaited<ReturnType<ClusterView['restart']>> {
  if (fault === null) return ok(null)
  if (fault !== undefined) return err({ code: 'unsupervised', message: fault })
  return err({ code: 'silent', message: `the node ${name} does not answer; look at its machine` })
}

const nameAndRole = ({ name, role }: { name: string; role: string }): string => `${role} ${name}`

type FleetSide = Pick<
  SeenNode,
  'role' | 'labels' | 'isKnown' | 'clockOffsetMs' | 'refusals' | 'drift'
>

/** Fields that a node reports beside its announcement; an older version reports none. */
function fleetSide(drifted: DriftedNode | undefined): FleetSide {
  if (drifted === undefined) {
    const none = { clockOffsetMs: null, refusals: [], drift: [] }
    return { role: 'control', labels: {}, isKnown: true, ...none }
  }
  const { report, isCounted: isKnown, clockOffsetMs, drift } = drifted
  const { role, labels, refusals } = report
  return { role, labels, isKnown, clockOffsetMs, refusals, drift }
}

/** A node that pulls, in the form of one that announces itself. */
function seenOf(drifted: DriftedNode, nowMs: number): SeenNode {
  const { report, ageMs, isMissing } = drifted
  const { name, version, startedAtMs, digest, seq, issuedAtMs, busyRatio, counters } = report
  const reasons = reasonsOf(report)
  const served = reasons.length === 0 ? 'ok' : 'degraded'
  return {
    ...{ name, version, startedAtMs, digest, seq, issuedAtMs, busyRatio, isMissing },
    ...fleetSide(drifted),
    isSelf: false,
    atMs: nowMs - ageMs,
    commit: null,
    queries: counters.queries,
    status: digest === null && !report.isRefusing ? 'starting' : served,
    reasons,
    members: {
      healthy: counters.membersHealthy,
      unhealthy: counters.membersDown,
      warming: counters.membersWarming,
      unprobed: counters.membersUnprobed ?? 0,
      unresolved: counters.membersUnresolved ?? 0,
    },
    isSupervised: false,
  }
}

/** What it says of itself; one that refuses a source may still have its bundle of another. */
function reasonsOf({ reasons = [], isRefusing }: DriftedNode['report']): readonly string[] {
  const isSaid = !isRefusing || reasons.includes('bundle-refused')
  return isSaid ? reasons : ['bundle-refused', ...reasons]
}

const pulls = 'a node of the role dns takes no orders: restart it on its own machine'
const alone =
  'this node reaches no other one: set redis.url in the settings of all nodes, or ask that node'
