// Regressions of rollouts in Redis, shared by all nodes.
import type { Clock } from '#lib/clock.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { ok } from '#lib/result.ts'
import { rolloutTripLimits } from '../ports/rollout-trips.ts'
import type { RolloutTrips, SharedTrip } from '../ports/rollout-trips.ts'
import { readHash } from './read-hash.ts'
import { redisScript } from './redis.ts'
import type { Redis } from './redis.ts'

/** KEYS: trips by attempt. ARGV: attempt, trip, most trips, life of the key, channel. */
const tellScript = redisScript(`
local isFull = redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3])
if not isFull then redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', ARGV[5], redis.call('HGET', KEYS[1], ARGV[1]) or ARGV[2])
return 1`)

const channel = 'rollout-trips'

export function createRedisRolloutTrips(redis: Redis, clock: Clock): RolloutTrips {
  const key = redis.key('rollout-trips', 'attempts')
  const { keptMs, tripsMax } = rolloutTripLimits
  const load = async (): Promise<SharedTrip[]> => {
    const texts = [...(await readHash(redis, key)).values()]
    return texts.flatMap((text) => tripIn(text) ?? [])
  }
  return {
    tell: async (trip) => {
      await redis.listening()
      const attempt = `${trip.rolloutUid}@${trip.startAtMs}`
      const words = [attempt, JSON.stringify(trip), `${tripsMax}`, `${keptMs}`, redis.key(channel)]
      const sent = await redis.run(tellScript, [key], words)
      return sent.ok ? ok(undefined) : sent
    },
    subscribe: (handler) => {
      const tell = (trip: SharedTrip): void => {
        if (trip.atMs > clock.nowMs() - keptMs) handler(trip)
      }
      const leave = redis.subscribe(channel, (text) => {
        const trip = tripIn(text)
        if (trip !== undefined) tell(trip)
      })
      // Trips missed during an outage are passed on now.
      const forget = redis.onUp(() => {
        load().then(
          (trips) => trips.forEach(tell),
          () => undefined,
        )
      })
      return () => {
        leave()
        forget()
      }
    },
  }
}

/** undefined: written by another version of gslbd, or by another program. */
function tripIn(text: string): SharedTrip | undefined {
  const trip: Partial<SharedTrip> = fieldsOf(parseJson(text))
  const { rolloutUid, startAtMs, atMs, reason, node } = trip
  const areTexts = [rolloutUid, reason, node].every((one) => typeof one === 'string')
  if (!areTexts || !Number.isFinite(startAtMs) || !Number.isFinite(atMs)) return undefined
  const said = reason!.slice(0, rolloutTripLimits.reasonLengthMax)
  return { rolloutUid: rolloutUid!, startAtMs: startAtMs!, atMs: atMs!, reason: said, node: node! }
}
