// Brings an endpoint that external-dns wants into the form in which it is shown afterwards, so that
// it sees no difference where there is none. What is the whole name's, such as its TTL, is kept
// while several clusters share the name.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { isFields, parseJson } from '#lib/text/json.ts'
import { partsIn } from '#config/entry.ts'
import { addressTypes } from './endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import type { Held, HeldService } from './held.ts'
import {
  healthCheckText,
  memberPortDefault,
  memberRegionDefault,
  memberWeightDefault,
  noHealthCheck,
} from './service-endpoints.ts'

const ownPrefix = 'gslbd/'
/** Properties that are understood. */
const known: readonly string[] = ['pool', 'weight', 'region', 'port', 'health-check']
/** Whether its targets are members of a pool. */
export function isBalanced({ properties }: Endpoint): boolean {
  return properties['gslbd/pool'] !== undefined
}

/** Errors: a sentence for who runs external-dns. */
export function levelled(endpoint: Endpoint, held: Held): Result<Endpoint, string> {
  const { name, type, set, properties } = endpoint
  if (!addressTypes.includes(type)) return ok({ ...endpoint, properties: {} })
  const service = held.services.get(name)
  const isOwn = Object.keys(properties).some((key) => key.startsWith(ownPrefix))
  if (set === '' && !isOwn && service === undefined) return ok(plainOne(endpoint))
  const fault = faultOf(endpoint)
  if (fault !== undefined) return err(`${name.slice(0, -1)}: ${fault}`)
  return ok(balancedOne(endpoint, service))
}

function plainOne(endpoint: Endpoint): Endpoint {
  const isAlias = endpoint.type === 'CNAME' && endpoint.properties['alias'] === 'true'
  return { ...endpoint, properties: isAlias ? { alias: 'true' } : {} }
}

function faultOf({ properties }: Endpoint): string | undefined {
  for (const [key, value] of Object.entries(properties)) {
    if (!key.startsWith(ownPrefix)) continue
    const field = key.slice(ownPrefix.length)
    if (!known.includes(field)) {
      const list = known.map((one) => ownPrefix + one).join(', ')
      return `there is no ${key.slice(0, 100)}; there are ${list}`
    }
    const expected = expectedOf(field, value)
    if (expected !== undefined) return `${key} must be ${expected}, not "${value.slice(0, 100)}"`
  }
  return undefined
}

/**
 * Returns what a property's value must be; undefined: it is right, or the write reports the fault.
 */
function expectedOf(field: string, value: string): string | undefined {
  const isWhole = (most: number): boolean => /^\d{1,7}$/.test(value) && Number(value) <= most
  if (field === 'weight' && !isWhole(1_000_000)) return 'a whole number from 0 to 1000000'
  if (field === 'port' && (!isWhole(65_535) || Number(value) === 0))
    return 'a whole number from 1 to 65535'
  if (field === 'pool' && value.trim() === '') return 'the name of a pool'
  if (field !== 'health-check' || value === noHealthCheck || isFields(parseJson(value)))
    return undefined
  return 'an object in JSON such as {"type":"http","port":80,"httpPath":"/healthz"}, or none'
}

function balancedOne(endpoint: Endpoint, service: HeldService | undefined): Endpoint {
  const { name, set, properties, ttlSeconds } = endpoint
  const pool = service?.pool
  const members = pool === undefined ? [] : partsIn('Member', pool)
  const isShared = members.some((one) => one.name !== set)
  const given = (field: string): string | undefined => properties[ownPrefix + field]
  const unless = (field: string, standard: unknown): Record<string, string> => {
    const text = plainNumber(given(field))
    return text === undefined || text === String(standard) ? {} : { [ownPrefix + field]: text }
  }
  const current = healthCheckText(pool?.object.spec.healthCheck)
  const wanted = given('health-check')
  const healthCheck = isShared || wanted === undefined ? current : writtenCheck(wanted)
  return {
    ...endpoint,
    ttlSeconds: isShared && ttlSeconds > 0 ? service!.service.object.spec.ttl : ttlSeconds,
    properties: {
      'gslbd/pool': pool?.name ?? given('pool') ?? name.slice(0, -1),
      ...unless('weight', memberWeightDefault),
      ...unless('region', memberRegionDefault),
      ...unless('port', memberPortDefault),
      'gslbd/health-check': healthCheck,
    },
  }
}

/** Without zeros before a number. */
const plainNumber = (text: string | undefined): string | undefined =>
  text !== undefined && /^\d+$/.test(text) ? String(Number(text)) : text

function writtenCheck(text: string): string {
  const value = text === noHealthCheck ? undefined : parseJson(text)
  return healthCheckText(isFields(value) ? value : undefined)
}
