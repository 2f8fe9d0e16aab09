// A load balancer of Cloudflare with its pools and monitors, as a pool and a service.
import type { JsonObject } from '#compiler/yaml/text.ts'
import { parseAddress } from '#dns/address.ts'
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import { fieldsOf, listOf, numberOf, textOf } from './export-document.ts'
import type { Fields } from './export-document.ts'
import { noHostnames } from './zone-builder.ts'
import type { BalancedMember, ZoneBuilder } from './zone-builder.ts'

interface Parts {
  readonly balancer: Fields
  readonly pools: readonly Fields[]
  readonly monitors: readonly Fields[]
  readonly place: ZonePlace
}

/** TTL of a load balancer that has none of its own. */
const ttlDefault = 30
/** Weights there are fractions of one. */
const weightScale = 100

/** How each steering policy chooses here. Policies that are not listed have nothing like it. */
const algorithmOf: Readonly<Record<string, string>> = Object.freeze({
  '': 'failover',
  off: 'failover',
  random: 'weighted-round-robin',
  dynamic_latency: 'latency',
})

export function loadBalancer({ balancer, pools, monitors, place }: Parts, builder: ZoneBuilder) {
  const name = textOf(balancer['name'])
  const refuse = (why: string): void => builder.note('not mapped', place, `${name}: ${why}`)
  const hasPlaces = ['region_pools', 'country_pools', 'pop_pools'].some(
    (key) => Object.keys(fieldsOf(balancer[key])).length > 0,
  )
  const policy = textOf(balancer['steering_policy'])
  const algorithm = algorithmOf[policy]
  if (algorithm === undefined || (policy === '' && hasPlaces)) {
    const steering = policy === '' ? 'geo' : policy
    return refuse(
      `steering by ${steering}; write its pool with a region for each member and the filter geo-ip`,
    )
  }
  const affinity = textOf(balancer['session_affinity'])
  if (affinity !== '' && affinity !== 'none') {
    refuse('session affinity is of the proxy; the filter sticky keeps clients by their network')
  }
  const ids = [...listOf(balancer['default_pools']), balancer['fallback_pool']].map(textOf)
  const used = [...new Set(ids)].flatMap((id) => pools.filter((pool) => textOf(pool['id']) === id))
  const shares = fieldsOf(fieldsOf(balancer['random_steering'])['pool_weights'])
  const members = used.flatMap((pool, i): BalancedMember[] => {
    const share = numberOf(shares[textOf(pool['id'])]) ?? 1
    return originsOf(pool, refuse).map((member) => {
      const { weight, ...others } = member
      if (algorithm === 'failover') return { ...others, priority: i + 1 }
      return { ...others, weight: Math.round(weight * share * weightScale) }
    })
  })
  if (members.length === 0) return refuse('none of its pools with an address is in the export')
  const healthCheck = monitorOf(used, monitors)
  if (healthCheck === undefined) refuse('its monitor is not in the export; add a health check')
  builder.balanced({
    domain: `${name}.`,
    ttl: numberOf(balancer['ttl']) ?? ttlDefault,
    members,
    choice: { algorithm },
    ...(healthCheck === undefined ? {} : { healthCheck }),
  })
}

function originsOf(
  pool: Fields,
  refuse: (why: string) => void,
): (BalancedMember & { readonly weight: number })[] {
  return listOf(pool['origins'])
    .map(fieldsOf)
    .flatMap((origin) => {
      const address = textOf(origin['address'])
      const label = `${textOf(pool['name'])}/${textOf(origin['name'])}`
      if (!parseAddress(address).ok) {
        refuse(`the origin ${label} is ${address}; ${noHostnames}`)
        return []
      }
      const isOff = origin['enabled'] === false || pool['enabled'] === false
      const weight = numberOf(origin['weight']) ?? 1
      return [{ address, name: label, weight, ...(isOff ? { enabled: false } : {}) }]
    })
}

function monitorOf(pools: readonly Fields[], monitors: readonly Fields[]): JsonObject | undefined {
  const ids = pools.map((pool) => textOf(pool['monitor']))
  const monitor = monitors.find((one) => ids.includes(textOf(one['id'])))
  if (monitor === undefined) return undefined
  const type = textOf(monitor['type'])
  const isTls = type === 'https'
  const basics = {
    intervalMs: (numberOf(monitor['interval']) ?? 60) * 1_000,
    timeoutMs: (numberOf(monitor['timeout']) ?? 5) * 1_000,
    riseCount: Math.max(1, numberOf(monitor['consecutive_up']) ?? 1),
    fallCount: Math.max(1, numberOf(monitor['consecutive_down']) ?? 1),
  }
  const port = numberOf(monitor['port']) || (isTls ? 443 : 80)
  if (type === 'icmp_ping') return { type: 'icmp', ...basics }
  if (type === 'tcp') return { type, port, ...basics }
  if (type !== 'http' && !isTls) return undefined
  const [host] = listOf(fieldsOf(monitor['header'])['Host']).map(textOf)
  const contains = textOf(monitor['expected_body'])
  return {
    type: 'http',
    port,
    ...basics,
    httpMethod: textOf(monitor['method']) || 'GET',
    httpPath: textOf(monitor['path']) || '/',
    httpExpectedStatuses: statuses(textOf(monitor['expected_codes'])),
    ...(host === undefined ? {} : { httpHost: host }),
    ...(contains === '' ? {} : { httpContains: contains }),
    ...(isTls ? { tls: true } : {}),
    ...(monitor['allow_insecure'] === true ? { insecureSkipVerify: true } : {}),
  }
}

/** `2xx,301` as statuses and ranges of them. */
function statuses(codes: string): (number | string)[] {
  const list = codes === '' ? ['200'] : codes.split(',').map((code) => code.trim())
  return list.map((code) => (/^\dxx$/.test(code) ? `${code[0]!}00-${code[0]!}99` : Number(code)))
}
