// Defines the JSON of a member, as the API shows and accepts it.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { checkAddress } from '#compiler/values/addresses.ts'
import {
  hostnameKey,
  isDiscoveredMember,
  isHostname,
  targetOf,
} from '#compiler/values/member-target.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { CreatePart, UpdatePart } from '#config/operation.ts'
import { Member as MemberInFile } from '#schemas/objects/member.ts'
import type { Member as MemberFields } from '#schemas/objects/member.ts'
import type { EffectiveMember, EffectiveView } from '#config/overlays/effective.ts'
import { closed, nullable } from '#http/shapes.ts'
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

/** Declared values, shown beside the effective `weight` and `enabled`. */
export const declaredFields = {
  declaredWeight: Type.Integer({ description: 'As it was written; the entity tag is of this' }),
  declaredEnabled: Type.Boolean({ description: 'As it was written' }),
  heldBy: nullable(
    Type.Object(
      { kind: Type.Enum(['rollout', 'window']), id: Type.String(), name: Type.String() },
      { description: 'What decides instead of what was written; of both the window' },
    ),
  ),
}

export const Member = Type.Object(
  {
    id: Type.String(),
    poolId: Type.String(),
    name: Type.String(),
    ipAddress: Type.String({ description: 'Empty: the member has a hostname' }),
    hostname: Type.Optional(Type.String({ description: 'Only where it has no address' })),
    from: Type.Optional(
      Type.String({ description: 'Only where its addresses are discovered: what it asks for' }),
    ),
    port: Type.Integer(),
    weight: Type.Integer({ description: 'In effect now, with its rollout' }),
    priority: Type.Integer(),
    enabled: Type.Boolean({ description: 'In effect now, with maintenance windows' }),
    region: Type.String(),
    provider: Type.String(),
    site: Type.String(),
    capacity: Type.Integer({ description: 'In percent of the clients of the pool' }),
    warmupThreshold: Type.Integer(),
    rumUrl: Type.String(),
    externalSignalMode: Type.String(),
    ...declaredFields,
  },
  { title: 'Member' },
)

/** A value below the least is taken as it. */
function weight(least: 0 | 1, description: string) {
  const { maximum } = properties.weight as { readonly maximum?: number }
  const words = `a whole number from ${least} to ${String(maximum)}`
  return { minimum: -2_147_483_648, description, 'x-expected': words }
}

const notEmpty = { minLength: 1 }

export const NewMember = closed({
  ipAddress: optional(properties.ipAddress, notEmpty),
  hostname: optional(properties.hostname, notEmpty),
  from: optional(properties.from, notEmpty),
  port: plain(properties.port),
  weight: defaulted(
    properties.weight,
    weight(1, 'Share of the answers under weighted algorithms; 0 or less is taken as 1.'),
  ),
  priority: defaulted(properties.priority),
  name: defaulted(properties.name),
  region: defaulted(properties.region),
  provider: defaulted(properties.provider),
  site: defaulted(properties.site),
  capacity: defaulted(properties.capacity),
  warmupThreshold: defaulted(properties.warmupThreshold),
  rumUrl: defaulted(properties.rumUrl),
  externalSignalMode: orEmpty(properties.externalSignalMode, defaulted),
})
export type NewMember = Static<typeof NewMember>

export const MemberChange = closed({
  weight: optional(
    properties.weight,
    weight(
      0,
      'Share of the answers under weighted algorithms; 0: none of them, and what is below 0 ' +
        'is taken as 0.',
    ),
  ),
  priority: optional(properties.priority),
  name: optional(properties.name),
  region: optional(properties.region),
  provider: optional(properties.provider),
  site: optional(properties.site),
  capacity: optional(properties.capacity),
  warmupThreshold: optional(properties.warmupThreshold),
  rumUrl: optional(properties.rumUrl),
  externalSignalMode: orEmpty(properties.externalSignalMode, optional),
  enabled: optional(properties.enabled),
})
export type MemberChange = Static<typeof MemberChange>

