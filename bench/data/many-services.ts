// The configuration shared by benchmarks: many names, four members each.
import { plainRouting } from '#bundle/format/model.ts'
import type {
  BundleModel,
  MemberModel,
  PoolModel,
  ServiceModel,
  ZoneModel,
} from '#bundle/format/model.ts'

/** A readable UUID: the kind in its first group, the number in its last. */
export function benchUid(kind: number, number: number): string {
  const first = kind.toString(16).padStart(8, '0')
  return `${first}-0000-4000-8000-${number.toString(16).padStart(12, '0')}`
}

export const benchZone: ZoneModel = {
  name: 'gslb.example.com.',
  soa: {
    mname: 'ns1.gslb.example.com.',
    rname: 'hostmaster.gslb.example.com.',
    refreshSeconds: 3600,
    retrySeconds: 600,
    expireSeconds: 86_400,
    minimumSeconds: 30,
    serialBase: 0,
    ttlSeconds: 120,
  },
  nsTtlSeconds: 120,
  nameservers: [{ name: 'ns1.gslb.example.com.', addresses: ['192.0.2.1'] }],
}

/** `svc0` to `svc<services - 1>.gslb.example.com.`, spread over the pools in turn. */
export function manyServices(
  services: number,
  { pools = services, algorithm = 'round-robin' }: { pools?: number; algorithm?: string } = {},
): BundleModel {
  return {
    commit: '',
    zones: [benchZone],
    pools: Array.from({ length: pools }, (_, i) => poolOf(i)),
    services: Array.from({ length: services }, (_, i): ServiceModel => ({
      uid: benchUid(1, i),
      name: `svc${i}`,
      tenant: 'default',
      domain: `svc${i}.gslb.example.com.`,
      zone: 0,
      algorithm,
      filterChain: [],
      onAllDown: 'empty',
      answerCount: 1,
      ttlSeconds: 60,
      pool: i % pools,
    })),
    routing: plainRouting,
    rrsets: [],
    responseRules: [],
    redirects: [],
    rollouts: [],
    windows: [],
  }
}

function poolOf(i: number): PoolModel {
  const members = [1, 2, 3, 4].map((k): MemberModel => ({
    uid: benchUid(3, i * 4 + k),
    name: `m${k}`,
    ipAddress: `10.${(i >> 8) & 255}.${i & 255}.${k}`,
    hostname: '',
    port: 443,
    weight: 1,
    priority: k,
    enabled: true,
    region: 'unknown',
    warmupThreshold: 0,
    rumUrl: '',
    externalSignalMode: 'and',
  }))
  return {
    uid: benchUid(2, i),
    name: `pool${i}`,
    tenant: 'default',
    members,
    answer: 'addresses',
    healthCheck: null,
    minHealthy: 0,
    geoRules: { v4: [], v6: [] },
  }
}
