// Shows a balanced service as endpoints: the members of one name and type are the targets of one
// set identifier.
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry, ConfigPart } from '#config/entry.ts'
import { plainValue } from '#compiler/values/plain-text.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import { HealthCheck } from '#schemas/objects/health-check.ts'
import { Member } from '#schemas/objects/member.ts'
import { defaultOf, withoutDefaults } from '#api/resources/fields.ts'
import type { Endpoint } from './endpoint.ts'

export type PoolMember = ConfigPart<'Member'>['part']

/** Port of members that are given none: answers have no ports. */
export const memberPortDefault = 443
export const memberWeightDefault = Number(defaultOf(Member, 'weight'))
export const memberRegionDefault = defaultOf(Member, 'region') as string

export function endpointsOfService(
  name: string,
  {
    service,
    pool,
  }: {
    readonly service: ConfigEntry<'Service'>
    readonly pool: ConfigEntry<'Pool'> | undefined
  },
): readonly Endpoint[] {
  if (pool === undefined) return []
  // A member that is discovered has no target of its own.
  const given = partsIn('Member', pool).filter((one) => one.ipAddress + one.hostname !== '')
  const groups = Map.groupBy(given, (one) => `${typeOf(one)} ${one.name}`)
  return [...groups.values()].map((members) => {
    const [first] = members as [PoolMember]
    return {
      name,
      type: typeOf(first),
      set: first.name,
      targets: [...new Set(members.map(targetOf))].sort(byCodeUnits),
      ttlSeconds: service.object.spec.ttl,
      labels: {},
      properties: propertiesOf(pool, first),
      isOwnership: false,
    }
  })
}

/** The type of the endpoint that a member comes from. */
export function typeOf({ ipAddress, hostname }: PoolMember): string {
  if (hostname !== '') return 'CNAME'
  return ipAddress.includes(':') ? 'AAAA' : 'A'
}

/** In plain form. */
export function targetOf(member: PoolMember): string {
  const text = member.hostname === '' ? member.ipAddress : member.hostname
  const read = plainValue(typeOf(member), text.replace(/\.$/, ''))
  return read.ok ? read.value.text : text
}

/**
 * Returns properties of the member that differ from the defaults, and those common to all members
 * of the name.
 */
function propertiesOf(
  { name, object }: ConfigEntry<'Pool'>,
  { weight, region, port }: PoolMember,
): Readonly<Record<string, string>> {
  const { healthCheck } = object.spec
  return {
    'gslbd/pool': name,
    ...(weight === memberWeightDefault ? {} : { 'gslbd/weight': String(weight) }),
    ...(region === memberRegionDefault ? {} : { 'gslbd/region': region }),
    ...(port === memberPortDefault ? {} : { 'gslbd/port': String(port) }),
    'gslbd/health-check': healthCheckText(healthCheck),
  }
}

/** As value of `gslbd/health-check`: the pool has none, or is to have none. */
export const noHealthCheck = 'none'

/** In one form: without defaults, fields in order. */
export function healthCheckText(check: object | undefined): string {
  if (check === undefined) return noHealthCheck
  const fields = Object.entries(withoutDefaults(check as JsonObject, HealthCheck))
    .filter(([, value]) => !isEmpty(value))
    .sort(([a], [b]) => byCodeUnits(a, b))
  const { type = defaultOf(HealthCheck, 'type') } = check as { readonly type?: string }
  return JSON.stringify({ type, ...Object.fromEntries(fields) })
}

/** Lists and mappings are compared by what they hold: all of these are empty by default. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0
