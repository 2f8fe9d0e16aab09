// Brings an endpoint that external-dns wants into the form in which it is shown afterwards, so that
// it sees no difference where there is none. What is the whole name's, such as its TTL, is kept
// while several clusters share the name.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { isFields, parseJson } from '#lib/text/json.ts'
import { createCheck } from '#http/validation.ts'
import { HealthCheckBody } from '#api/resources/health-check.ts'
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
  const { name, type, set, properties, isOwnership } = endpoint
  if (!addressTypes.includes(type)) {
    if (set === '' || isOwnership) return ok({ ...endpoint, properties: {} })
    const types = addressTypes.join(', ')
    const sentence =
      `${type} records cannot have the set identifier "${set}", only ${types} can: ` +
      'leave it out, and let one cluster write them'
    return err(`${name.slice(0, -1)}: ${sentence}`)
  }
  const service = held.services.get(name)
  const isOwn = Object.keys(properties).some((key) => key.startsWith(ownPrefix))
  if (set === '' && !isOwn && service === undefined) return ok(plainOne(endpoint))
  const fault = faultOf(endpoint, service)
  if (fault !== undefined) return err(`${name.slice(0, -1)}: ${fault}`)
  return ok(balancedOne(endpoint, service))
}

function plainOne(endpoint: Endpoint): Endpoint {
  const isAlias = endpoint.type === 'CNAME' && endpoint.properties['alias'] === 'true'
  return { ...endpoint, properties: isAlias ? { alias: 'true' } : {} }
}

function faultOf({ properties }: Endpoint, service: HeldService | undefined): string | undefined {
  for (const [key, value] of Object.entries(properties)) {
    if (!key.startsWith(ownPrefix)) continue
    const field = key.slice(ownPrefix.length)
    if (!known.includes(field)) {
      const list = known.map((one) => ownPrefix + one).join(', ')
      return `there is no ${key.slice(0, 100)}; there are ${list}`
    }
    const expected = expectedOf(field, value)
    if (expected !== undefined) return `${key} must be ${expected}, not "${value.slice(0, 100)}"`
    const ofCheck = field === 'health-check' ? faultOfCheck(value, service) : undefined
    if (ofCheck !== undefined) return `${key}: ${ofCheck}`
  }
  return undefined
}

/**
 * Types of checks that an annotation may ask for. A script is none: who may annotate a resource of
 * a cluster must not run programs on the nodes, as no tenant may over the API.
 */
const checkTypes: readonly string[] = ['tcp', 'http', 'icmp', 'webhook', 'grpc', 'dns']

const checkBody = createCheck(HealthCheckBody, 'body')

/** Also where the check of a shared name stays: the fault would come out much later. */
function faultOfCheck(text: string, service: HeldService | undefined): string | undefined {
  const value = text === noHealthCheck ? undefined : parseJson(text)
  if (!isFields(value)) return undefined
  // What is there was shown, and comes back.
  if (writtenCheck(text) === healthCheckText(service?.pool?.object.spec.healthCheck)) {
    return undefined
  }
  const { type = 'tcp' } = value
  if (type === 'script') {
    return (
      `an annotation can ask for a check of type ${checkTypes.join(', ')}, not for a script, ` +
      'which a system administrator sets over the API'
    )
  }
  if (typeof type !== 'string' || !checkTypes.includes(type)) {
    const shown = typeof type === 'string' ? `"${type.slice(0, 100)}"` : 'another value'
    return `type: must be one of ${checkTypes.join(', ')}, not ${shown}`
  }
  const faults = checkBody(value)
  return faults.length === 0 ? undefined : faults.join('; ')
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
