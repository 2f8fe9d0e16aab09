// What sources of discovery gave, in Redis: a text for each question.
import { createHash } from 'node:crypto'
import { assert } from '#lib/assert.ts'
import { orReject } from '../ports/store-result.ts'
import { fleetTargetsLimits } from '../ports/fleet-targets.ts'
import type { FleetTargets } from '../ports/fleet-targets.ts'
import type { Redis } from './redis.ts'

export function createRedisFleetTargets(redis: Redis): FleetTargets {
  // Names of services are texts of others.
  const keyOf = (key: string): string =>
    redis.key('discovered', createHash('sha256').update(key).digest('hex'))
  return {
    publish: async (key, text, keptMs) => {
      assert(text.length <= fleetTargetsLimits.textMax, 'what is shared was bounded before')
      const lifeMs = Math.max(1, Math.ceil(Math.min(keptMs, fleetTargetsLimits.keptMaxMs)))
      await orReject(redis.command('SET', keyOf(key), text, 'PX', `${lifeMs}`))
    },
    read: async (key) => (await orReject(redis.command('GET', keyOf(key)))) as string | null,
  }
}
