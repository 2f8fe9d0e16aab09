// A DNS node with real sockets and files, and a publisher of numbered generations for it.
import { signChannelRecord } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SigningKey } from '#bundle/signature/channel.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { systemClock } from '#lib/clock.ts'
import type { Clock } from '#lib/clock.ts'
import type { RateMemory } from '#answer/rate-limit/rate-memory.ts'
import type { Log } from '#lib/log.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import type { GeoFeed } from '#inputs/geo/geo-link.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { DynamicFeed } from '#server/node/dynamic-link.ts'
import { DnsNode } from '#server/node/node.ts'
import { createThreadGroup } from '#server/threads/thread-group.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import { bareModel, encode, pool, service, soa, zone } from './bundle-models.ts'
import { ask } from './dns/client.ts'

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface NodeOptions {
  readonly trusted: SigningKey
  /** Where the node keeps its bundles; left out, it keeps none. */
  readonly dataDir?: string
  /** Default 1. */
  readonly threads?: number
  readonly listenAddr?: string
  readonly port?: number
  readonly health?: HealthMonitor
  readonly geo?: GeoFeed
  readonly dynamic?: DynamicFeed
  readonly clock?: Clock
  readonly queryBucket?: SharedArrayBuffer
  readonly queryLog?: readonly SharedArrayBuffer[]
  readonly rateLimit?: RateMemory
}

/** An unstarted node and its log. */
export function buildNode(options: NodeOptions): { node: DnsNode; log: LogLine[] } {
  const log: LogLine[] = []
  const note = (level: LogLine['level']) => (fields: object, message: string) =>
    void log.push({ level, message, fields: fields as Record<string, unknown> })
  const logger: Log = { info: note('info'), warn: note('warn'), error: note('error') }
  const node = new DnsNode({
    createThreads: createThreadGroup,
    threads: {
      listenAddr: options.listenAddr ?? '127.0.0.1',
      port: options.port ?? 0,
      threads: options.threads ?? 1,
      settings: { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 10_000 },
      tcpLimits: {},
      seed: 1,
      ...(options.queryBucket === undefined ? {} : { queryBucket: options.queryBucket }),
      queryLog: options.queryLog,
      rateLimit: options.rateLimit,
    },
    store: options.dataDir === undefined ? null : new BundleStore(options.dataDir),
    trusted: [options.trusted],
    health: options.health ?? null,
    geo: options.geo ?? null,
    dynamic: options.dynamic ?? null,
    clock: options.clock ?? systemClock,
    log: logger,
  })
  return { node, log }
}

/** The address that encodes a generation: see `generation`. */
export const addressOf = (number: number, serviceNumber = 0): string =>
  `10.${serviceNumber}.${number >> 8}.${number & 255}`

/**
 * A configuration in which every answer encodes `number`: the address and the TTL of each service,
 * the SOA's minimum, the address of the name server.
 */
export function generation(number: number, services = 2): BundleModel {
  const numbers = Array.from({ length: services }, (_, i) => i)
  return {
    ...bareModel,
    zones: [
      zone('test.', {
        soa: { ...soa, minimumSeconds: number, ttlSeconds: 1_000_000 },
        nameservers: [{ name: 'ns.test.', addresses: [addressOf(number)] }],
      }),
    ],
    pools: numbers.map((i) => pool(i + 1, [addressOf(number, i)])),
    services: numbers.map((i) =>
      service(i + 1, `s${i}.test.`, { pool: i, ttlSeconds: number, algorithm: 'failover' }),
    ),
  }
}

/** Publishes a model as a publisher does: encoded, signed, named by a record. */
export function publish(
  key: SigningKey,
  model: BundleModel,
  parts: Partial<ChannelRecord> & { readonly seq: number },
): Publication {
  const { bytes, digest } = encode(model)
  signBundle(bytes, key)
  const record: ChannelRecord = {
    channel: 'main',
    digest,
    previous: '',
    commit: '',
    issuedAtMs: 1_000,
    expiresAtMs: 4_000_000_000_000,
    ...parts,
  }
  return { signedRecord: signChannelRecord(record, key), bundle: bytes }
}

/** The generation that a node serves, by address and TTL; the rcode as text otherwise. */
export async function askGeneration(
  port: number,
  host = '127.0.0.1',
  tcp = false,
): Promise<string> {
  const reply = await ask({ host, port }, 's0.test. A', { tcp })
  if (reply.rcode !== 0) return `rcode ${reply.rcode}`
  return `${reply.answer[0]?.rdataText} ${reply.answer[0]?.ttl}`
}

/** The result of `askGeneration` for a generation. */
export const answerOf = (number: number): string => `${addressOf(number)} ${number}`