/** Unlike a PUT it may move the member to another address or host name. */
export const MemberPatch = mergePatchOf(
  {
    ipAddress: plain(properties.ipAddress, notEmpty),
    hostname: plain(properties.hostname, notEmpty),
    from: plain(properties.from, notEmpty),
    port: plain(properties.port),
    weight: plain(properties.weight, weight(0, '0: no share; what is below 0 is taken as 0.')),
    priority: plain(properties.priority),
    name: plain(properties.name),
    region: plain(properties.region),
    provider: plain(properties.provider),
    site: plain(properties.site),
    capacity: plain(properties.capacity),
    warmupThreshold: plain(properties.warmupThreshold),
    rumUrl: plain(properties.rumUrl),
    externalSignalMode: orEmpty(properties.externalSignalMode, plain),
    enabled: plain(properties.enabled),
  },
  ['ipAddress', 'hostname', 'from', 'port'],
)
export type MemberPatch = Static<typeof MemberPatch>

type TargetField = 'ipAddress' | 'hostname' | 'from'

export type MemberPart = MemberFields & { readonly uid: string }

export function showMember(poolId: string, member: MemberPart, view: EffectiveView) {
  const { uid, ipAddress, hostname: _hostname, from, ...fields } = member
  const named = isDiscoveredMember(member)
    ? { from }
    : isHostname(member)
      ? { hostname: targetOf(member) }
      : {}
  return {
    ...{ id: uid, poolId, ipAddress: canonical(ipAddress), ...named, ...fields },
    ...effectiveFields(view.of(poolId, member), member),
  }
}

export function effectiveFields(
  { weight, enabled, heldBy }: EffectiveMember,
  { weight: declaredWeight, enabled: declaredEnabled }: MemberPart,
) {
  return { weight, enabled, declaredWeight, declaredEnabled, heldBy }
}

/** The form of RFC 5952, as in bundles and health. */
export function canonical(ipAddress: string): string {
  return checkAddress(ipAddress).canonical ?? ipAddress
}

/** The compiler reports when several or none are set. */
function targetFields({ ipAddress, hostname, from }: Pick<NewMember, TargetField>) {
  return {
    ...(ipAddress === undefined ? {} : { ipAddress: canonical(ipAddress) }),
    ...(hostname === undefined ? {} : { hostname: hostnameKey(hostname) ?? hostname }),
    ...(from === undefined ? {} : { from }),
  }
}

/** A client that is not told would take the answer for a mistake of ours. */
function weightWarning(sent: number | null | undefined, least: 0 | 1) {
  if (typeof sent !== 'number' || sent >= least) return {}
  const text = `weight: ${sent} is taken as ${least}, the least that it may be here`
  return { warning: { code: 'weight-too-small', text } }
}

/** A weight of 0 or below becomes 1. */
export function specOfNewMember(member: NewMember): Pick<CreatePart, 'spec' | 'warning'> {
  const { ipAddress: _address, hostname: _hostname, from: _from, weight = 1, ...fields } = member
  const spec = { ...written(fields), ...targetFields(member), weight: weight <= 0 ? 1 : weight }
  const kept = withoutDefaults(spec, MemberInFile)
  return { spec: kept, ...weightWarning(member.weight, 1) }
}

/** A weight below 0 becomes 0. An address replaces a host name or a source, and so do they. */
export function patchOfMember(patch: MemberPatch): Pick<UpdatePart, 'patch' | 'warning'> {
  const { weight, ipAddress, hostname, from, ...fields } = patch
  const coerced = weight === undefined ? {} : { weight: weight && Math.max(0, weight) }
  const targets = { ipAddress, hostname, from }
  const others = Object.entries(targets).filter(([, text]) => text === undefined)
  // One replaces the others; several are told of.
  const gone = others.length === 2 ? Object.fromEntries(others.map(([name]) => [name, null])) : {}
  const moved = { ...targetFields(patch), ...gone }
  const kept = patchOf({ ...written(fields), ...coerced, ...moved }, MemberInFile)
  return { patch: kept, ...weightWarning(weight, 0) }
}

/** Empty texts stand for the default. */
function written(fields: Omit<MemberPatch, 'weight' | TargetField>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value === '' ? (defaultOf(MemberInFile, name) ?? value) : value,
    ]),
  )
}
