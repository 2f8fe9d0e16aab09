// Compares a zone with what its target has: which records are to be written, which are of others
// and stay. Records count as ours by what was pushed before, never by their looks.
import { createHash } from 'node:crypto'
import { recordKey, setKey, sorted } from './record-sets.ts'
import type { RecordSet } from './record-sets.ts'
import { ttlChangeKey, ttlChangesOf } from './push-target.ts'
import type { SetChange, ThereSet } from './push-target.ts'

export interface Noted {
  readonly owner: string
  readonly type: string
  readonly why: string
}

interface ForeignSet {
  readonly owner: string
  readonly type: string
  readonly values: readonly string[]
}

export interface PushPlan {
  readonly changes: readonly SetChange[]
  /** Records that are neither ours nor wanted; they stay. */
  readonly foreign: readonly ForeignSet[]
  /** Sets that cannot be written: something of others is in the way, or they are not taken. */
  readonly conflicts: readonly Noted[]
  /** Keys of changes that the target has taken once, and not made. */
  readonly notTaken: readonly string[]
  /** Wanted sets that the target cannot have. */
  readonly skipped: readonly Noted[]
  readonly adds: number
  /** Records that go without another one in their set. */
  readonly deletes: number
  /** Records that are there, and get another TTL. */
  readonly ttlChanges: number
  /** Records of ours that somebody else took away there. */
  readonly missing: number
  /** Records that are there as they are wanted. */
  readonly same: number
  /** Wanted ones among those that are there, and do not count as ours. */
  readonly adoptable: readonly string[]
  /** Names the changes: another one where any of them is another. */
  readonly digest: string
}

export interface PlanInput {
  /** Absolute, in lower case. */
  readonly zone: string
  readonly wanted: readonly RecordSet[]
  readonly skipped: readonly Noted[]
  readonly there: readonly ThereSet[]
  /** Keys of records that were pushed there, see `recordKey`. */
  readonly owned: ReadonlySet<string>
  /** True: NS records at the apex are pushed, too. */
  readonly hasApexNs: boolean
  /** Keys of changes that the target has taken, see `ttlChangeKey`; left out: none. */
  readonly taken?: ReadonlySet<string>
}

