// Parts: the DNS node, the geo tables that its threads answer from, and its sockets.
import { createNodeHealth } from '#cli/node/health.ts'
import { createNodeResolver } from '#cli/node/resolver.ts'
import { geoPathsOf } from '#cli/node/named-files.ts'
import type { Settings } from '#cli/settings/settings.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { QueryBucket, queryBucketBytes } from '#runtime/answer/query-bucket.ts'
import type { GeoFeed } from '#runtime/geo/geo-link.ts'
import { GeoSource } from '#runtime/geo/geo-source.ts'
import { BundleStore } from '#runtime/node/bundle-store.ts'
import { DnsNode } from '#runtime/node/node.ts'
import { RumStore } from '#runtime/node/rum-store.ts'
import type { ThreadGroupParts } from '#runtime/threads/thread-group.ts'
import type { Part } from './part.ts'

/** Puts the node together; it answers nothing yet. */
export const createNode: Part = (deps) => {
  const { settings, log, env, dataDir, key, shared, dynamicDns } = deps
  const clock = systemClock
  const store = new BundleStore(dataDir.path)
  const rum = new RumStore(clock)
  const queryBucket = new SharedArrayBuffer(queryBucketBytes)
  const health = createNodeHealth(settings, shared, log, env)
  const geo = createGeo(settings, log)
  const resolver = createNodeResolver(settings, dataDir.path, log)
  const node = new DnsNode({
    threads: {
      ...threadsOf(settings),
      seed: process.pid ^ Math.floor(clock.nowMs()),
      rum: rum.buffer,
      queryBucket,
    },
    store,
    trusted: [key.signing],
    health,
    resolver,
    dynamic: dynamicDns,
    geo: geo.feed,
    clock,
    log,
  })
  const permit = (perSecond: number): void => new QueryBucket(queryBucket).adopt(perSecond)
  return ok({
    gives: { store, rum, health, resolver, geo: geo.source, node, permit },
    stop: () => node.stop(),
  })
}

/** Before the sockets, so that no client is answered as if it were nowhere. */
export const readGeoTables: Part = async ({ geo }) => {
  await geo.start()
  return ok({ stop: () => geo.stop() })
}

export const openSockets: Part = async ({ node }) => {
  const dns = await node.start()
  return dns.ok ? ok({ gives: { dnsPort: dns.value.port } }) : dns
}

function createGeo(
  settings: Settings,
  log: Log,
): { readonly source: GeoSource; readonly feed: GeoFeed } {
  let handler: ((buffers: GeoBuffers) => void) | undefined
  const source = new GeoSource({
    paths: geoPathsOf(settings),
    clock: systemClock,
    log,
    onChange: (buffers) => handler?.(buffers),
  })
  return { source, feed: { onChange: (given) => (handler = given) } }
}

type FromSettings = 'listenAddr' | 'port' | 'threads' | 'settings' | 'tcpLimits'

function threadsOf({ dns }: Settings): Pick<ThreadGroupParts, FromSettings> {
  return {
    listenAddr: dns.listenAddr,
    port: dns.port,
    threads: dns.threads,
    settings: {
      udpPayloadSize: dns.udpPayloadSize,
      nsid: dns.nsid,
      versionBind: dns.versionBind,
      tcpIdleTimeoutMs: dns.tcp.idleTimeoutMs,
    },
    tcpLimits: {
      idleTimeoutMs: dns.tcp.idleTimeoutMs,
      connectionsMax: dns.tcp.maxConnections,
      connectionsPerClientMax: dns.tcp.maxPerClient,
      messagesPerTurnMax: dns.tcp.maxPipelined,
    },
  }
}
