// Defines the JSON of a service, as the API shows and accepts it.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import { absoluteName } from '#compiler/values/names.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { Metadata } from '#schemas/objects/metadata.ts'
import { ServiceSpec } from '#schemas/objects/service.ts'
import { closed, nullable } from '#http/shapes.ts'
import { chainSteps } from './chain-steps.ts'
import { defaultOf, defaulted, optional, patchOf, plain } from './fields.ts'
import { mergePatchOf } from './merge-patch.ts'

const { properties } = ServiceSpec

export const Service = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    domain: Type.String(),
    algorithm: Type.String(),
    ttl: Type.Integer(),
    poolId: nullable(Type.String()),
    filterChain: Type.Array(Type.String()),
    onAllDown: Type.String(),
    answerCount: Type.Integer(),
    weakSpots: Type.Boolean(),
  },
  { title: 'Service' },
)

const name = plain(Metadata.properties.name)
const domain = Type.String({
  ...plain(properties.domain),
  description:
    'Fully-qualified name, whose trailing dot may be left out; unique across all tenants, ' +
    'whatever its case. The first label may be `*`.',
})
const filterChain = Type.Unsafe<readonly string[] | null>({
  ...plain(properties.filterChain),
  type: ['array', 'null'],
  items: { ...properties.filterChain.items, 'x-steps': chainSteps },
})
const poolId = nullable(Type.String({ maxLength: 255 }))

const replaced = {
  name,
  domain,
  algorithm: defaulted(properties.algorithm),
  ttl: defaulted(properties.ttl),
  poolId: Type.Optional(Type.Unsafe<string | null>({ ...poolId, default: null })),
  filterChain: Type.Optional(
    Type.Unsafe<readonly string[] | null>({ ...filterChain, default: [] }),
  ),
}

export const NewService = closed({
  ...replaced,
  onAllDown: defaulted(properties.onAllDown),
  answerCount: defaulted(properties.answerCount),
  weakSpots: defaulted(properties.weakSpots),
})
/** Fields that older versions had in the file alone stay when they are left out. */
export const ServiceBody = closed({
  ...replaced,
  onAllDown: optional(properties.onAllDown),
  answerCount: optional(properties.answerCount),
  weakSpots: optional(properties.weakSpots),
})
export type ServiceBody = Static<typeof ServiceBody>

export const ServicePatch = mergePatchOf(
  {
    name,
    domain,
    algorithm: plain(properties.algorithm),
    ttl: plain(properties.ttl),
    poolId,
    filterChain,
    onAllDown: plain(properties.onAllDown),
    answerCount: plain(properties.answerCount),
    weakSpots: plain(properties.weakSpots),
  },
  ['name', 'domain'],
)
export type ServicePatch = Static<typeof ServicePatch>

export function showService(snapshot: ConfigSnapshot, entry: ConfigEntry<'Service'>) {
  const { uid, name, tenant } = entry
  const { domain, algorithm, ttl, pool, filterChain, ...policy } = entry.object.spec
  return {
    id: uid,
    name,
    domain,
    // Beside a chain the algorithm is ignored.
    algorithm: filterChain.length === 0 ? algorithm : '',
    ttl,
    poolId: pool === null ? null : (snapshot.find('Pool', tenant, pool)?.uid ?? null),
    filterChain,
    ...policy,
  }
}

/**
 * A field that the body omits goes back to its default, except for what to do when all members are
 * down, how many are answered, and whether weak spots are reported.
 *
 * @param pool name of the pool of `poolId`; null: none
 */
export function patchOfService(fields: ServiceBody, pool: string | null): JsonObject {
  const { domain, algorithm = '', ttl, filterChain, onAllDown, answerCount, weakSpots } = fields
  const chain = filterChain ?? []
  const isPlain = chain.length === 0 && algorithm !== ''
  return {
    domain: absoluteName(domain),
    ...patchOf({ ttl: ttl ?? null, pool }, ServiceSpec),
    ...patchOf(said({ onAllDown, answerCount, weakSpots }), ServiceSpec),
    algorithm: isPlain && algorithm !== defaultOf(ServiceSpec, 'algorithm') ? algorithm : null,
    filterChain: chain.length === 0 ? null : chain,
  }
}

/** @param pool of `poolId`, when the patch has one */
export function mergedService(
  { name: _name, poolId: _poolId, algorithm, filterChain, ...fields }: ServicePatch,
  pool: string | null | undefined,
): JsonObject {
  const hasChain = (filterChain ?? []).length > 0
  const { domain } = fields
  return {
    ...patchOf(fields, ServiceSpec),
    ...said({ domain: domain === undefined ? undefined : absoluteName(domain) }),
    ...said({ pool }),
    ...(algorithm === undefined && !hasChain
      ? {}
      : patchOf({ algorithm: hasChain ? null : algorithm || null }, ServiceSpec)),
    ...(filterChain === undefined ? {} : { filterChain: hasChain ? [...filterChain!] : null }),
  }
}

/** Without fields that were not sent. */
function said(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as JsonObject
}
