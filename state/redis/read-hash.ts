// Reads a whole Redis hash in bounded parts, so that a large one does not block other clients.
import { redisLimits } from './limits.ts'
import type { Redis } from './redis.ts'

/** @throws Error with a sentence when Redis is away */
export async function readHash(redis: Redis, key: string): Promise<Map<string, string>> {
  const fields = new Map<string, string>()
  let cursor = '0'
  do {
    const count = `${redisLimits.fieldsPerScan}`
    const reply = await redis.command('HSCAN', key, cursor, 'COUNT', count)
    if (!reply.ok) throw new Error(reply.error.message)
    const [next, pairs] = reply.value as [string, string[]]
    for (let i = 0; i < pairs.length; i += 2) fields.set(pairs[i]!, pairs[i + 1]!)
    cursor = next
  } while (cursor !== '0')
  return fields
}
