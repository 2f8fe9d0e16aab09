// Keeps the last report of each pulling node in a Redis hash.
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import { pullingNodeLimits } from '../ports/pulling-nodes.ts'
import type { PullingNode, PullingNodes } from '../ports/pulling-nodes.ts'
import { readHash } from './read-hash.ts'
import type { Redis } from './redis.ts'

export function createRedisPullingNodes(redis: Redis, clock: Clock): PullingNodes {
  const key = redis.key('fleet', 'nodes')
  const { forgottenMs, nodesMax, textBytesMax } = pullingNodeLimits
  return {
    tell: async (node) => {
      const said = await redis.command('HSET', key, node.key, `${node.atMs} ${node.text}`)
      return said.ok ? ok(undefined) : said
    },
    list: async () => {
      let texts: Map<string, string>
      try {
        texts = await readHash(redis, key)
      } catch (error) {
        return err({ code: 'store-away', message: (error as Error).message })
      }
      const oldestMs = clock.nowMs() - forgottenMs
      const nodes: PullingNode[] = []
      for (const [field, value] of texts) {
        const end = value.indexOf(' ')
        const atMs = end > 0 ? Number(value.slice(0, end)) : NaN
        const isGood = atMs >= oldestMs && value.length <= textBytesMax
        if (!isGood) await redis.command('HDEL', key, field)
        else if (nodes.length < nodesMax)
          nodes.push({ key: field, text: value.slice(end + 1), atMs })
      }
      return ok(nodes)
    },
  }
}
