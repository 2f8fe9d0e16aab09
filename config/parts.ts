// Lists the parts of objects that have their own ids: members, geo rules, response rules, exempt
// networks, record sets.
import { targetOf } from '#compiler/values/member-target.ts'
import { rrsetOf } from '#compiler/values/record-sets.ts'
import { derivedUid, memberUid, responseRuleUid, rrsetUid } from '#compiler/read/identity.ts'
import type { GeoRule } from '#schemas/objects/geo-rule.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import type { Member } from '#schemas/objects/member.ts'
import type { ExemptNetwork } from '#schemas/objects/settings.ts'
import type { RecordSet, RecordsSpec } from '#schemas/objects/records.ts'
import type { ResponseRule } from '#schemas/objects/response-policy.ts'

export interface PartOf {
  readonly Member: Member
  readonly GeoRule: GeoRule
  readonly ResponseRule: ResponseRule
  readonly ExemptNetwork: ExemptNetwork
  readonly RecordSet: RecordSet & { readonly uid?: string }
}
export type PartKind = keyof PartOf

interface PartSpec<K extends PartKind> {
  readonly owner: Kind
  /** Field of the owner's spec. */
  readonly list: string
  /** False: the name identifies the part, and files do not have its id. */
  readonly isIdWritten: boolean
  /** Present: deleting the last part deletes its owner. */
  readonly isLastTheOwner?: true
  /** Makes the id of a part whose file gives none. `nth` counts equal parts before it. */
  readonly derive: (owner: PartOwner, part: PartOf[K], nth: number) => string
}

/** The owner's fields from which ids of parts are derived. */
interface PartOwner {
  readonly uid: string
  readonly spec: ObjectOf[Kind]['spec']
}

export const partSpecs: { readonly [K in PartKind]: PartSpec<K> } = Object.freeze({
  Member: {
    owner: 'Pool',
    list: 'members',
    isIdWritten: true,
    derive: (pool, member) => memberUid(pool.uid, targetOf(member), member.port),
  },
  GeoRule: {
    owner: 'Pool',
    list: 'geoRules',
    isIdWritten: true,
    derive: (pool, { cidr, endpoint }, nth) =>
      derivedUid('geo-rule', pool.uid, cidr, endpoint, String(nth)),
  },
  ResponseRule: {
    owner: 'ResponsePolicy',
    list: 'rules',
    isIdWritten: true,
    isLastTheOwner: true,
    derive: ({ uid }, { triggerType, triggerValue }) =>
      responseRuleUid(uid, triggerType, `${triggerValue.toLowerCase().replace(/\.$/, '')}.`),
  },
  ExemptNetwork: {
    owner: 'Settings',
    list: 'rateLimitExempt',
    isIdWritten: true,
    derive: (settings, { cidr }, nth) =>
      derivedUid('exempt-network', settings.uid, cidr, String(nth)),
  },
  RecordSet: {
    owner: 'Records',
    list: 'records',
    isIdWritten: false,
    isLastTheOwner: true,
    derive: ({ spec }, { name, type }) => {
      const { zone, transfer } = spec as RecordsSpec
      const set = rrsetOf(zone, name, type)
      // People may write a record set of the same name and type, which goes before it.
      if (transfer !== undefined) return derivedUid('transferred', set.name, String(set.code))
      return rrsetUid(set.name, set.code)
    },
  },
})

export const partKinds = Object.freeze(Object.keys(partSpecs)) as readonly PartKind[]

export function isPartKind(kind: string): kind is PartKind {
  return Object.hasOwn(partSpecs, kind)
}

export function partKindsOf(owner: Kind): readonly PartKind[] {
  return partKinds.filter((kind) => partSpecs[kind].owner === owner)
}

/** Returns parts as the API shows them: each with its id, in lower case. */
export function withUids<K extends PartKind>(
  kind: K,
  owner: PartOwner,
  parts: readonly PartOf[K][],
): (PartOf[K] & { readonly uid: string })[] {
  const seen = new Map<string, number>()
  const { derive } = partSpecs[kind]
  return parts.map((part) => {
    if (part.uid !== undefined) return { ...part, uid: part.uid.toLowerCase() }
    const first = derive(owner, part, 0)
    const nth = seen.get(first) ?? 0
    seen.set(first, nth + 1)
    return { ...part, uid: nth === 0 ? first : derive(owner, part, nth) }
  })
}
