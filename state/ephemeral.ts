// Opens the stores for losable state, in Redis or in memory.
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { withFallbackSignals } from './fallback/health-signals.ts'
import { withFallbackAttempts, withFallbackNonces, withFallbackTokens } from './fallback/logins.ts'
import { EndedSessions } from './file/ended-sessions.ts'
import { FallbackSessions } from './fallback/sessions.ts'
import { createMemoryClusterNodes } from './memory/cluster-nodes.ts'
import { createMemoryHealthSignals } from './memory/health-signals.ts'
import { createMemoryLoginAttempts } from './memory/login-attempts.ts'
import { createMemoryOidcNonces } from './memory/oidc-nonces.ts'
import { createMemoryPeerHealth } from './memory/peer-health.ts'
import { createMemoryPullingNodes } from './memory/pulling-nodes.ts'
import { createMemoryRolloutTrips } from './memory/rollout-trips.ts'
import { MemorySessions } from './memory/sessions.ts'
import { createMemoryKeptTexts } from './memory/kept-texts.ts'
import { createMemoryWebSocketTokens } from './memory/websocket-tokens.ts'
import type { ClusterNodes } from './ports/cluster-nodes.ts'
import type { HealthSignals } from './ports/health-signals.ts'
import type { LoginAttempts } from './ports/login-attempts.ts'
import type { OidcNonces } from './ports/oidc-nonces.ts'
import type { PeerHealth } from './ports/peer-health.ts'
import type { RolloutTrips } from './ports/rollout-trips.ts'
import type { PullingNodes } from './ports/pulling-nodes.ts'
import type { KeptTexts } from './ports/kept-texts.ts'
import type { Sessions } from './ports/sessions.ts'
import type { WebSocketTokens } from './ports/websocket-tokens.ts'
import { createRedisClusterNodes } from './redis/cluster-nodes.ts'
import { createRedisHealthSignals } from './redis/health-signals.ts'
import {
  createRedisLoginAttempts,
  createRedisOidcNonces,
  createRedisWebSocketTokens,
} from './redis/login-keys.ts'
import { createRedisPeerHealth } from './redis/peer-health.ts'
import { prefixFor, Redis } from './redis/redis.ts'
import { redisTarget } from './redis/target.ts'
import type { RedisSettings, RedisTarget } from './redis/target.ts'
import { createRedisRolloutTrips } from './redis/rollout-trips.ts'
import { createRedisPullingNodes } from './redis/pulling-nodes.ts'
import { createRedisKeptTexts } from './redis/kept-texts.ts'
import { RedisSessions } from './redis/sessions.ts'

interface EphemeralOptions {
  /** The section `redis`. Without a `url`: memory of this process. */
  readonly redis: RedisSettings
  /**
   * Prefix of every key; left out: `gslbd:`. Installations that share a Redis have different ones.
   */
  readonly prefix?: string
  readonly clock: Clock
  readonly log: Log
  /** A slower command counts as a failed Redis; tests on a busy machine allow more. */
  readonly commandTimeoutMs?: number
  /** File for the ends of sessions that Redis has yet to learn; left out: memory only. */
  readonly endedSessionsFile?: string
}

const usualPrefix = 'gslbd:'

export interface EphemeralStatus {
  readonly kind: 'memory' | 'redis'
  /** `away`: this node continues with its own memory. */
  readonly state: 'up' | 'away'
  /** Unix epoch. */
  readonly sinceMs: number
  readonly fault: string | null
  /** Number of sessions that other nodes do not know. */
  readonly localSessions: number
}

export interface EphemeralPorts {
  readonly clusterNodes: ClusterNodes
  readonly pullingNodes: PullingNodes
  readonly sessions: Sessions
  readonly nonces: OidcNonces
  readonly webSocketTokens: WebSocketTokens
  readonly loginAttempts: LoginAttempts
  readonly healthSignals: HealthSignals
  readonly peerHealth: PeerHealth
  readonly rolloutTrips: RolloutTrips
  /** What sources of discovery found, signed and checked by those that read it. */
  readonly fleetTargets: KeptTexts
  /** When a control node heard a primary server of a zone last, by the zone. */
  readonly zoneContacts: KeptTexts
}

