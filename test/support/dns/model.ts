// Converts the zones of fixture.ts to the model that the compiler would give the encoder.
import { hash } from 'node:crypto'
import { plainRouting } from '#bundle/format/model.ts'
import type { BundleModel, PoolModel, ServiceModel } from '#bundle/format/model.ts'
import { closestZone } from './fixture.ts'
import type { StaticConfig, StaticService } from './fixture.ts'
import { modelOfWritten } from './written-zone.ts'
import type { WrittenZone } from './written-zone.ts'

/** The configuration that a server is started with. */
export type Served = StaticConfig | WrittenZone

export function modelOf(config: Served | BundleModel): BundleModel {
  if ('rrsets' in config) return config
  if ('text' in config) return modelOfWritten(config)
  return {
    commit: config.commit ?? '',
    zones: config.zones.map(({ name, mname, rname, ttlSeconds, minimumSeconds, nameservers }) => ({
      name,
      soa: {
        mname,
        rname,
        refreshSeconds: 3600,
        retrySeconds: 600,
        expireSeconds: 86_400,
        minimumSeconds,
        serialBase: 0,
        ttlSeconds,
      },
      nsTtlSeconds: ttlSeconds,
      nameservers,
    })),
    pools: config.services.map(poolOf),
    services: config.services.map((service, i) => serviceOf(config, service, i)),
    routing: plainRouting,
    rrsets: [],
    responseRules: [],
    redirects: [],
    rollouts: [],
    windows: [],
  }
}

/** Every service has its own pool with one member per address, so every answer is known. */
function poolOf(service: StaticService): PoolModel {
  return {
    uid: uidOf('pool', service.domain),
    name: service.domain,
    tenant: 'default',
    answer: 'addresses',
    healthCheck: null,
    minHealthy: 0,
    geoRules: { v4: [], v6: [] },
    members: service.addresses.map((ipAddress) => ({
      uid: uidOf('member', `${service.domain} ${ipAddress}`),
      name: '',
      ipAddress,
      hostname: '',
      port: 443,
      weight: 1,
      priority: 0,
      enabled: service.isDisabled !== true,
      region: 'unknown',
      warmupThreshold: 0,
      rumUrl: '',
      externalSignalMode: 'and',
    })),
  }
}

function serviceOf(config: StaticConfig, service: StaticService, index: number): ServiceModel {
  const zone = closestZone(config, service.domain)
  if (zone === undefined) throw new Error(`${service.domain} is in no zone`)
  return {
    uid: uidOf('service', service.domain),
    name: service.domain,
    tenant: 'default',
    domain: service.domain,
    zone: config.zones.indexOf(zone),
    algorithm: 'round-robin',
    filterChain: [],
    onAllDown: 'empty',
    answerCount: 1,
    ttlSeconds: service.ttlSeconds,
    pool: index,
  }
}

/** Not as the compiler derives it, but unique and reproducible. */
function uidOf(kind: string, name: string): string {
  const hex = hash('sha256', `${kind} ${name}`).slice(0, 32)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
