// A service as the API shows it, and as it takes it (document A, "Service").
import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { Metadata } from '#schemas/objects/metadata.ts'
import { ServiceSpec } from '#schemas/objects/service.ts'
import { body, nullable } from '#api/http/shapes.ts'
import { defaultOf, defaulted, patchOf, plain } from './fields.ts'

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
  },
  { title: 'Service' },
)

export const ServiceBody = body({
  name: plain(Metadata.properties.name),
  domain: plain(properties.domain),
  algorithm: defaulted(properties.algorithm),
  ttl: defaulted(properties.ttl),
  poolId: Type.Optional(nullable(Type.String({ maxLength: 255, default: null }))),
  filterChain: Type.Optional(
    Type.Unsafe<readonly string[] | null>({
      ...defaulted(properties.filterChain),
      type: ['array', 'null'],
    }),
  ),
})
export type ServiceBody = Static<typeof ServiceBody>

export function showService(snapshot: ConfigSnapshot, entry: ConfigEntry<'Service'>) {
  const { uid, name, tenant } = entry
  const { domain, algorithm, ttl, pool, filterChain } = entry.object.spec
  return {
    id: uid,
    name,
    domain,
    // Beside a chain it is ignored (document A).
    algorithm: filterChain.length === 0 ? algorithm : '',
    ttl,
    poolId: pool === null ? null : (snapshot.find('Pool', tenant, pool)?.uid ?? null),
    filterChain,
  }
}

/**
 * A body replaces every field that the API has; what it leaves out goes back to its default.
 *
 * @param pool name of the pool of `poolId`; null: none
 */
export function patchOfService(fields: ServiceBody, pool: string | null): JsonObject {
  const { domain, algorithm = '', ttl, filterChain } = fields
  const chain = filterChain ?? []
  const isPlain = chain.length === 0 && algorithm !== ''
  return {
    domain,
    ...patchOf({ ttl: ttl ?? null, pool }, ServiceSpec),
    algorithm: isPlain && algorithm !== defaultOf(ServiceSpec, 'algorithm') ? algorithm : null,
    filterChain: chain.length === 0 ? null : chain,
  }
}
