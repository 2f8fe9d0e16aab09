// Keeps the reports of nodes that pull in the memory of one process.
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { pullingNodeLimits } from '../ports/pulling-nodes.ts'
import type { PullingNode, PullingNodes } from '../ports/pulling-nodes.ts'

/** A node that is alone keeps its own list: this one is for tests of what is kept for others. */
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
