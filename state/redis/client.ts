// Makes one connection to one Redis with the library.
import { redisLimits } from './limits.ts'
import type { RedisPlace, RedisTarget } from './target.ts'

export type LibraryClient = Awaited<ReturnType<typeof libraryClient>>

interface ClientOptions {
  readonly target: RedisTarget
  readonly place: RedisPlace
  /** It is a Sentinel: it has another password, and no database. */
  readonly isSentinel?: boolean
}

const protocol = { RESP: 2 } as const

export async function libraryClient(options: ClientOptions) {
  const { target, place, isSentinel = false } = options
  // Imported here: a node without Redis does not load its 478 files.
  const { RedisClient } = await import('@redis/client')
  const { username, password, sentinelPassword, database } = target
  const user = isSentinel
    ? { username: '', password: sentinelPassword }
    : { username, password, database }
  const given = Object.entries(user).filter(([, value]) => value !== '' && value !== 0)
  // The library makes a class with 500 commands, in tens of milliseconds, for each set of options
  // that differs from the last one. Constant options make it once.
  return RedisClient.factory(protocol)({
    ...Object.fromEntries(given),
    ...protocol,
    disableOfflineQueue: true,
    commandsQueueMaxLength: redisLimits.commandsMax,
    pingInterval: redisLimits.pingMs,
    socket: {
      ...place,
      ...tlsOptions(target),
      connectTimeout: redisLimits.connectTimeoutMs,
      socketTimeout: redisLimits.silenceMs,
      reconnectStrategy: false,
    },
  })
}

/** @param tried consecutive attempts so far */
export function reconnectPauseMs(tried: number): number {
  const { reconnectFirstMs, reconnectMaxMs } = redisLimits
  return Math.min(reconnectFirstMs * 2 ** Math.min(tried, 16), reconnectMaxMs)
}

function tlsOptions({
  tls,
}: RedisTarget): { tls: true; ca?: string; servername?: string } | object {
  if (tls === null) return {}
  const { ca, serverName } = tls
  return {
    tls: true,
    ...(ca === '' ? {} : { ca }),
    ...(serverName === '' ? {} : { servername: serverName }),
  }
}
