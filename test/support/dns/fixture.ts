// The zones of conformance tests, as data for our node and as zone files for other servers.
import { isIPv6 } from 'node:net'

export interface StaticConfig {
  readonly zones: readonly StaticZone[]
  readonly services: readonly StaticService[]
  /** In hexadecimal digits; left out, there is none. */
  readonly commit?: string
}

export interface StaticZone {
  /** Lower case with a final dot. */
  readonly name: string
  readonly mname: string
  readonly rname: string
  readonly ttlSeconds: number
  readonly minimumSeconds: number
  readonly nameservers: readonly { readonly name: string; readonly addresses: readonly string[] }[]
}

/** At most one address per family, so that every answer is known in advance. */
export interface StaticService {
  readonly domain: string
  readonly ttlSeconds: number
  /** None: the name exists and has no records. */
  readonly addresses: readonly string[]
  /** Every member is disabled, so that the name exists and has no records now. */
  readonly isDisabled?: boolean
}

const longLabel = (letter: string): string => letter.repeat(63)

/** 255 octets on the wire: 3 × 64, then 50, then 8 + 4 + 1. RFC 1035 section 2.3.4. */
export const longestName = [...['a', 'b', 'c'].map(longLabel), 'd'.repeat(49), 'example.org.'].join(
  '.',
)

function zone(name: string, parts: Partial<StaticZone> = {}): StaticZone {
  return {
    name,
    mname: 'ns1.example.org.',
    rname: 'hostmaster.example.org.',
    ttlSeconds: 120,
    minimumSeconds: 30,
    nameservers: [{ name: 'ns2.example.net.', addresses: [] }],
    ...parts,
  }
}

/** Names of 63-octet labels, so that a few fill a message. */
function manyNameservers(count: number): StaticZone['nameservers'] {
  return Array.from({ length: count }, (_, i) => ({
    name: `${String(i).padStart(2, '0')}${'n'.repeat(61)}.example.net.`,
    addresses: [],
  }))
}

function service(domain: string, ttlSeconds: number, ...addresses: string[]): StaticService {
  return { domain, ttlSeconds, addresses }
}

export const conformanceConfig: StaticConfig = Object.freeze({
  zones: [
    zone('example.org.', {
      nameservers: [
        { name: 'ns1.example.org.', addresses: ['192.0.2.53', '2001:db8::53'] },
        { name: 'ns2.example.net.', addresses: [] },
      ],
    }),
    // Inside the zone above: the closest zone answers.
    zone('sub.example.org.'),
    // The SOA's own TTL is the smaller one here.
    zone('short.example.', { ttlSeconds: 60, minimumSeconds: 900 }),
    // The NS rrset takes about 950 octets, and about 1,900.
    zone('big.example.', { nameservers: manyNameservers(12) }),
    zone('huge.example.', { nameservers: manyNameservers(24) }),
  ],
  services: [
    service('example.org.', 90, '192.0.2.80'),
    service('www.example.org.', 60, '192.0.2.1'),
    service('six.example.org.', 60, '2001:db8::1'),
    service('dual.example.org.', 300, '192.0.2.2', '2001:db8::2'),
    service('none.example.org.', 60),
    { ...service('down.example.org.', 60, '192.0.2.10'), isDisabled: true },
    service('www.deep.ent.example.org.', 60, '192.0.2.3'),
    service('*.apps.example.org.', 45, '192.0.2.7'),
    service('real.apps.example.org.', 60, '2001:db8::9'),
    service('host.blocked.apps.example.org.', 60, '192.0.2.8'),
    service('www.sub.example.org.', 60, '192.0.2.4'),
    service('www.short.example.', 60, '192.0.2.5'),
    service(longestName, 60, '192.0.2.6'),
  ],
})

/** @returns the zone file of `zone`, every name absolute */
export function zoneFileOf(config: StaticConfig, zone: StaticZone): string {
  const { name, ttlSeconds, mname, rname, minimumSeconds } = zone
  const lines = [
    `${name} ${ttlSeconds} IN SOA ${mname} ${rname} 1 3600 600 86400 ${minimumSeconds}`,
  ]
  for (const nameserver of zone.nameservers) {
    lines.push(`${name} ${ttlSeconds} IN NS ${nameserver.name}`)
    lines.push(
      ...nameserver.addresses.map((address) => addressLine(nameserver.name, ttlSeconds, address)),
    )
  }
  // Names below another apex belong to that zone; here is its delegation.
  for (const inner of config.zones) {
    if (parentZone(config, inner) !== zone) continue
    for (const nameserver of inner.nameservers) {
      lines.push(`${inner.name} ${inner.ttlSeconds} IN NS ${nameserver.name}`)
    }
  }
  for (const service of config.services) {
    const { domain, ttlSeconds } = service
    if (closestZone(config, domain) !== zone) continue
    const addresses = service.isDisabled === true ? [] : service.addresses
    lines.push(...addresses.map((address) => addressLine(domain, ttlSeconds, address)))
    // A type that no test queries, so that the name exists.
    if (addresses.length === 0) lines.push(`${domain} ${ttlSeconds} IN TYPE65280 \\# 0`)
  }
  return `${lines.join('\n')}\n`
}

function parentZone(config: StaticConfig, { name }: StaticZone): StaticZone | undefined {
  const parent = name.slice(name.indexOf('.') + 1)
  return parent === '' ? undefined : closestZone(config, parent)
}

/** The zone with the longest name that contains `domain`. */
export function closestZone(config: StaticConfig, domain: string): StaticZone | undefined {
  const enclosing = config.zones.filter(
    ({ name }) => domain === name || domain.endsWith(`.${name}`),
  )
  return enclosing.sort((one, other) => other.name.length - one.name.length)[0]
}

function addressLine(owner: string, ttlSeconds: number, address: string): string {
  return `${owner} ${ttlSeconds} IN ${isIPv6(address) ? 'AAAA' : 'A'} ${address}`
}
