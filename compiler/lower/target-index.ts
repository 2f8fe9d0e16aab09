// Finds pools and members by name, address or uid.
import { suggest } from '#lib/suggest.ts'
import { uuidPattern } from '#lib/text/patterns.ts'
import { MemberNames, splitResource } from '#compiler/values/member-names.ts'
import { targetOf, targetText } from '#compiler/values/member-target.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import { memberUid } from '#compiler/read/identity.ts'
import type { Entry, Tree } from '#compiler/tree/tree.ts'

const uuid = new RegExp(uuidPattern)

export interface TargetFault {
  readonly code: DiagnosticCode
  readonly place: Place
  readonly args: readonly string[]
  readonly suggestion: string | undefined
}

type FoundPool =
  | { readonly ok: true; readonly entry: Entry<'Pool'> }
  /** Undefined fault: the pool may be in an unreadable file, which has its own message. */
  | { readonly ok: false; readonly fault: TargetFault | undefined }
type FoundMember =
  | { readonly ok: true; readonly position: number }
  | { readonly ok: false; readonly fault: TargetFault }
type FoundResource =
  | { readonly ok: true; readonly entry: Entry<'Pool'>; readonly position: number }
  | {
      readonly ok: false
      readonly fault: TargetFault | undefined
      readonly pool: Entry<'Pool'> | undefined
    }

/** Index of pools and members by all of their names. */
export class TargetIndex {
  readonly #tree: Tree
  /** By tenant and uid; built on demand. */
  #byUid: ReadonlyMap<string, Entry<'Pool'>> | undefined
  readonly #members = new Map<Entry<'Pool'>, MemberNames>()
  #memberByUid: ReadonlyMap<string, [entry: Entry<'Pool'>, position: number]> | undefined

  constructor(tree: Tree) {
    this.#tree = tree
  }

  /** Finds a pool by name or uid. */
  pool(tenant: string, name: string, place: Place): FoundPool {
    const { poolNamed, faulty } = this.#tree
    const pools = this.#tree.of.Pool
    const named = poolNamed.get(name)
    if (named?.tenant === tenant) return { ok: true, entry: named }
    this.#byUid ??= new Map(pools.map((entry) => [`${entry.tenant}/${entry.uid}`, entry]))
    const entry = this.#byUid.get(`${tenant}/${name.toLowerCase()}`)
    if (entry !== undefined) return { ok: true, entry }
    if (faulty.poolNames.has(`${tenant}/${name}`) || faulty.anyPool.has(tenant)) {
      return { ok: false, fault: undefined }
    }
    const own = pools.filter((pool) => pool.tenant === tenant)
    const names = own.map(({ object }) => object.metadata.name)
    // A name used by two tenants is reported where it is declared twice.
    if (names.includes(name)) return { ok: false, fault: undefined }
    const suggestion = suggest(name, names)
    const args = [name, tenant]
    return { ok: false, fault: { code: 'target-pool-unknown', place, args, suggestion } }
  }

  /** Finds a member by name, address or uid. */
  member(pool: Entry<'Pool'>, name: string, place: Place): FoundMember {
    const { members } = pool.object.spec
    const matching = this.#membersOf(pool).placesOf(name)
    if (matching.length === 1) return { ok: true, position: matching[0]! }
    const poolName = pool.object.metadata.name
    if (matching.length > 1) {
      const args = [String(matching.length), poolName, name]
      const code = 'target-member-ambiguous'
      return { ok: false, fault: { code, place, args, suggestion: undefined } }
    }
    const known = members.flatMap((member) => [member.name, targetText(member)]).filter(Boolean)
    const args = [name, poolName, known.slice(0, 5).join(', ')]
    const suggestion = suggest(name, known)
    return { ok: false, fault: { code: 'target-member-unknown', place, args, suggestion } }
  }

  #membersOf(pool: Entry<'Pool'>): MemberNames {
    let names = this.#members.get(pool)
    if (names !== undefined) return names
    names = new MemberNames(pool.object.spec.members, (uid) => {
      const [entry, position] = this.#memberOfUid(pool.tenant, uid) ?? []
      return entry === pool && position !== undefined ? position : -1
    })
    this.#members.set(pool, names)
    return names
  }

  /** Finds a pool, or a member as POOL/NAME, POOL/ADDRESS or uid. */
  resource(tenant: string, type: 'member' | 'pool', name: string, place: Place): FoundResource {
    if (type === 'pool') {
      const pool = this.pool(tenant, name, place)
      return pool.ok ? { ...pool, position: -1 } : { ...pool, pool: undefined }
    }
    const uid = uuid.test(name) ? this.#memberOfUid(tenant, name) : undefined
    if (uid !== undefined) return { ok: true, entry: uid[0], position: uid[1] }
    const [poolText, memberText] = splitResource(name)
    if (memberText === undefined) {
      const args = [name]
      const fault = { code: 'target-not-member' as const, place, args, suggestion: undefined }
      return { ok: false, fault, pool: undefined }
    }
    const pool = this.pool(tenant, poolText, place)
    if (!pool.ok) return { ...pool, pool: undefined }
    const member = this.member(pool.entry, memberText, place)
    return member.ok ? { ...member, entry: pool.entry } : { ...member, pool: pool.entry }
  }

  /** Positions of the pool's members with these uids (lower case), without unknown ones. */
  placesOf(pool: Entry<'Pool'>, uids: readonly string[]): readonly number[] {
    const wanted = new Set(uids)
    return pool.object.spec.members.flatMap((_, i) => (wanted.has(uidOf(pool, i)) ? [i] : []))
  }

  #memberOfUid(tenant: string, uid: string): [Entry<'Pool'>, number] | undefined {
    this.#memberByUid ??= new Map(
      this.#tree.of.Pool.flatMap((entry) =>
        entry.object.spec.members.map((_, i): [string, [Entry<'Pool'>, number]] => [
          `${entry.tenant}/${uidOf(entry, i)}`,
          [entry, i],
        ]),
      ),
    )
    return this.#memberByUid.get(`${tenant}/${uid.toLowerCase()}`)
  }
}

/** The uid in the file, or the derived one. */
function uidOf(pool: Entry<'Pool'>, position: number): string {
  const member = pool.object.spec.members[position]!
  return member.uid?.toLowerCase() ?? memberUid(pool.uid, targetOf(member), member.port)
}
