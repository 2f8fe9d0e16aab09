// Implements the API's port to the cluster: what nodes announce, and restarts by message.
import type { ClusterView, SeenNode } from '#api/ports/cluster-view.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import { clusterNodeLimits } from '#state/ports/cluster-nodes.ts'
import type { ClusterNode, ClusterNodes, TakeRestart } from '#state/ports/cluster-nodes.ts'

export interface ClusterParts {
  /** What this node says of itself now. */
  readonly self: () => ClusterNode
  readonly nodes: ClusterNodes
  /** false: there is nothing through which other nodes are reached. */
  readonly isShared: boolean
  /** Of this node. */
  readonly takeRestart: TakeRestart
  readonly clock: Clock
}

export function createClusterView(parts: ClusterParts): ClusterView {
  const nodes = async (): Promise<readonly SeenNode[]> => {
    const self = parts.self()
    const listed = await parts.nodes.list()
    const others = (listed.ok ? listed.value : [])
      .filter(({ name }) => name !== self.name)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const oldestMs = parts.clock.nowMs() - clusterNodeLimits.missingMs
    return [
      { ...self, isSelf: true, isMissing: false },
      ...others.map((one) => ({ ...one, isSelf: false, isMissing: one.atMs < oldestMs })),
    ]
  }
  return { nodes, restart: (name) => restart(parts, name) }
}

async function restart(
  { self, nodes, isShared, takeRestart }: ClusterParts,
  name: string,
): ReturnType<ClusterView['restart']> {
  if (name === self().name) return outcomeOf(name, takeRestart())
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

const alone =
  'this node reaches no other one: set redis.url in the settings of all nodes, or ask that node'
