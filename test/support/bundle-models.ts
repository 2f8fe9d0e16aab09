// Builds configurations as the encoder takes them: with defaults, and random ones for property
// tests.
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { signingKeyFromPem } from '#bundle/signature/channel.ts'
import type { SigningKey } from '#bundle/signature/channel.ts'
import { encodeBundle } from '#bundle/encode/encode.ts'
import type { EncodedBundle } from '#bundle/encode/encode.ts'
import { laterFields } from '#bundle/format/health-check.ts'
import { loadBundle } from '#bundle/load/load.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { plainRouting } from '#bundle/format/model.ts'
import type {
  BundleModel,
  HealthCheckModel,
  MemberModel,
  PoolModel,
  ServiceModel,
  SoaModel,
  ZoneModel,
} from '#bundle/format/model.ts'
import { plainCodeOf, ways } from '#routing/choose/ways.ts'

/** Returns the UUID whose last digits are `number` in hex. */
export function uid(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`
}

export const soa: SoaModel = {
  mname: 'ns1.example.org.',
  rname: 'hostmaster.example.org.',
  refreshSeconds: 3600,
  retrySeconds: 600,
  expireSeconds: 86_400,
  minimumSeconds: 30,
  serialBase: 0,
  ttlSeconds: 120,
}

export function zone(name: string, parts: Partial<ZoneModel> = {}): ZoneModel {
  return {
    name,
    soa,
    nsTtlSeconds: (parts.soa ?? soa).ttlSeconds,
    nameservers: [{ name: 'ns.example.net.', addresses: [] }],
    ...parts,
  }
}

export function member(ipAddress: string, parts: Partial<MemberModel> = {}): MemberModel {
  return {
    uid: uid(0xaaaa),
    name: '',
    ipAddress,
    hostname: '',
    port: 443,
    weight: 1,
    priority: 0,
    enabled: true,
    region: 'unknown',
    warmupThreshold: 0,
    rumUrl: '',
    externalSignalMode: 'and',
    ...parts,
  }
}

/** @param members addresses, or members; members without a uid are numbered */
export function pool(
  number: number,
  members: readonly (string | MemberModel)[],
  parts: Partial<PoolModel> = {},
): PoolModel {
  return {
    uid: uid(0x1000 + number),
    name: `pool-${number}`,
    tenant: 'default',
    answer: 'addresses',
    healthCheck: null,
    minHealthy: 0,
    geoRules: { v4: [], v6: [] },
    members: members.map((given, i) =>
      typeof given === 'string'
        ? member(given, { uid: uid(number * 0x10000 + i + 1) })
        : { ...given, uid: given.uid === uid(0xaaaa) ? uid(number * 0x10000 + i + 1) : given.uid },
    ),
    ...parts,
  }
}

export function service(
  number: number,
  domain: string,
  parts: Partial<ServiceModel> = {},
): ServiceModel {
  return {
    uid: uid(0x2000 + number),
    name: `service-${number}`,
    tenant: 'default',
    domain,
    zone: 0,
    algorithm: 'round-robin',
    filterChain: [],
    onAllDown: 'empty',
    answerCount: 1,
    ttlSeconds: 60,
    pool: 0,
    ...parts,
  }
}

export const healthCheck: HealthCheckModel = {
  type: 'http',
  port: 80,
  intervalMs: 1_000,
  timeoutMs: 500,
  httpPath: '/',
  httpHost: '',
  httpExpectedStatus: 200,
  httpContains: '',
  tls: false,
  insecureSkipVerify: false,
  riseCount: 1,
  fallCount: 1,
  scoreWindow: 0,
  icmpCount: 3,
  scriptPath: '',
  scriptContent: '',
  webhookURL: '',
  webhookMethod: 'POST',
  ...laterFields,
}

/** A repository with nothing in it. */
export const bareModel: BundleModel = {
  commit: '',
  zones: [],
  pools: [],
  services: [],
  routing: plainRouting,
  rrsets: [],
  responseRules: [],
  redirects: [],
  rollouts: [],
  windows: [],
}

/** A zone, a name server, two pools with both families, three services: under 16 KB. */
export const smallModel: BundleModel = {
  ...bareModel,
  commit: 'c0ffee',
  zones: [
    zone('example.org.', {
      nameservers: [
        { name: 'ns1.example.org.', addresses: ['192.0.2.53', '2001:db8::53'] },
        { name: 'ns.example.net.', addresses: [] },
      ],
    }),
  ],
  pools: [
    pool(1, ['192.0.2.1', '192.0.2.2', '2001:db8::1'], { healthCheck }),
    pool(2, ['198.51.100.1']),
  ],
  services: [
    service(1, 'www.example.org.'),
    service(2, '*.apps.example.org.', { algorithm: 'weighted-round-robin', pool: 1 }),
    service(3, 'none.example.org.', { algorithm: 'failover', pool: -1 }),
  ],
}

/** @param parts of a repository with nothing else in it */
export function encode(parts: Partial<BundleModel>): EncodedBundle {
  return encodeBundle({ ...bareModel, ...parts }, plainCodeOf)
}

/** Encodes and loads; throws when the loader refuses what the encoder wrote. */
export function bundleOf(parts: Partial<BundleModel>): Bundle {
  const loaded = loadBundle(encode(parts).bytes)
  if (!loaded.ok) throw new Error(loaded.error.message)
  return loaded.value
}

export function newSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ed25519')
  return signingKeyFromPem(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
}

export const octetsToAddress = (octets: Uint8Array): string =>
  octets.length === 4
    ? octets.join('.')
    : Array.from({ length: 8 }, (_, i) =>
        ((octets[i * 2]! << 8) | octets[i * 2 + 1]!).toString(16),
      ).join(':')

const arbitraryAddress = fc
  .oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
  )
  .map(octetsToAddress)

const arbitraryMember = fc.record({
  name: fc.string({ maxLength: 8 }),
  ipAddress: arbitraryAddress,
  port: fc.integer({ min: 0, max: 65_535 }),
  weight: fc.constantFrom(0, 1, 2, 5, 1_000_000),
  priority: fc.constantFrom(0, 1, 2, 3),
  enabled: fc.boolean(),
  region: fc.constantFrom('unknown', 'DE', 'münchen'),
  warmupThreshold: fc.constantFrom(0, 0, 3, 1_000),
  rumUrl: fc.constantFrom('', '', 'https://rum.example.org/pixel'),
  externalSignalMode: fc.constantFrom('and', 'and', 'or', 'override'),
})

/** Few labels and few names, so that nesting, wildcards and empty non-terminals meet often. */
const label = fc.constantFrom('a', 'b', 'c', 'x-1', '_dns')
const arbitraryZoneName = fc
  .tuple(fc.array(label, { maxLength: 3 }), fc.constantFrom('org.', 'example.org.', 'test.'))
  .map(([labels, end]) => [...labels, end].join('.'))
const arbitraryRelative = fc
  .tuple(fc.array(label, { maxLength: 3 }), fc.boolean())
  .map(([labels, isWild]) =>
    (isWild ? ['*', ...labels] : labels).map((part) => `${part}.`).join(''),
  )

const arbitraryZone = fc.record({
  name: arbitraryZoneName,
  hosts: fc.array(
    fc.record({
      relative: label.map((text) => `${text}-ns.`),
      addresses: fc.array(arbitraryAddress, { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 2 },
  ),
  minimumSeconds: fc.constantFrom(0, 5, 300),
})

/**
 * Models that the compiler could have made: unique names and uids, each service in its closest
 * zone.
 */
export const arbitraryModel: fc.Arbitrary<BundleModel> = fc
  .record({
    zones: fc.uniqueArray(arbitraryZone, {
      minLength: 1,
      maxLength: 5,
      selector: ({ name }) => name,
    }),
    pools: fc.array(
      fc.record({
        members: fc.array(arbitraryMember, { maxLength: 6 }),
        minHealthy: fc.constantFrom(0, 0, 1, 4_096),
      }),
      { maxLength: 4 },
    ),
    services: fc.array(
      fc.record({
        relative: arbitraryRelative,
        zone: fc.nat(),
        pool: fc.nat(),
        algorithm: fc.constantFrom(...ways.flatMap(({ name, plain }) => (plain ? [name] : []))),
        ttlSeconds: fc.constantFrom(0, 60, 2_147_483_647),
      }),
      { maxLength: 12 },
    ),
  })
  .map(({ zones, pools, services }): BundleModel => {
    const zoneModels = zones.map(({ name, hosts, minimumSeconds }) =>
      zone(name, {
        soa: { ...soa, minimumSeconds },
        nameservers: hosts.map(({ relative, addresses }) => ({
          name: `${relative}${name}`,
          addresses,
        })),
      }),
    )
    const domains = new Map<string, number>()
    for (const [i, { relative, zone: position }] of services.entries()) {
      domains.set(`${relative}${zones[position % zones.length]!.name}`, i)
    }
    return {
      ...bareModel,
      zones: zoneModels,
      pools: pools.map(({ members, minHealthy }, i) =>
        pool(
          i,
          members.map((parts) => member(parts.ipAddress, parts)),
          { minHealthy },
        ),
      ),
      services: [...domains].map(([domain, i]) => {
        const { algorithm, ttlSeconds, pool: position } = services[i]!
        return service(i, domain, {
          algorithm,
          ttlSeconds,
          zone: closestZone(zoneModels, domain),
          pool: pools.length === 0 ? -1 : (position % (pools.length + 1)) - 1,
        })
      }),
    }
  })

/**
 * Returns the position of the zone with the longest name that contains `name`; -1: none. The label
 * `*` is an ordinary label.
 */
export function closestZone(zones: readonly ZoneModel[], name: string): number {
  let best = -1
  for (const [i, { name: apex }] of zones.entries()) {
    const isInside = name === apex || name.endsWith(`.${apex}`)
    if (isInside && (best < 0 || apex.length > zones[best]!.name.length)) best = i
  }
  return best
}
