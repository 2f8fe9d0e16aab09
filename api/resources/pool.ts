// Defines the JSON of a pool, as the API shows and accepts it.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { Metadata } from '#schemas/objects/metadata.ts'
import { PoolSpec } from '#schemas/objects/pool.ts'
import { closed } from '#http/shapes.ts'
import { defaulted, optional, patchOf, plain, withoutDefaults } from './fields.ts'
import { mergePatchOf } from './merge-patch.ts'

const { minHealthy, answer } = PoolSpec.properties
const name = plain(Metadata.properties.name)

export const Pool = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    minHealthy: Type.Integer(),
    answer: Type.Optional(Type.String({ description: 'Left out: `addresses`' })),
  },
  { title: 'Pool' },
)

export const NewPool = closed({
  name,
  minHealthy: defaulted(minHealthy),
  answer: defaulted(answer),
})
export type NewPool = Static<typeof NewPool>
/** Fields that older versions had in the file alone stay when they are left out. */
export const PoolBody = closed({
  name,
  minHealthy: optional(minHealthy),
  answer: optional(answer),
})
export const PoolPatch = mergePatchOf(
  { name, minHealthy: plain(minHealthy), answer: plain(answer) },
  ['name'],
)
export type PoolPatch = Static<typeof PoolPatch>

export function showPool({ uid, name, object }: ConfigEntry<'Pool'>) {
  const { minHealthy, answer } = object.spec
  return { id: uid, name, minHealthy, ...(answer === 'addresses' ? {} : { answer }) }
}

export function specOfNewPool({ name: _name, ...fields }: NewPool): JsonObject {
  return withoutDefaults(fields, PoolSpec)
}

export function patchOfPool({ name: _name, ...fields }: PoolPatch): JsonObject {
  return patchOf(fields, PoolSpec)
}
