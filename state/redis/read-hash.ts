// Reads a whole Redis hash in bounded parts, so that a large one does not block other clients.
import { err, ok } from '#lib/result.ts'
import type { StoreCall } from '../ports/store-result.ts'
import { redisLimits } from './limits.ts'
import type { Redis } from './redis.ts'

/**
 * @param pattern of fields, as Redis matches it
 * @throws Error with a sentence when Redis is away
 */
export async function readHash(
  redis: Redis,
  key: string,
  pattern = '*',
): Promise<Map<string, string>> {
  const fields = new Map<string, string>()
  let cursor = '0'
  do {
    const count = `${redisLimits.fieldsPerScan}`
    const some = pattern === '*' ? [] : ['MATCH', pattern]
    const reply = await redis.command('HSCAN', key, cursor, ...some, 'COUNT', count)
    if (!reply.ok) throw new Error(reply.error.message)
    const [next, pairs] = reply.value as [string, string[]]
    for (let i = 0; i < pairs.length; i += 2) fields.set(pairs[i]!, pairs[i + 1]!)
    cursor = next
  } while (cursor !== '0')
  return fields
}

/**
 * Lists what a hash holds, and removes what `read` takes for too old or foreign.
 *
 * @param most of these are listed
 */
export async function listHash<One>(
  redis: Redis,
  key: string,
  most: number,
  read: (field: string, text: string) => One | undefined,
): StoreCall<One[]> {
  const found: One[] = []
  try {
    for (const [field, text] of await readHash(redis, key)) {
      const one = read(field, text)
      if (one === undefined) await redis.command('HDEL', key, field)
      else if (found.length < most) found.push(one)
    }
  } catch (error) {
    return err({ code: 'store-away', message: (error as Error).message })
  }
  return ok(found)
}
