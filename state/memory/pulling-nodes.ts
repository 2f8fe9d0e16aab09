// Keeps the reports of pulling nodes in the memory of one process.
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { pullingNodeLimits } from '../ports/pulling-nodes.ts'
import type { PullingNode, PullingNodes } from '../ports/pulling-nodes.ts'

/** For tests: a single node keeps its own list. */
export function createMemoryPullingNodes(clock: Clock): PullingNodes {
  const nodes = new Map<string, PullingNode>()
  return {
    tell: async (node) => {
      if (nodes.has(node.key) || nodes.size < pullingNodeLimits.nodesMax) nodes.set(node.key, node)
      return ok(undefined)
    },
    list: async () => {
      const oldestMs = clock.nowMs() - pullingNodeLimits.forgottenMs
      for (const { key, atMs } of nodes.values()) if (atMs < oldestMs) nodes.delete(key)
      return ok([...nodes.values()])
    },
  }
}