/** Records that a server makes itself, at any name. */
const madeByServers: ReadonlySet<string> = new Set([
  ...['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'DNSKEY', 'CDS', 'CDNSKEY', 'ZONEMD'],
  // BIND's and Knot's own notes on signing.
  ...['TYPE65533', 'TYPE65534', 'TYPE65535'],
])
/** Types that a CNAME record may stand beside. RFC 4034 sections 2.1 and 3. */
const besideCname = /^(RRSIG|NSEC|NSEC3)$/

/** A set that neither is pushed nor counts as drift. */
function isOutside(
  { owner, type }: Pick<RecordSet, 'owner' | 'type'>,
  zone: string,
  hasApexNs: boolean,
): boolean {
  if (madeByServers.has(type)) return true
  return owner === zone && (type === 'DS' || (type === 'NS' && !hasApexNs))
}

export function planOf(input: PlanInput): PushPlan {
  const isApexNs = ({ owner, type }: RecordSet): boolean => owner === input.zone && type === 'NS'
  // No zone is without name servers: where none are wanted, those that are there stay.
  const hasApexNs = input.hasApexNs && input.wanted.some(isApexNs)
  const isMeant = (set: RecordSet): boolean => !isOutside(set, input.zone, hasApexNs)
  const wanted = byKey(input.wanted.filter(isMeant))
  const there = byKey(input.there.filter(isMeant))
  const kept: { -readonly [K in 'missing' | 'same']: number } = { missing: 0, same: 0 }
  const [foreign, conflicts, adoptable]: [ForeignSet[], Noted[], string[]] = [[], [], []]
  const changes: SetChange[] = []
  const stays: ThereSet[] = []
  for (const key of new Set([...wanted.keys(), ...there.keys()])) {
    const [want, is] = [wanted.get(key), there.get(key)]
    const { owner, type } = (want ?? is)!
    const parted = partsOf(want, is, input.owned)
    if (is?.closed !== undefined) {
      stays.push(is)
      if (want === undefined) foreign.push({ owner, type, values: is.values })
      else conflicts.push({ owner, type, why: is.closed })
      continue
    }
    if (parted.foreign.length > 0) {
      foreign.push({ owner, type, values: parted.foreign })
      stays.push({ ...is!, values: parted.foreign })
    }
    const isOther = type === 'CNAME' && want !== undefined && parted.foreign.length > 0
    if (isOther) {
      conflicts.push({ owner, type, why: `it is a CNAME of others, ${parted.foreign.join(', ')}` })
      continue
    }
    kept.missing += parted.missing
    kept.same += parted.same.length
    adoptable.push(...parted.adoptable)
    const change = changeOf({ owner, type }, want, is, parted)
    if (change !== null) changes.push(change)
  }
  const blocked = blockedOwners(changes, stays)
  for (const { owner, type } of changes.filter((one) => blocked.has(one.owner))) {
    conflicts.push({ owner, type, why: blocked.get(owner)! })
  }
  const open = changes.filter(({ owner }) => !blocked.has(owner))
  const isTaken = (change: SetChange): boolean =>
    input.taken?.has(ttlChangeKey(change) ?? '') === true
  const [notTaken, done] = [open.filter(isTaken), inOrder(open.filter((one) => !isTaken(one)))]
  conflicts.push(...notTaken.map(notTakenNote))
  const ttlChanges = sumOf(done, ttlChangesOf)
  return {
    ...{ changes: done, foreign: inOrder(foreign), conflicts: inOrder(conflicts) },
    notTaken: notTaken.flatMap((one) => ttlChangeKey(one) ?? []),
    ...{ skipped: inOrder(input.skipped), ...kept, adoptable },
    ...{ ttlChanges, same: kept.same - ttlChanges - sumOf(notTaken, ttlChangesOf) },
    adds: sumOf(done, ({ adds }) => adds.length),
    deletes: sumOf(done, ({ adds, deletes }) => Math.max(0, deletes.length - adds.length)),
    digest: digestOf(done),
  }
}

function notTakenNote({ owner, type, before, after }: SetChange): Noted {
  const why = `not taken: it keeps the TTL ${before?.ttlSeconds}, and ${after.ttlSeconds} was sent`
  return { owner, type, why }
}

interface Parts {
  readonly same: readonly string[]
  readonly adds: readonly string[]
  readonly deletes: readonly string[]
  readonly foreign: readonly string[]
  readonly adoptable: readonly string[]
  readonly missing: number
}

function partsOf(
  want: RecordSet | undefined,
  is: ThereSet | undefined,
  owned: ReadonlySet<string>,
): Parts {
  const set = (want ?? is)!
  const wanted = new Set(want?.values ?? [])
  const there = new Set(is?.values ?? [])
  const isOurs = (value: string): boolean => owned.has(recordKey(set, value))
  const adds = [...wanted].filter((value) => !there.has(value))
  const others = [...there].filter((value) => !wanted.has(value))
  const same = [...wanted].filter((value) => there.has(value))
  return {
    ...{ same, adds },
    deletes: others.filter(isOurs),
    foreign: others.filter((value) => !isOurs(value)),
    adoptable: same.filter((value) => !isOurs(value)).map((value) => recordKey(set, value)),
    missing: adds.filter(isOurs).length,
  }
}

/** @returns null: there is nothing to do */
function changeOf(
  { owner, type }: Pick<RecordSet, 'owner' | 'type'>,
  want: RecordSet | undefined,
  is: ThereSet | undefined,
  { same, adds, deletes, foreign, adoptable }: Parts,
): SetChange | null {
  // A set has one TTL (RFC 2181 section 5.2): where somebody else has a part in it, it stays.
  const isShared = foreign.length > 0 || adoptable.length > 0
  const ttlSeconds = (isShared || want === undefined ? is?.ttlSeconds : want.ttlSeconds) ?? 0
  const isSameTtl = is === undefined || same.length === 0 || ttlSeconds === is.ttlSeconds
  if (adds.length === 0 && deletes.length === 0 && isSameTtl) return null
  const values = sorted([...(want?.values ?? []), ...foreign])
  return { owner, type, before: is, after: { owner, type, ttlSeconds, values }, adds, deletes }
}

/**
 * Names at which a CNAME record and others would stand beside each other, since one of the two is
 * not ours. Nothing changes there: half of the change could be worse than none.
 */
function blockedOwners(
  changes: readonly SetChange[],
  stays: readonly ThereSet[],
): ReadonlyMap<string, string> {
  const blocked = new Map<string, string>()
  const staying = Map.groupBy(stays, ({ owner }) => owner)
  for (const { owner, type, adds } of changes) {
    if (adds.length === 0) continue
    const inTheWay = (staying.get(owner) ?? []).find(
      (one) =>
        one.type !== type &&
        (type === 'CNAME' || one.type === 'CNAME') &&
        !besideCname.test(one.type),
    )
    if (inTheWay !== undefined) {
      blocked.set(owner, `${inTheWay.type} records of others are at this name`)
    }
  }
  return blocked
}

const byKey = <Set extends RecordSet>(sets: readonly Set[]): ReadonlyMap<string, Set> =>
  new Map(sets.map((set) => [setKey(set), set]))

const sumOf = (changes: readonly SetChange[], count: (one: SetChange) => number): number =>
  changes.reduce((sum, change) => sum + count(change), 0)

function inOrder<One extends { readonly owner: string; readonly type: string }>(
  ones: readonly One[],
): readonly One[] {
  // BIND drops DS records that come in a message before that of their NS records.
  const keyed = ones.map((one) => ({ one, key: setKey(one).replace(/ DS$/, ' NS DS') }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1))
  return keyed.map(({ one }) => one)
}

function digestOf(changes: readonly SetChange[]): string {
  const hash = createHash('sha256')
  for (const { after, adds, deletes } of changes) {
    const { owner, type, ttlSeconds } = after
    hash.update(`${JSON.stringify([owner, type, ttlSeconds, adds, deletes])}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}
