// Parts: the DNS node, the geo tables of its threads, its sockets, and its announced addresses.
import { announceNode } from '#node/anycast/node-anycast.ts'
import { startCookies } from '#node/compose/cookies.ts'
import { createNodeHealth } from '#node/compose/health.ts'
import { createAddressSources } from '#node/compose/discovery.ts'
import type { FleetOfSources } from '#node/compose/discovery.ts'
import {
  announceBundles,
  grantsOf,
  transfersOf,
  updateTypesOf,
  updateZonesOf,
} from '#node/compose/transfers.ts'
import { createGeo, threadsOf } from '#node/compose/dns.ts'
import { createRateLimit } from '#node/compose/rate-limit.ts'
import { createZoneKeys } from '#node/signing/zone-keys.ts'
import { startQueryLog, stopAnswering } from '#node/journal/start-query-log.ts'
import { createNodeJournal } from '#node/journal/node-journal.ts'
import { mayWriteText } from '#config/name-holder.ts'
import { Rcode } from '#dns/rcode.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { Updates } from '#zones/update/updates.ts'
import { QueryBucket, queryBucketBytes } from '#answer/counters/query-bucket.ts'
import type { LiveTsigKey } from '#zones/dynamic/live-keys.ts'
import type { ExchangeKey } from '#zones/exchange/exchange.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { DnsNode } from '#server/node/node.ts'
import type { DnsNodeParts } from '#server/node/node-parts.ts'
import { ClientRegions } from '#answer/samples/client-regions.ts'
import { QuerySamples } from '#answer/samples/query-samples.ts'
import type { GeoSource } from '#inputs/geo/geo-source.ts'
import type { Settings } from '#settings/settings.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has, NodeOutput } from '#node/parts/part-outputs.ts'

/** The node starts or stops. */
const storesNothing = {
  rcode: Rcode.ServFail,
  why: 'this node stores no updates now: send it again, or to another node',
}

type OfState = 'dataDir' | 'key' | 'shared' | 'records' | 'dynamicDns' | 'keyVault' | 'certificates'
type OfRedirects = 'redirects' | 'redirectPushes'
type Needs = Given & Has<OfState | OfRedirects | 'regressions' | 'cookies'>

export const openCookies = (have: Given & Has<'dataDir'>): Outcome<Has<'cookies'>> => {
  const cookies = startCookies({ ...have, clock: systemClock })
  if (!cookies.ok) return cookies
  return ok({ gives: { cookies: cookies.value }, stopLast: cookies.value.stop })
}

/** Composes the node; it answers nothing yet. */
export const createNode = (have: Needs): Outcome<Has<NodeOutput>> => {
  const { settings, log, env, dataDir, key, shared, dynamicDns, gate } = have
  const clock = systemClock
  let isResting = false
  const updates = createUpdates(have)
  const store = new BundleStore(dataDir.path)
  const rum = new RumStore(clock)
  const queryBucket = new SharedArrayBuffer(queryBucketBytes)
  const mayBegin = have.before === null ? undefined : gate.opened
  const health = createNodeHealth(settings, shared, log, env, mayBegin)
  const { source: geo, feed: geoFeed } = createGeo(settings, log)
  health?.onChange((changes) => {
    for (const { memberUid } of changes) have.records.memberChanged(memberUid)
  })
  const { resolver, discovery } = createAddressSources(have, dataDir.path, fleetOf(have))
  const inData = { dataDir: dataDir.path, mayWrite: mayBegin }
  const journal = createNodeJournal({ settings, ...inData, geo, log })
  const queryLog = startQueryLog(settings, log)
  const samples = samplesOf(settings)
  const rateLimit = createRateLimit(settings, log)
  const signing = createZoneKeys(settings, dataDir.path, env, log, have.keyVault.vault)
  const node = new DnsNode({
    createThreads: have.createThreads,
    threads: {
      ...threadsOf(settings, have.cookies.cells, have.certificates?.given),
      seed: process.pid ^ Math.floor(clock.nowMs()),
      ...{ rum: rum.buffer, queryBucket, rateLimit: rateLimit?.memory },
      ...{ queryLog: queryLog?.rings, querySamples: samples?.rings },
      transfers: transfersOf(settings.dns),
      keytab: settings.dns.update.gssTsig.keytab,
      onUpdate: async (message, signer) => {
        // The database may still belong to the process before, or be closed already.
        const mayStore = await gate.opened.then(
          () => !isResting,
          () => false,
        )
        return mayStore ? updates.carryOut(message, signer) : storesNothing
      },
      onNotice: (message, client) => have.later.inbound?.notice(message, client) ?? Rcode.ServFail,
    },
    ...{ store, health, resolver },
    trusted: [key.signing],
    dynamic: dynamicDns,
    journal,
    ...{ redirects: redirectsOf(have), signing },
    ...{ geo: geoFeed, clock, log },
    onRegression: (event) => have.regressions.saw(event),
  })
  dynamicDns.onKeys((keys) => node.setKeys(keys.map(exchangeKey)))
  rateLimit?.watch(node)
  const notifier = announceBundles(settings, node, (name) => dynamicDns.find(name), log)
  const clientRegions = samples && watchClients(samples, node, geo)
  const permit = (perSecond: number): void => new QueryBucket(queryBucket).adopt(perSecond)
  return ok({
    gives: {
      ...{ store, rum, health, resolver, discovery, geo, geoFeed, journal, node, permit },
      ...{ queryLog, updates, notifier, clientRegions, rateLimit, signing },
    },
    stop: async () => {
      isResting = true
      notifier.stop()
      clientRegions?.stop()
      rateLimit?.stop()
      await node.rest()
      await journal?.stop()
    },
    stopLast: () => stopAnswering(node, queryLog),
  })
}

