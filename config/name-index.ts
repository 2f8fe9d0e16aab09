// Indexes the names that tenants have, and updates the index with each change. Finding the owner of
// a name costs a step for each of its labels, however many names there are.
import { checkHostName, checkHostPattern } from '#compiler/values/names.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { heldName, layerOf, mayOverlap } from '#compiler/holders/name-holder.ts'
import type { ClaimLayer, NameClaim } from '#compiler/holders/name-holder.ts'
import { readRecords } from '#compiler/values/record-sets.ts'
import { isNaming, kinds } from '#schemas/kinds.ts'
import { BucketMap } from '#lib/sequence/bucket-map.ts'
import type { ConfigEntry } from './entry.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'

/** A name of an object. */
export interface EntryName {
  /** The declared name: lower case, presentation form, final dot. */
  readonly name: string
  /** The name that decides about the owner. */
  readonly held: string
  readonly isPlainRecord: boolean
  readonly layer: ClaimLayer
}

/** Lists the names of an object; objects of other kinds than `namingKinds` have none. */
export function namesOf(entry: ConfigEntry): readonly EntryName[] {
  const { kind } = entry
  const isTransferred = isTransferEntry(entry)
  return declaredNames(entry).map((name) => {
    const held = heldName(name)
    const layer = layerOf(kind, { isTransferred, isItself: name === held })
    return { name, held, isPlainRecord: kind === 'Records' && !name.startsWith('*.'), layer }
  })
}

/** Whether a file of records came by zone transfer. */
export function isTransferEntry({ kind, object }: ConfigEntry): boolean {
  if (kind !== 'Records') return false
  return (object as ConfigEntry<'Records'>['object']).spec.transfer !== undefined
}

function declaredNames(entry: ConfigEntry): readonly string[] {
  const { kind, object } = entry
  if (kind === 'Records') {
    const { rrsets } = readRecords((object as ConfigEntry<'Records'>['object']).spec)
    return [...new Set(rrsets.map(({ name }) => name))]
  }
  const { takesName: field = '' } = kinds[kind]
  const text = (object.spec as unknown as Readonly<Partial<Record<string, string>>>)[field]
  if (text === undefined) return []
  // Nearly all names are plain, and there may be a million.
  if (text.length < plainMax && plain.test(text)) return [text]
  const { key } = kind === 'DelegatedDomain' ? checkHostName(text) : checkHostPattern(text)
  return key === undefined ? [] : [key]
}

const plain = /^(?:[a-z0-9-]{1,63}\.)+$/
const plainMax = 250

interface Place {
  /** Claims at the name, without duplicates. */
  readonly claims: readonly NameClaim[]
  /** Count of each claim: a name may have many records. */
  readonly counts: readonly number[]
  /** Tenants of delegated domains; the first one decides. */
  readonly domains: readonly string[]
}

const nothing: Place = Object.freeze({ claims: [], counts: [], domains: [] })

export class NameIndex {
  static readonly empty = new NameIndex(BucketMap.empty(), BucketMap.empty())

  readonly #places: BucketMap<Place>
  /**
   * Count of claims below a name: of all tenants by `NAME`, of one by `TENANT NAME`. Neither part
   * contains a space.
   */
  readonly #below: BucketMap<number>

  private constructor(places: BucketMap<Place>, below: BucketMap<number>) {
    this.#places = places
    this.#below = below
  }

