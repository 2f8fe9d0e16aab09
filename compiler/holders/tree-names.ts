// The names of one tree, in the form in which the rule about holders queries them.
import { placeIn, valueIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, Tree } from '#compiler/tree/tree.ts'
import { checkHostName } from '#compiler/values/names.ts'
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import { isTransferred } from '#compiler/lower/inbound-records.ts'
import { heldName, layerOf, mayOverlap } from './name-holder.ts'
import type { HeldNames, NameClaim } from './name-holder.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { RedirectPlan } from '#compiler/lower/redirect-plan.ts'
import type { ZonePlan } from '#compiler/lower/zone-plan.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'

export interface TreeClaim extends NameClaim {
  readonly kind: 'service' | 'records' | 'redirect'
  /** As declared, in lower case with the final dot. */
  readonly name: string
  readonly entry: Entry
  /** The position of a record set in its file. */
  readonly index?: number
  /** The type of the record set. */
  readonly type?: number
}

export interface TreeNames extends HeldNames<TreeClaim> {
  /** All claims to judge, except services for which `isAlone` is true. */
  readonly claims: () => Iterable<TreeClaim>
  /** Whether a service is the only claim at its name and the name acts for no other. */
  readonly isAlone: (service: Entry<'Service'>) => boolean
  readonly domains: ReadonlyMap<string, Entry<'DelegatedDomain'>>
}

interface NamePlans {
  readonly tree: Tree
  readonly zones: ZonePlan
  readonly records: RecordPlan
  readonly redirects: RedirectPlan
}

/** Services come from the tree's own map, which is kept between trees. */
export function treeNames({ tree, zones, records, redirects }: NamePlans): TreeNames {
  const domains = new Map<string, Entry<'DelegatedDomain'>>()
  for (const entry of tree.of.DelegatedDomain) {
    const { key } = checkHostName(entry.object.spec.domain)
    if (key !== undefined && !domains.has(heldName(key))) domains.set(heldName(key), entry)
  }
  const ofRecords = recordClaims(records, tree)
  const others = otherClaims(tree, redirects)
  const { zones: planned, declaredAt } = zones
  const isAlone = ({ file: { domainKey: key = '' }, object }: Entry<'Service'>): boolean =>
    !speaks(key) &&
    object.metadata.overlap !== true &&
    !others.has(key) &&
    !ofRecords.has(key) &&
    !declaredAt.has(key) &&
    !domains.has(key)
  return {
    domains,
    isOwned: tree.settings?.object.spec.names === 'owned',
    domainAt: (name) => domains.get(name)?.tenant,
    zoneAt: (name) => {
      const position = declaredAt.get(name)
      return position === undefined ? undefined : planned[position]
    },
    claimsAt: (name) => {
      const service = tree.serviceAt.get(name)
      const found = [...(ofRecords.get(name) ?? none), ...(others.get(name) ?? none)]
      if (service !== undefined && !isFree(service)) found.unshift(serviceClaim(service, name))
      return found
    },
    isAlone,
    *claims() {
      for (const entry of tree.of.Service) {
        const { domainKey } = entry.file
        if (domainKey === undefined || isFree(entry) || isAlone(entry)) continue
        yield serviceClaim(entry, domainKey)
      }
      // What comes in is laid under names of others. It holds its own names against them.
      for (const list of ofRecords.values()) yield* list.filter(({ layer }) => layer !== 'under')
      for (const { model, entry } of redirects.redirects) {
        if (!isFree(entry)) yield redirectClaim(entry, model)
      }
    },
  }
}

/** Whether the holder of a name may be decided by another name. */
const speaks = (name: string): boolean => name.startsWith('*') || name.includes('_')

const none: readonly TreeClaim[] = []

const isFree = ({ tenant, object }: Entry): boolean => mayOverlap(tenant, object.metadata)

function serviceClaim(entry: Entry<'Service'>, name: string): TreeClaim {
  const layer = layerOf('Service', { isTransferred: false, isItself: heldName(name) === name })
  return { tenant: entry.tenant, isPlainRecord: false, layer, kind: 'service', name, entry }
}

function redirectClaim(
  entry: Entry<'Redirect'>,
  { host, isWildcard }: { readonly host: string; readonly isWildcard: boolean },
): TreeClaim {
  const name = isWildcard ? `*.${host}` : host
  const { tenant } = entry
  return { tenant, isPlainRecord: false, layer: 'beside', kind: 'redirect', name, entry }
}

type ClaimsByName = Map<string, TreeClaim[]>

function addTo(found: ClaimsByName, claim: TreeClaim): void {
  getOrInsert(found, heldName(claim.name), () => []).push(claim)
}

const ofPlan = new WeakMap<RecordPlan, ClaimsByName>()

/** Cached: most commits change no record. */
function recordClaims(plan: RecordPlan, tree: Tree): ClaimsByName {
  const known = ofPlan.get(plan)
  if (known !== undefined) return known
  const found: ClaimsByName = new Map()
  const add = (entry: Entry<'Records'>, name: string, index: number, type: number): void => {
    const isItself = heldName(name) === name
    const layer = layerOf('Records', { isTransferred: isTransferred(entry), isItself })
    const isPlainRecord = !name.startsWith('*.')
    const { tenant } = entry
    addTo(found, { tenant, isPlainRecord, layer, kind: 'records', name, entry, index, type })
  }
  for (const { entry, index, model } of plan.rrsets) {
    if (!isFree(entry) && !isTransferred(entry)) add(entry, model.name, index, model.type)
  }
  // All of them, as the API counts them: those that give way or have expired may be back at once.
  for (const entry of tree.of.Records) {
    if (isFree(entry) || !isTransferred(entry)) continue
    const { rrsets } = readRecords(entry.object.spec)
    for (const { name, index, type } of rrsets) add(entry, name, index, type.code)
  }
  ofPlan.set(plan, found)
  return found
}

/** Redirects, and services whose names act for others. */
function otherClaims(tree: Tree, redirects: RedirectPlan): ClaimsByName {
  const found: ClaimsByName = new Map()
  for (const entry of tree.of.Service) {
    const { domainKey: key } = entry.file
    if (key === undefined || !speaks(key) || isFree(entry)) continue
    if (heldName(key) !== key) addTo(found, serviceClaim(entry, key))
  }
  for (const { model, entry } of redirects.redirects) {
    if (!isFree(entry)) addTo(found, redirectClaim(entry, model))
  }
  return found
}

export function placeOfClaim({ kind, entry, index }: TreeClaim): EntryPlace {
  if (kind === 'records') return placeIn(entry, recordPlace(index ?? 0, 'name'))
  return valueIn(entry, 'spec', kind === 'service' ? 'domain' : 'sourceFqdn')
}
