// Keeps the last report of each pulling node in a Redis hash.
import type { Clock } from '#lib/clock.ts'
import { pullingNodeLimits } from '../ports/pulling-nodes.ts'
import type { PullingNodes } from '../ports/pulling-nodes.ts'
import { listHash } from './read-hash.ts'
import type { Redis } from './redis.ts'

export function createRedisPullingNodes(redis: Redis, clock: Clock): PullingNodes {
  const key = redis.key('fleet', 'nodes')
  const { forgottenMs, nodesMax, textBytesMax } = pullingNodeLimits
  return {
    tell: (node) => redis.tell('HSET', key, node.key, `${node.atMs} ${node.text}`),
    list: () => {
      const oldestMs = clock.nowMs() - forgottenMs
      return listHash(redis, key, nodesMax, (field, value) => {
        const end = value.indexOf(' ')
        const atMs = end > 0 ? Number(value.slice(0, end)) : NaN
        const isGood = atMs >= oldestMs && value.length <= textBytesMax
        return isGood ? { key: field, text: value.slice(end + 1), atMs } : undefined
      })
    },
  }
}
