// Texts that nodes tell each other, in Redis.
import { createHash } from 'node:crypto'
import { assert } from '#lib/assert.ts'
import { orReject } from '../ports/store-result.ts'
import { keptTextLimits } from '../ports/kept-texts.ts'
import type { KeptTexts } from '../ports/kept-texts.ts'
import type { Redis } from './redis.ts'

/** @param area begins the keys of Redis: what the texts are about */
export function createRedisKeptTexts(redis: Redis, area: string): KeptTexts {
  // Names of services and zones are texts of others.
  const keyOf = (key: string): string =>
    redis.key(area, createHash('sha256').update(key).digest('hex'))
  return {
    publish: async (key, text, keptMs) => {
      assert(text.length <= keptTextLimits.textMax, 'what is shared was bounded before')
      const lifeMs = Math.max(1, Math.ceil(Math.min(keptMs, keptTextLimits.keptMaxMs)))
      await orReject(redis.command('SET', keyOf(key), text, 'PX', `${lifeMs}`))
    },
    read: async (key) => (await orReject(redis.command('GET', keyOf(key)))) as string | null,
  }
}