export interface EphemeralState extends EphemeralPorts {
  readonly status: () => EphemeralStatus
  readonly close: () => void
}

/**
 * Errors: a sentence about the section `redis`, without secrets. An unreachable Redis is no error.
 */
export function createEphemeral(options: EphemeralOptions): Result<EphemeralState, string> {
  if (options.redis.url === '') return ok(inMemory(options.clock))
  const target = redisTarget(options.redis)
  return target.ok ? ok(inRedis(options, target.value)) : target
}

/** @returns a sentence about the section, without its values; undefined: valid */
export function redisFault(redis: RedisSettings): string | undefined {
  const target = redis.url === '' ? undefined : redisTarget(redis)
  return target?.ok === false ? target.error : undefined
}

function memoryPorts(clock: Clock) {
  return {
    sessions: new MemorySessions(clock),
    nonces: createMemoryOidcNonces(clock),
    webSocketTokens: createMemoryWebSocketTokens(clock),
    loginAttempts: createMemoryLoginAttempts(clock),
    healthSignals: createMemoryHealthSignals(clock),
    peerHealth: createMemoryPeerHealth(),
    rolloutTrips: createMemoryRolloutTrips(),
    fleetTargets: createMemoryKeptTexts(clock),
    zoneContacts: createMemoryKeptTexts(clock),
    clusterNodes: createMemoryClusterNodes(),
    pullingNodes: createMemoryPullingNodes(clock),
  }
}

function inMemory(clock: Clock): EphemeralState {
  const ports = memoryPorts(clock)
  const fixed = { kind: 'memory', state: 'up', sinceMs: clock.nowMs(), fault: null } as const
  return {
    ...ports,
    status: () => ({ ...fixed, localSessions: ports.sessions.size }),
    close: () => undefined,
  }
}

/** The plain adapters: their calls fail while Redis is away. */
export function redisPorts(redis: Redis, clock: Clock) {
  return {
    sessions: new RedisSessions(redis, clock),
    nonces: createRedisOidcNonces(redis),
    webSocketTokens: createRedisWebSocketTokens(redis),
    loginAttempts: createRedisLoginAttempts(redis),
    healthSignals: createRedisHealthSignals(redis, clock),
    peerHealth: createRedisPeerHealth(redis),
    rolloutTrips: createRedisRolloutTrips(redis, clock),
    fleetTargets: createRedisKeptTexts(redis, 'discovered'),
    zoneContacts: createRedisKeptTexts(redis, 'zone-contact'),
    clusterNodes: createRedisClusterNodes(redis, clock),
    pullingNodes: createRedisPullingNodes(redis, clock),
  }
}

function inRedis(options: EphemeralOptions, target: RedisTarget): EphemeralState {
  const { clock } = options
  const redis = new Redis({
    ...options,
    target,
    prefix: prefixFor(target, options.prefix ?? usualPrefix),
  })
  const [shared, local] = [redisPorts(redis, clock), memoryPorts(clock)]
  const ended = new EndedSessions(options.endedSessionsFile ?? null, clock, options.log)
  const sessions = new FallbackSessions(shared.sessions, clock, ended)
  const { signals, recover } = withFallbackSignals(shared.healthSignals, local.healthSignals)
  redis.onUp(() => {
    void sessions.recover()
    recover().catch(() => undefined)
  })
  return {
    ...shared,
    sessions,
    nonces: withFallbackNonces(shared.nonces, local.nonces),
    webSocketTokens: withFallbackTokens(shared.webSocketTokens, local.webSocketTokens),
    loginAttempts: withFallbackAttempts(shared.loginAttempts, local.loginAttempts),
    healthSignals: signals,
    status: () => ({ kind: 'redis', ...redis.status(), localSessions: sessions.localCount }),
    close: () => {
      sessions.close()
      redis.close()
    },
  }
}
