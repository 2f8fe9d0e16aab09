// Defines the JSON of unused objects: those that no query has touched, and TTLs that do not fit.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { visibleTenant } from '#access/caller.ts'
import type { Caller } from '#access/caller.ts'
import { checkHostPattern, checkName } from '#compiler/values/names.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { Kind } from '#schemas/kinds.ts'
import type { Member } from '#schemas/objects/member.ts'
import type { ObjectUse, UseRecord } from '#state/ports/object-use.ts'
import { recordRows } from '#api/resources/record.ts'
import { unixSeconds } from '#http/shapes.ts'

const Unix = Type.Union([Type.Integer(), Type.Null()])

export const UnusedObject = Type.Object(
  {
    kind: Type.String({ description: 'name, member, response-rule or redirect' }),
    id: Type.String({ description: 'Of the service, record set, member, rule or redirect' }),
    name: Type.String(),
    tenant: Type.String({ description: 'Empty: of no tenant' }),
    path: Type.String({ description: 'Of its file in the repository' }),
    seenSince: Type.Integer({ description: 'In the configuration since then, Unix seconds' }),
    lastUsed: Type.Union([Type.Integer(), Type.Null()], {
      description: 'To the day, Unix seconds; null: not since `seenSince`',
    }),
    note: Type.String({
      description:
        'What explains it: `disabled`, `weight 0`, `standby` (a member that others are ' +
        'preferred to), or empty',
    }),
  },
  { title: 'UnusedObject' },
)
export type UnusedObject = Static<typeof UnusedObject>

export const TtlAdvice = Type.Object(
  {
    id: Type.String({ description: 'Of the service' }),
    name: Type.String(),
    tenant: Type.String(),
    path: Type.String(),
    ttl: Type.Integer(),
    advisedTtl: Type.Integer(),
    healthChanges: Type.Integer({ description: 'Of members of its pool' }),
    commits: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Those that changed it or its pool; null: not counted',
    }),
  },
  { title: 'TtlAdvice' },
)
export type TtlAdvice = Static<typeof TtlAdvice>

export const Unused = Type.Object(
  {
    days: Type.Integer(),
    from: Type.Integer({ description: 'Of the window, Unix seconds' }),
    countedSince: Unix,
    isWhole: Type.Boolean({
      description: 'All nodes have counted for the whole window; else nothing is called unused',
    }),
    unknown: Type.Array(Type.Object({ what: Type.String(), reason: Type.String() })),
    used: Type.Integer({ description: 'Objects that were used in the window' }),
    unused: Type.Array(UnusedObject),
    unusedLeftOut: Type.Integer({ description: 'More than are listed' }),
    ttls: Type.Array(TtlAdvice),
  },
  { title: 'Unused' },
)
export type Unused = Static<typeof Unused>

/** An object that may be unused. */
export interface Candidate {
  readonly kind: 'name' | 'member' | 'response-rule' | 'redirect'
  /** Key in the store. */
  readonly key: string
  readonly id: string
  readonly name: string
  readonly note: string
  readonly owner: ConfigEntry
}

/** Objects that the caller may see, each name once. */
export function* candidates(snapshot: ConfigSnapshot, caller: Caller): Generator<Candidate> {
  const tenant = visibleTenant(caller)
  const own = <K extends Kind>(kind: K): readonly ConfigEntry<K>[] =>
    snapshot.list(kind).filter((one) => tenant === null || one.tenant === tenant)
  const names = new Set<string>()
  for (const owner of own('Service')) {
    const name = checkName(owner.object.spec.domain, true).key ?? owner.object.spec.domain
    names.add(name)
    yield { kind: 'name', key: `name ${name}`, id: owner.uid, name, note: '', owner }
  }
  for (const { name, uid, owner } of recordRows(own('Records'))) {
    if (names.has(name)) continue
    names.add(name)
    yield { kind: 'name', key: `name ${name}`, id: uid, name, note: '', owner }
  }
  for (const owner of own('Pool')) yield* membersOf(owner)
  for (const owner of own('Redirect')) {
    const { sourceFqdn } = owner.object.spec
    const name = checkHostPattern(sourceFqdn).key ?? sourceFqdn
    yield { kind: 'redirect', key: `rule ${owner.uid}`, id: owner.uid, name, note: '', owner }
  }
  if (tenant !== null) return
  for (const owner of snapshot.list('ResponsePolicy')) {
    for (const { uid, triggerType, triggerValue } of partsIn('ResponseRule', owner)) {
      const name = `${triggerType} ${triggerValue}`
      yield { kind: 'response-rule', key: `rule ${uid}`, id: uid, name, note: '', owner }
    }
  }
}

function* membersOf(owner: ConfigEntry<'Pool'>): Generator<Candidate> {
  const members = partsIn('Member', owner)
  const first = Math.min(...members.filter(({ enabled }) => enabled).map(rankOf))
  for (const member of members) {
    const { uid, hostname, ipAddress } = member
    const name = `${owner.name}/${hostname === '' ? ipAddress : hostname}`
    const note = noteOf(member, first)
    yield { kind: 'member', key: `member ${uid}`, id: uid, name, note, owner }
  }
}

/** 0 means unset, and comes last. */
const rankOf = ({ priority }: Pick<Member, 'priority'>): number =>
  priority === 0 ? Infinity : priority

function noteOf(member: Member, first: number): string {
  if (!member.enabled) return 'disabled'
  if (member.weight === 0) return 'weight 0'
  return rankOf(member) > first ? 'standby' : ''
}

/** @returns null: it was used in the window, or did not exist for all of it */
export function unusedSince(
  candidate: Candidate,
  { objects }: Pick<UseRecord, 'objects'>,
  fromMs: number,
): UnusedObject | null {
  const use = objects.get(candidate.key)
  if (use === undefined || !isUnused(use, fromMs)) return null
  const { kind, id, name, note, owner } = candidate
  return {
    ...{ kind, id, name, note, tenant: owner.tenant, path: owner.path },
    seenSince: unixSeconds(use.seenMs),
    lastUsed: use.usedMs === null ? null : unixSeconds(use.usedMs),
  }
}

const isUnused = ({ seenMs, usedMs }: ObjectUse, fromMs: number): boolean =>
  seenMs <= fromMs && (usedMs === null || usedMs < fromMs)
