// The JSON of a member: as the API shows it, and as it accepts it.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { checkAddress } from '#compiler/values/addresses.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { Member as MemberInFile } from '#schemas/objects/member.ts'
import type { Member as MemberFields } from '#schemas/objects/member.ts'
import { body } from '#api/http/shapes.ts'
import {
  defaultOf,
  defaulted,
  optional,
  orEmpty,
  patchOf,
  plain,
  withoutDefaults,
} from './fields.ts'
import { mergePatchOf } from './merge-patch.ts'

const { properties } = MemberInFile

export const Member = Type.Object(
  {
    id: Type.String(),
    poolId: Type.String(),
    name: Type.String(),
    ipAddress: Type.String(),
    port: Type.Integer(),
    weight: Type.Integer(),
    priority: Type.Integer(),
    enabled: Type.Boolean(),
    region: Type.String(),
    warmupThreshold: Type.Integer(),
    rumUrl: Type.String(),
    externalSignalMode: Type.String(),
  },
  { title: 'Member' },
)

/** Below 1 it stands for another value, so that it has no lower limit. */
function weight(description: string) {
  const { maximum } = properties.weight as { readonly maximum?: number }
  const words = `a whole number of at most ${String(maximum)}`
  return { minimum: -2_147_483_648, description, 'x-expected': words }
}

export const NewMember = body({
  ipAddress: plain(properties.ipAddress),
  port: plain(properties.port),
  weight: defaulted(
    properties.weight,
    weight('Share of the answers under weighted algorithms; 0 or less is taken as 1.'),
  ),
  priority: defaulted(properties.priority),
  name: defaulted(properties.name),
  region: defaulted(properties.region),
  warmupThreshold: defaulted(properties.warmupThreshold),
  rumUrl: defaulted(properties.rumUrl),
  externalSignalMode: orEmpty(properties.externalSignalMode, defaulted),
})
export type NewMember = Static<typeof NewMember>

export const MemberChange = body({
  weight: optional(
    properties.weight,
    weight(
      'Share of the answers under weighted algorithms; 0 drains the member, and what is below 0 ' +
        'is taken as 0.',
    ),
  ),
  priority: optional(properties.priority),
  name: optional(properties.name),
  region: optional(properties.region),
  warmupThreshold: optional(properties.warmupThreshold),
  rumUrl: optional(properties.rumUrl),
  externalSignalMode: orEmpty(properties.externalSignalMode, optional),
  enabled: optional(properties.enabled),
})
export type MemberChange = Static<typeof MemberChange>

/** Unlike a PUT it may move the member to another address, as its file may. */
export const MemberPatch = mergePatchOf(
  {
    ipAddress: plain(properties.ipAddress),
    port: plain(properties.port),
    weight: plain(properties.weight, weight('0 drains the member; what is below 0 is taken as 0.')),
    priority: plain(properties.priority),
    name: plain(properties.name),
    region: plain(properties.region),
    warmupThreshold: plain(properties.warmupThreshold),
    rumUrl: plain(properties.rumUrl),
    externalSignalMode: orEmpty(properties.externalSignalMode, plain),
    enabled: plain(properties.enabled),
  },
  ['ipAddress', 'port'],
)
export type MemberPatch = Static<typeof MemberPatch>

export type MemberPart = MemberFields & { readonly uid: string }

export function showMember(poolId: string, { uid, ipAddress, ...fields }: MemberPart) {
  return { id: uid, poolId, ipAddress: canonical(ipAddress), ...fields }
}

/** RFC 5952, as bundles and health have it. */
export function canonical(ipAddress: string): string {
  return checkAddress(ipAddress).canonical ?? ipAddress
}

/** A weight of 0 or below becomes 1. */
export function specOfNewMember({ ipAddress, weight = 1, ...fields }: NewMember): JsonObject {
  const spec = {
    ...written(fields),
    ipAddress: canonical(ipAddress),
    weight: weight <= 0 ? 1 : weight,
  }
  return withoutDefaults(spec, MemberInFile)
}

/** A weight below 0 becomes 0. */
export function patchOfMember({ weight, ipAddress, ...fields }: MemberPatch): JsonObject {
  const coerced = weight === undefined ? {} : { weight: weight && Math.max(0, weight) }
  const moved = ipAddress === undefined ? {} : { ipAddress: canonical(ipAddress) }
  return patchOf({ ...written(fields), ...coerced, ...moved }, MemberInFile)
}

/** Empty texts stand for what holds without them. */
function written(fields: Omit<MemberPatch, 'weight' | 'ipAddress'>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value === '' ? (defaultOf(MemberInFile, name) ?? value) : value,
    ]),
  )
}
