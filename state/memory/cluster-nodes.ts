// The nodes of one process: for a single node, or for tests.
import { ok } from '#lib/result.ts'
import type { ClusterNode, ClusterNodes, TakeRestart } from '../ports/cluster-nodes.ts'

export function createMemoryClusterNodes(): ClusterNodes {
  const nodes = new Map<string, ClusterNode>()
  const takers = new Map<string, TakeRestart>()
  return {
    announce: async (node) => {
      nodes.set(node.name, node)
      return ok(undefined)
    },
    leave: async (name) => {
      nodes.delete(name)
      return ok(undefined)
    },
    list: async () => ok([...nodes.values()]),
    askRestart: async (name) => ok(takers.get(name)?.()),
    onRestart: (name, take) => {
      takers.set(name, take)
      return () => takers.delete(name)
    },
  }
}
