// The parts of objects that have their own ids: members, geo rules and response rules.
import { checkAddress } from '#compiler/values/addresses.ts'
import { derivedUid, memberUid, responseRuleUid } from '#compiler/read/identity.ts'
import type { GeoRule } from '#schemas/objects/geo-rule.ts'
import type { Kind } from '#schemas/kinds.ts'
import type { Member } from '#schemas/objects/member.ts'
import type { ResponseRule } from '#schemas/objects/response-policy.ts'

export interface PartOf {
  readonly Member: Member
  readonly GeoRule: GeoRule
  readonly ResponseRule: ResponseRule
}
export type PartKind = keyof PartOf

interface PartSpec<K extends PartKind> {
  readonly owner: Kind
  /** Field of the owner's spec. */
  readonly list: string
  /** Of a part whose file says none: the same everywhere. `nth` counts equal ones before it. */
  readonly derive: (ownerUid: string, part: PartOf[K], nth: number) => string
}

export const partSpecs: { readonly [K in PartKind]: PartSpec<K> } = Object.freeze({
  Member: {
    owner: 'Pool',
    list: 'members',
    derive: (pool, { ipAddress, port }) =>
      memberUid(pool, checkAddress(ipAddress).canonical ?? ipAddress, port),
  },
  GeoRule: {
    owner: 'Pool',
    list: 'geoRules',
    derive: (pool, { cidr, endpoint }, nth) =>
      derivedUid('geo-rule', pool, cidr, endpoint, String(nth)),
  },
  ResponseRule: {
    owner: 'ResponsePolicy',
    list: 'rules',
    derive: (policy, { triggerType, triggerValue }) =>
      responseRuleUid(policy, triggerType, `${triggerValue.toLowerCase().replace(/\.$/, '')}.`),
  },
})

export const partKinds = Object.freeze(Object.keys(partSpecs)) as readonly PartKind[]

export function isPartKind(kind: string): kind is PartKind {
  return Object.hasOwn(partSpecs, kind)
}

export function partKindsOf(owner: Kind): readonly PartKind[] {
  return partKinds.filter((kind) => partSpecs[kind].owner === owner)
}

/** Parts as the API shows them: each with its id, lower case. */
export function withUids<K extends PartKind>(
  kind: K,
  ownerUid: string,
  parts: readonly PartOf[K][],
): (PartOf[K] & { readonly uid: string })[] {
  const seen = new Map<string, number>()
  const { derive } = partSpecs[kind]
  return parts.map((part) => {
    if (part.uid !== undefined) return { ...part, uid: part.uid.toLowerCase() }
    const first = derive(ownerUid, part, 0)
    const nth = seen.get(first) ?? 0
    seen.set(first, nth + 1)
    return { ...part, uid: nth === 0 ? first : derive(ownerUid, part, nth) }
  })
}
