// The health bus within one process: for tests, or for a single node.
import type { PeerHealth, PeerUpdate, PeerVerdict } from '../ports/peer-health.ts'

export function createMemoryPeerHealth(): PeerHealth {
  const nodes = new Map<string, { atMs: number; verdicts: Map<string, PeerVerdict> }>()
  const handlers = new Set<(update: PeerUpdate) => void>()
  return {
    publish: async (update) => {
      const node = nodes.get(update.node) ?? { atMs: 0, verdicts: new Map<string, PeerVerdict>() }
      node.atMs = Math.max(node.atMs, update.atMs)
      for (const owner of update.withdrawn) node.verdicts.delete(keyOf(owner))
      for (const verdict of update.changed) {
        node.verdicts.set(keyOf(verdict), { ...verdict, node: update.node })
      }
      nodes.set(update.node, node)
      for (const handler of handlers) handler(update)
    },
    load: async () =>
      [...nodes.values()].flatMap(({ atMs, verdicts }) =>
        [...verdicts.values()].map((verdict) => ({ ...verdict, atMs })),
      ),
    subscribe: (handler) => {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
  }
}

function keyOf({ memberUid, ipAddress }: { memberUid: string; ipAddress: string }): string {
  return `${memberUid} ${ipAddress}`
}
