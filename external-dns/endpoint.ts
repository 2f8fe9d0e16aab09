// Defines an endpoint of external-dns: a name, a type and a set identifier, with their targets.
import { plainName, plainValue } from '#compiler/values/plain-text.ts'
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import { isFields } from '#lib/text/json.ts'
import { externalDnsLimits } from './limits.ts'
import { isOwnershipText } from './ownership.ts'

/** The types that external-dns 0.14 to 0.21 can be told to manage. */
export const endpointTypes = Object.freeze([
  ...['A', 'AAAA', 'CNAME', 'MX', 'NAPTR', 'NS', 'PTR', 'SRV', 'TXT'],
])

/** Types whose targets can be members of a pool. */
export const addressTypes = Object.freeze(['A', 'AAAA', 'CNAME'])

/** Go writes an empty list or map as null. */
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] })
const { targetsMax, targetLengthMax, propertiesMax, propertyLengthMax } = externalDnsLimits
const shortText = (lengthMax: number) => ({ type: 'string', maxLength: lengthMax })

/** Further fields, of later versions, are not looked at. */
const WireEndpoint = Type.Object({
  dnsName: Type.String({ minLength: 1, maxLength: 1_100 }),
  recordType: Type.String({ minLength: 1, maxLength: 16 }),
  targets: Type.Optional(
    Type.Unsafe<readonly string[] | null>(
      orNull({ type: 'array', items: shortText(targetLengthMax), maxItems: targetsMax }),
    ),
  ),
  setIdentifier: Type.Optional(
    Type.String({ maxLength: externalDnsLimits.setIdentifierLengthMax }),
  ),
  recordTTL: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  labels: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>> | null>(
      orNull({
        type: 'object',
        additionalProperties: shortText(propertyLengthMax),
        maxProperties: propertiesMax,
      }),
    ),
  ),
  providerSpecific: Type.Optional(
    Type.Unsafe<readonly WireProperty[] | null>(
      orNull({
        type: 'array',
        maxItems: propertiesMax,
        items: {
          type: 'object',
          properties: { name: shortText(255), value: shortText(propertyLengthMax) },
        },
      }),
    ),
  ),
})
interface WireProperty {
  readonly name?: string
  readonly value?: string
}
export type WireEndpoint = Static<typeof WireEndpoint>

const WireEndpoints = Type.Unsafe<readonly WireEndpoint[] | null>(
  orNull({ type: 'array', items: WireEndpoint, maxItems: externalDnsLimits.endpointsMax }),
)
/** The body of `POST /adjustendpoints`. */
export const AdjustBody = WireEndpoints

const lists = ['create', 'updateOld', 'updateNew', 'delete'] as const
export type WireChanges = Readonly<Record<(typeof lists)[number], readonly WireEndpoint[]>>

/** The body of `POST /records`, with the names of fields in lower case. */
export const ChangesBody = Type.Object(
  Object.fromEntries(lists.map((name) => [name, Type.Optional(WireEndpoints)])),
)

/** Versions before 0.17 write `Create` and `UpdateOld`. */
export function withLowerNames(body: unknown): unknown {
  if (!isFields(body)) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      lists.find((one) => one.toLowerCase() === name.toLowerCase()) ?? name,
      value,
    ]),
  )
}

/** @param body that `ChangesBody` fits */
export function changesIn(body: object): WireChanges {
  const given = body as Readonly<Record<string, readonly WireEndpoint[] | null | undefined>>
  const all = lists.map((name): [string, readonly WireEndpoint[]] => [name, given[name] ?? []])
  return Object.fromEntries(all) as WireChanges
}

export interface Endpoint {
  /** Lower case, presentation form, final dot. */
  readonly name: string
  /** In capitals; one of `endpointTypes`. */
  readonly type: string
  /** The set identifier; '': none. */
  readonly set: string
  /** In plain form, sorted, each once. */
  readonly targets: readonly string[]
  /** 0: not said. */
  readonly ttlSeconds: number
  readonly labels: Readonly<Record<string, string>>
  /** Such as `gslbd/weight`; besides those of gslbd there is `alias`. */
  readonly properties: Readonly<Record<string, string>>
  /** A TXT record that says whose another one is. */
  readonly isOwnership: boolean
}

/** Owner by the registry of external-dns; '': none is said. */
export const ownerOf = ({ labels }: Endpoint): string => labels['owner'] ?? ''

/**
 * Returns the key that a request may contain once. A name may have TXT records of people and of the
 * registry.
 */
export function keyOf({ name, type, set, isOwnership }: Omit<Endpoint, 'targets'>): string {
  return `${name} ${type}${isOwnership ? '!' : ''} ${set}`
}

/** Errors: a sentence for who runs external-dns. */
export function readEndpoint(wire: WireEndpoint): Result<Endpoint, string> {
  const name = plainName(wire.dnsName)
  const shown = wire.dnsName.slice(0, 255)
  if (name === undefined) return err(`dnsName: "${shown}" is not a domain name`)
  const type = wire.recordType.toUpperCase()
  if (!endpointTypes.includes(type)) {
    const known = endpointTypes.join(', ')
    return err(`${shown}: recordType ${type} is not known here, which has ${known}`)
  }
  const targets = new Set<string>()
  for (const target of wire.targets ?? []) {
    const read = plainValue(type, target)
    if (!read.ok) {
      const what = `"${target.slice(0, 100)}" is no target of type ${type}`
      return err(`${shown}: ${what}; it takes ${read.error}`)
    }
    targets.add(read.value.text)
  }
  const sorted = [...targets].sort(byCodeUnits)
  const labels = wire.labels ?? {}
  const isOwnership =
    type === 'TXT' && (labels['ownedRecord'] !== undefined || sorted.some(isOwnershipText))
  const { setIdentifier: set = '', recordTTL: ttlSeconds = 0 } = wire
  const properties = propertiesOf(wire.providerSpecific ?? [])
  return ok({ name, type, set, targets: sorted, ttlSeconds, labels, properties, isOwnership })
}

/** Annotations of Kubernetes arrive as `webhook/gslbd-weight`. */
function propertiesOf(given: readonly WireProperty[]): Readonly<Record<string, string>> {
  const own = given.flatMap(({ name = '', value = '' }): [string, string][] => {
    const [, field] = /^(?:gslbd\/|webhook\/gslbd-)(.+)$/.exec(name) ?? []
    if (field !== undefined) return [[`gslbd/${field}`, value]]
    return name === 'alias' ? [[name, value]] : []
  })
  return Object.fromEntries(own)
}

/** As external-dns reads it; labels are for what it sends back to itself. */
export function wireOf(endpoint: Endpoint): WireEndpoint {
  const { name, type, set, targets, ttlSeconds, labels, properties } = endpoint
  const specific = Object.entries(properties).sort(([a], [b]) => byCodeUnits(a, b))
  return {
    dnsName: name.slice(0, -1),
    targets: [...targets],
    recordType: type,
    ...(set === '' ? {} : { setIdentifier: set }),
    ...(ttlSeconds === 0 ? {} : { recordTTL: ttlSeconds }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(specific.length === 0
      ? {}
      : { providerSpecific: specific.map(([one, value]) => ({ name: one, value })) }),
  }
}