  claimsAt(name: string): readonly NameClaim[] {
    return (this.#places.get(name) ?? nothing).claims
  }

  domainAt(name: string): string | undefined {
    return this.#places.get(name)?.domains[0]
  }

  hasOthersBelow(tenant: string, name: string): boolean {
    return (this.#below.get(name) ?? 0) > (this.#below.get(`${tenant} ${name}`) ?? 0)
  }

  with(gone: Iterable<ConfigEntry>, come: Iterable<ConfigEntry>): NameIndex {
    const places = new Map<string, Place>()
    const below = new Map<string, number>()
    /** Grouped by tenant, then by parent: most names of a tenant share their parents. */
    const parents = new Map<string, Map<string, number>>()
    const count = (key: string, step: number): void => {
      below.set(key, (below.get(key) ?? this.#below.get(key) ?? 0) + step)
    }
    const change = (entry: ConfigEntry, step: 1 | -1): void => {
      const { tenant, kind, object } = entry
      if (!isNaming(kind)) return
      // A domain marked as overlapping still gives its rights.
      if (kind !== 'DelegatedDomain' && mayOverlap(tenant, object.metadata)) return
      for (const { held, isPlainRecord, layer } of namesOf(entry)) {
        const place = places.get(held) ?? this.#places.get(held) ?? nothing
        const isDomain = kind === 'DelegatedDomain'
        const claim = claimOf(tenant, isPlainRecord, layer)
        places.set(held, isDomain ? ofDomain(place, tenant, step) : ofClaim(place, claim, step))
        // What comes in is laid under names of others: it is in nobody's way from below.
        if (layer === 'under') continue
        const parent = parentOf(held)
        const own = getOrInsert(parents, tenant, () => new Map())
        own.set(parent, (own.get(parent) ?? 0) + step)
      }
    }
    for (const entry of gone) change(entry, -1)
    for (const entry of come) change(entry, 1)
    if (places.size === 0) return this
    for (const [tenant, own] of parents) {
      for (const [parent, step] of own) {
        if (parent === '' || step === 0) continue
        for (const outer of [parent, ...enclosingNames(parent)]) {
          count(outer, step)
          count(`${tenant} ${outer}`, step)
        }
      }
    }
    const isLeft = ({ claims, domains }: Place): boolean => claims.length + domains.length > 0
    return new NameIndex(
      this.#places.with(Array.from(places, ([key, at]) => [key, isLeft(at) ? at : undefined])),
      this.#below.with(Array.from(below, ([key, n]) => [key, n > 0 ? n : undefined])),
    )
  }
}

/** Returns the parent of a name; '': none. */
function parentOf(name: string): string {
  if (!name.includes('\\')) return name.slice(name.indexOf('.') + 1)
  const [parent = ''] = enclosingNames(name)
  return parent
}

function ofDomain(place: Place, tenant: string, step: 1 | -1): Place {
  const { domains } = place
  const at = domains.indexOf(tenant)
  if (step === 1) return { ...place, domains: [...domains, tenant] }
  return at === -1 ? place : { ...place, domains: domains.toSpliced(at, 1) }
}

function ofClaim(place: Place, claim: NameClaim, step: 1 | -1): Place {
  const { claims: before, counts } = place
  const at = before.indexOf(claim)
  const count = (counts[at] ?? 0) + step
  if (place === nothing) return ofOne(claim)
  if (at === -1) return { ...place, claims: [...before, claim], counts: [...counts, count] }
  return count === 0
    ? { ...place, claims: before.toSpliced(at, 1), counts: counts.toSpliced(at, 1) }
    : { ...place, counts: counts.with(at, count) }
}

const ofOnes = new Map<NameClaim, Place>()

/** Returns a shared object for a name with one claim, as most have. */
function ofOne(claim: NameClaim): Place {
  let place = ofOnes.get(claim)
  if (place === undefined) {
    place = Object.freeze({ claims: [claim], counts: [1], domains: [] })
    ofOnes.set(claim, place)
  }
  return place
}

const claims = new Map<string, NameClaim>()

/** Returns a shared object for equal claims: there may be a million. */
function claimOf(tenant: string, isPlainRecord: boolean, layer: ClaimLayer): NameClaim {
  const key = `${layer} ${isPlainRecord} ${tenant}`
  let claim = claims.get(key)
  if (claim === undefined)
    claims.set(key, (claim = Object.freeze({ tenant, isPlainRecord, layer })))
  return claim
}