const samplesOf = ({ geoip, roles, dns }: Settings): QuerySamples | null =>
  geoip.countClients && roles.includes('dns') ? new QuerySamples(dns.threads) : null

/** Watches samples of queries, off the answer path: threads copy some queries to a ring. */
function watchClients(samples: QuerySamples, node: DnsNode, geo: GeoSource): ClientRegions {
  const queries = (): number =>
    node.counters().reduce((sum, { udpQueries, tcpQueries }) => sum + udpQueries + tcpQueries, 0)
  const regions = new ClientRegions({
    ...{ samples, queries, geo: () => geo.buffers },
    ...{ clock: systemClock, after: systemAfter },
  })
  regions.start()
  return regions
}

const fleetOf = ({ shared, key }: Needs): FleetOfSources => ({
  ...{ store: shared.fleetTargets, key: key.signing, trusted: [key.signing] },
})

/** Passes the redirects of each bundle to the HTTP listener here and to other servers. */
function redirectsOf({ redirects, redirectPushes }: Needs): NonNullable<DnsNodeParts['redirects']> {
  return {
    serve: (bundle) => {
      redirects?.serve(bundle)
      redirectPushes.serve(bundle)
    },
    adopted: async () => redirects?.adopted(),
  }
}

/** A zone holds records of many tenants, and a transfer shows all of them. */
function exchangeKey(key: LiveTsigKey): ExchangeKey {
  return { ...key, mayTransfer: key.tenantId === defaultTenant }
}

function createUpdates(have: Needs): Updates {
  const { settings, log, dynamicDns, later } = have
  return new Updates({
    dynamicDns,
    bundle: () => later.node?.bundle(),
    zones: updateZonesOf(settings.dns),
    types: updateTypesOf(settings.dns),
    principals: { tenantId: defaultTenant, grants: grantsOf(settings.dns) },
    mayWrite: (tenant, name) => {
      if (tenant === defaultTenant) return true
      const config = later.gitops?.config
      if (config?.isReady() !== true) return false
      const hasOthers = dynamicDns.texts.hasOthers(tenant, name)
      return mayWriteText(config.snapshot(), { tenant, name, hasOthers })
    },
    log,
  })
}

/** Read before the sockets open, so that no client is answered without a place. */
export const readGeoTables = async ({ geo }: Has<'geo'>): Promise<Outcome> => {
  await geo.start()
  return ok({ gives: {}, stop: () => geo.stop() })
}

export const openSockets = async (have: Given & Has<'node'>): Promise<Outcome<Has<'dnsPort'>>> => {
  const { node, before, settings } = have
  const dns = await node.start(before?.sockets)
  if (!dns.ok) return dns
  return ok({ gives: { dnsPort: settings.roles.includes('dns') ? dns.value.port : null } })
}

/** The last part, so that a stop takes it back first: the rest answers until the routers know. */
export const announceAddresses = (
  have: Given & Has<'node' | 'dnsPort'>,
): Outcome<Has<'anycast'>> => {
  const { settings, node, dnsPort, env, log } = have
  if (dnsPort === null) return ok({ gives: { anycast: null } })
  const takesOver = have.before !== null
  const anycast = announceNode({ settings, node, dnsPort, env, log, takesOver })
  return ok({
    gives: { anycast },
    stop: () => anycast?.stop(have.isReplaced),
    stopLast: () => anycast?.end(),
  })
}
