// Derives the options of the DNS threads, and of their geo tables, from the settings.
import type { Settings } from '#settings/settings.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoFeed } from '#inputs/geo/geo-link.ts'
import { GeoSource } from '#inputs/geo/geo-source.ts'
import { entriesIn, pairsIn } from '#server/tls/sources.ts'
import type { GivenCertificates } from '#server/tls/sources.ts'
import type { ThreadGroupParts } from '#server/threads/threads-port.ts'
import { geoPathsOf } from './named-files.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import { transfersOf } from './transfers.ts'

export function createGeo(
  settings: Settings,
  log: Log,
): { readonly source: GeoSource; readonly feed: GeoFeed } {
  const handlers: ((buffers: GeoBuffers) => void)[] = []
  const source = new GeoSource({
    paths: geoPathsOf(settings),
    clock: systemClock,
    log,
    onChange: (buffers) => handlers.forEach((handle) => handle(buffers)),
  })
  const onChange = (handle: (buffers: GeoBuffers) => void): void => {
    handlers.push(handle)
    if (source.buffers !== noGeoBuffers) handle(source.buffers)
  }
  return { source, feed: { onChange } }
}

type FromSettings = 'listenAddr' | 'port' | 'threads' | 'settings' | 'tcpLimits' | 'proxies' | 'tls'

export function threadsOf(
  { dns, roles }: Settings,
  cookies?: SharedArrayBuffer,
  given: GivenCertificates | null = null,
): Pick<ThreadGroupParts, FromSettings> {
  return {
    listenAddr: dns.listenAddr,
    port: dns.port,
    threads: dns.threads,
    settings: {
      udpPayloadSize: dns.udpPayloadSize,
      nsid: dns.nsid,
      versionBind: dns.versionBind,
      zoneVersion: dns.zoneVersion,
      tellsCommit: dns.tellsCommit,
      cookies,
      takesUpdates: roles.includes('control'),
      agreesOnKeys: roles.includes('control') && dns.update.gssTsig.keytab !== undefined,
      tcpIdleTimeoutMs: dns.tcp.idleTimeoutMs,
      catalog: transfersOf(dns).catalog,
    },
    ...tlsOf(dns, given),
    proxies: networksOf(dns.proxyProtocol),
    tcpLimits: {
      idleTimeoutMs: dns.tcp.idleTimeoutMs,
      connectionsMax: dns.tcp.maxConnections,
      connectionsPerClientMax: dns.tcp.maxPerClient,
      messagesPerTurnMax: dns.tcp.maxPipelined,
    },
  }
}

function tlsOf(
  { tls, https }: Settings['dns'],
  given: GivenCertificates | null,
): Pick<ThreadGroupParts, 'tls'> {
  const overHttps = https.enabled ? { https: { port: https.port, path: https.path } } : {}
  const pairs = pairsIn('dns.tls', tls)
  const used = entriesIn(pairs).length > 0 ? given : null
  return pairs.length === 0 ? {} : { tls: { port: tls.port, pairs, given: used, ...overHttps } }
}
