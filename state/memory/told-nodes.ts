// Keeps in memory what nodes that pull have told, within one process.
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { toldNodeLimits } from '../ports/told-nodes.ts'
import type { ToldNode, ToldNodes } from '../ports/told-nodes.ts'

/** A node that is alone keeps its own list: this one is for tests of what is kept for others. */
export function createMemoryToldNodes(clock: Clock): ToldNodes {
  const nodes = new Map<string, ToldNode>()
  return {
    tell: async (node) => {
      if (nodes.has(node.key) || nodes.size < toldNodeLimits.nodesMax) nodes.set(node.key, node)
      return ok(undefined)
    },
    list: async () => {
      const oldestMs = clock.nowMs() - toldNodeLimits.forgottenMs
      for (const { key, atMs } of nodes.values()) if (atMs < oldestMs) nodes.delete(key)
      return ok([...nodes.values()])
    },
  }
}
