// Finds names whose records may differ between two moments: compares columns instead of records.
import { nodeFlags, nodeNameBytes, rrsetCount, zoneOfNode } from '#bundle/format/bundle.ts'
import { findRrset, memberOctets, serviceOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { inlineNameBytes, MemberFlag, NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import { sectionNames } from '#bundle/format/format.ts'
import type { SectionName } from '#bundle/format/format.ts'
import { hostnameOfMember } from '#bundle/format/hostnames.ts'
import { rdataForms, rdataLayout, RrsetCell } from '#bundle/format/rrsets.ts'
import { isAtOrBelow, sameOctets } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { findStored } from '#bundle/load/find-node.ts'
import type { HistoryLimits } from './limits.ts'
import { zoneBeginningAt } from './name-records.ts'
import { glueOf, nameOf, zoneKeyOf, zoneName } from './zone-records.ts'
import type { ZoneContent } from './zone-source.ts'

/** Names of one zone, in the form of `zoneKeyOf`. */
class ChangedNames {
  readonly #max: number
  readonly #left: { names: number }
  readonly names = new Set<string>()
  /** More names have changed than are compared. */
  isOver = false

  /** @param left how many all zones together may have yet */
  constructor(max: number, left: { names: number }) {
    this.#max = max
    this.#left = left
  }

  add(name: Uint8Array): void {
    if (this.isOver) return
    const { size } = this.names
    this.names.add(zoneKeyOf(name))
    if (this.names.size === size) return
    this.isOver = size === this.#max || this.#left.names === 0
    if (this.isOver) this.names.clear()
    else this.#left.names--
  }
}

export type NameLimits = Pick<HistoryLimits, 'namesMax' | 'namesOfZoneMax'>

/** Names by zone, which `zoneKeyOf` names. */
type NamesByZone = ReadonlyMap<string, ChangedNames>

/**
 * @param zones each was there before
 * @returns of these zones all names whose records differ, and maybe others
 */
export function changedNames(
  before: ZoneContent,
  after: ZoneContent,
  zones: ReadonlySet<string>,
  limits: NameLimits,
): NamesByZone {
  const found = new Found(zones, limits)
  const hiding: Uint8Array[] = []
  const mains = [new Side(before.bundle, found), new Side(after.bundle, found)] as const
  new Comparison(...mains, hiding).compare()
  const sideOf = (texts: Bundle | undefined): Side | undefined =>
    texts && new Side(texts, found, mains)
  compareTexts(sideOf(before.dynamic), sideOf(after.dynamic), hiding)
  return found.byZone
}

class Found {
  readonly byZone = new Map<string, ChangedNames>()
  readonly #zones: ReadonlySet<string>
  readonly #perZone: number
  readonly #left: { names: number }

  constructor(zones: ReadonlySet<string>, { namesMax, namesOfZoneMax }: NameLimits) {
    this.#zones = zones
    this.#perZone = namesOfZoneMax
    this.#left = { names: namesMax }
  }

  /** null: no secondary asks for this zone. */
  namesOf(zone: string): ChangedNames | null {
    if (!this.#zones.has(zone)) return null
    const known = this.byZone.get(zone) ?? new ChangedNames(this.#perZone, this.#left)
    this.byZone.set(zone, known)
    return known
  }
}

/** Records that were written at run time, and those that are hidden or shown now. */
function compareTexts(
  was: Side | undefined,
  is: Side | undefined,
  hiding: readonly Uint8Array[],
): void {
  if (was !== undefined && is !== undefined) new Comparison(was, is, []).compare()
  else (was ?? is)?.markAll(() => true)
  if (hiding.length === 0) return
  const isBelow = (name: Uint8Array): boolean => hiding.some((top) => isAtOrBelow(name, top))
  was?.markAll(isBelow)
  is?.markAll(isBelow)
}

/** Flags that hide or show written records of names below. */
const hidingFlags = NodeFlag.Cut | NodeFlag.Dname | NodeFlag.Apex
/** Flags that hide or show those of the name itself. */
const shapingFlags = hidingFlags | NodeFlag.HasCname | NodeFlag.Alias

/** One of two bundles, and the names in it that are marked as changed. */
class Side {
  readonly bundle: Bundle
  readonly nodes: number
  readonly #found: Found
  readonly #mains: readonly Side[]
  /** By row in `zoneNode`; undefined: not looked for yet. */
  readonly #names: (ChangedNames | null | undefined)[]
  readonly #hasNested: boolean

  /** @param mains where static TXT records give way to those of `bundle` */
  constructor(bundle: Bundle, found: Found, mains: readonly Side[] = []) {
    this.bundle = bundle
    this.nodes = bundle.nodeRow.length / NodeCell.Words
    this.#found = found
    this.#mains = mains
    this.#names = []
    this.#hasNested = bundle.zoneParent.some((parent) => parent >= 0)
  }

  /** A zone above shows where this one begins, and addresses of its name servers. */
  mark(node: number): void {
    const { bundle } = this
    const name = nameOf(bundle, node)
    const zone = zoneOfNode(bundle, node)
    this.#namesOf(zone)?.add(name)
    for (const main of this.#mains) {
      const same = findStored(main.bundle, name, 0)
      if (same >= 0) main.mark(same)
    }
    if (!this.#hasNested) return
    this.#markAbove(zone, name)
    const isApex = (nodeFlags(bundle, node) & NodeFlag.Apex) !== 0
    const servers = isApex ? findRrset(bundle, node, RrType.NS) : -1
    if (servers < 0) return
    for (const server of glueOf(bundle, node, servers)) {
      this.#markAbove(zone, nameOf(bundle, server))
    }
  }

  #markAbove(zone: number, name: Uint8Array): void {
    const { zoneParent } = this.bundle
    for (let above = zoneParent[zone]!; above >= 0; above = zoneParent[above]!) {
      this.#namesOf(above)?.add(name)
    }
  }

  #namesOf(zone: number): ChangedNames | null {
    const known = this.#names[zone]
    if (known !== undefined) return known
    return (this.#names[zone] = this.#found.namesOf(zoneKeyOf(zoneName(this.bundle, zone))))
  }

  /** The names with records that fulfil a condition. */
  markAll(isMeant: (name: Uint8Array) => boolean): void {
    for (let node = 0; node < this.nodes; node++) {
      if (rrsetCount(this.bundle, node) === 0) continue
      if (isMeant(nameOf(this.bundle, node))) this.mark(node)
    }
  }
}

const nameSections = [
  ...(['names', 'nodeRow', 'rrsetRow', 'rrsetData', 'targetNode'] as const),
  ...(['zoneNode', 'zoneParent'] as const),
]
const poolSections = [
  ...(['poolMemberStart', 'poolCount4', 'poolCount6', 'memberPool', 'memberAddress'] as const),
  ...(['memberAddress6', 'memberFlags', 'hostnameRow', 'hostnameNames'] as const),
]

class Comparison {
  readonly #before: Side
  readonly #after: Side
  /** Gets the names at which flags have changed that hide what is below. */
  readonly #hiding: Uint8Array[]
  readonly #hasSamePools: boolean
  /** By pool of `after`: the row + 1 of one before, negative where the two differ. */
  readonly #pools: Int32Array
  /** By zone of `after`: its row before, -1 where there was none. */
  #zones = new Int32Array(0)

  constructor(before: Side, after: Side, hiding: Uint8Array[]) {
    this.#before = before
    this.#after = after
    this.#hiding = hiding
    this.#hasSamePools = hasSame(before.bundle, after.bundle, poolSections)
    this.#pools = new Int32Array(after.bundle.poolMemberStart.length)
  }

  compare(): void {
    const { bundle } = this.#after
    const other = this.#before.bundle
    if (bundle.digest === other.digest) return
    if (!hasSame(other, bundle, nameSections)) return this.#compareAll()
    if (this.#hasSamePools) return
    for (const node of bundle.serviceNode)
      if (!this.#hasSamePool(node, node)) this.#mark(node, node)
  }

  /** Names have one order in all bundles: mostly the next name here is the next one there. */
  #compareAll(): void {
    const [before, after] = [this.#before.bundle, this.#after.bundle]
    this.#zones = Int32Array.from(after.zoneNode, (apex) =>
      zoneBeginningAt(before, after.names, offsetOf(after, apex)),
    )
    const isKnown = new Uint8Array(this.#before.nodes)
    let next = 0
    for (let node = 0; node < this.#after.nodes; node++) {
      const isNext = next < isKnown.length && hasSameName(before, next, after, node)
      const other = isNext ? next : findStored(before, after.names, offsetOf(after, node))
      if (other >= 0) {
        next = other + 1
        isKnown[other] = 1
        if (this.#isSame(other, node)) continue
      }
      this.#mark(other, node)
    }
    for (let node = 0; node < isKnown.length; node++) if (isKnown[node] === 0) this.#mark(node, -1)
  }

  /**
   * @param before -1: the name is new
   * @param after -1: it is gone
   */
  #mark(before: number, after: number): void {
    if (before >= 0) this.#before.mark(before)
    if (after >= 0) this.#after.mark(after)
    const flags = before < 0 ? 0 : nodeFlags(this.#before.bundle, before)
    const now = after < 0 ? 0 : nodeFlags(this.#after.bundle, after)
    if (((flags ^ now) & hidingFlags) === 0) return
    const { bundle } = after < 0 ? this.#before : this.#after
    this.#hiding.push(nameOf(bundle, after < 0 ? before : after))
  }

  #isSame(before: number, after: number): boolean {
    const old = this.#before.bundle
    const now = this.#after.bundle
    const zone = zoneOfNode(now, after)
    if (this.#zones[zone] !== zoneOfNode(old, before)) return false
    const flags = nodeFlags(now, after)
    if (((nodeFlags(old, before) ^ flags) & shapingFlags) !== 0) return false
    const isApex = (flags & NodeFlag.Apex) !== 0
    if (isApex && !this.#hasSameParent(zoneOfNode(old, before), zone)) return false
    return this.#hasSamePool(before, after) && hasSameRrsets(old, before, now, after)
  }

  #hasSameParent(before: number, after: number): boolean {
    const parent = this.#after.bundle.zoneParent[after]!
    const was = this.#before.bundle.zoneParent[before]!
    return parent < 0 ? was < 0 : this.#zones[parent] === was
  }

  /** Whether the two show the same addresses of services. */
  #hasSamePool(before: number, after: number): boolean {
    const old = this.#before.bundle
    const now = this.#after.bundle
    const was = poolOf(old, before)
    const is = poolOf(now, after)
    if (was < 0 || is < 0) return was === is
    const ttl = (bundle: Bundle, node: number): number =>
      bundle.nodeRow[node * NodeCell.Words + NodeCell.TtlSeconds]!
    if (ttl(old, before) !== ttl(now, after)) return false
    if (this.#hasSamePools && was === is) return true
    const known = this.#pools[is]!
    if (Math.abs(known) === was + 1) return known > 0
    const isSame = hasSameMembers(old, was, now, is)
    this.#pools[is] = isSame ? was + 1 : -was - 1
    return isSame
  }
}

/** Digests of sections were compared with their octets when the bundles were loaded. */
function hasSame(before: Bundle, after: Bundle, names: readonly SectionName[]): boolean {
  return names.every((name) => {
    const at = sectionNames.indexOf(name)
    return before.manifest.sections[at]!.sha256 === after.manifest.sections[at]!.sha256
  })
}

function poolOf(bundle: Bundle, node: number): number {
  if (serviceOfNode(bundle, node) < 0) return -1
  return bundle.nodeRow[node * NodeCell.Words + NodeCell.Pool]! - 1
}

function hasSameMembers(before: Bundle, was: number, after: Bundle, is: number): boolean {
  if (before.poolCount4[was] !== after.poolCount4[is]) return false
  if (before.poolCount6[was] !== after.poolCount6[is]) return false
  const count = after.poolCount4[is]! + after.poolCount6[is]!
  const [old, now] = [before.poolMemberStart[was]!, after.poolMemberStart[is]!]
  for (let i = 0; i < count; i++) if (!isSameMember(before, old + i, after, now + i)) return false
  return true
}

const shownFlags = MemberFlag.Enabled | MemberFlag.Resolved | MemberFlag.Alias

function isSameMember(before: Bundle, was: number, after: Bundle, is: number): boolean {
  const flags = after.memberFlags[is]! & shownFlags
  if ((before.memberFlags[was]! & shownFlags) !== flags) return false
  const isShown = (flags & MemberFlag.Enabled) !== 0 && (flags & MemberFlag.Resolved) === 0
  if (!isShown) return true
  if ((flags & MemberFlag.Alias) === 0) {
    return sameOctets(memberOctets(before, was), memberOctets(after, is))
  }
  return hostnameOfMember(before, was) === hostnameOfMember(after, is)
}

function hasSameRrsets(before: Bundle, was: number, after: Bundle, is: number): boolean {
  const count = rrsetCount(after, is)
  if (rrsetCount(before, was) !== count) return false
  const { Words } = RrsetCell
  let old = before.nodeRow[was * NodeCell.Words + NodeCell.FirstRrset]! * Words
  let now = after.nodeRow[is * NodeCell.Words + NodeCell.FirstRrset]! * Words
  const oldRow = before.rrsetRow
  const nowRow = after.rrsetRow
  const { Type, TtlSeconds, Count } = RrsetCell
  for (let i = 0; i < count; i++, old += Words, now += Words) {
    if (oldRow[old + Type] !== nowRow[now + Type]) return false
    if (oldRow[old + TtlSeconds] !== nowRow[now + TtlSeconds]) return false
    if (oldRow[old + Count] !== nowRow[now + Count]) return false
    if (!hasSameData(before, old, after, now)) return false
  }
  return true
}

/** What is in records; the number of a target may be another one for the same name. */
function hasSameData(before: Bundle, old: number, after: Bundle, now: number): boolean {
  const was = before.rrsetData
  const is = after.rrsetData
  const type = after.rrsetRow[now + RrsetCell.Type]!
  const skipped = rdataForms[type]?.hasTarget === true ? rdataLayout.targetBytes : 0
  let from = before.rrsetRow[old + RrsetCell.Data]!
  let at = after.rrsetRow[now + RrsetCell.Data]!
  for (let i = after.rrsetRow[now + RrsetCell.Count]!; i > 0; i--) {
    if (was[from] !== is[at] || was[from + 1] !== is[at + 1]) return false
    const end = at + rdataLayout.lengthBytes + (is[at]! << 8) + is[at + 1]!
    const further = from - at
    for (at += rdataLayout.lengthBytes + skipped; at < end; at++) {
      if (was[at + further] !== is[at]) return false
    }
    from = end + further
  }
  return true
}

function offsetOf(bundle: Bundle, node: number): number {
  return bundle.nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!
}

function hasSameName(before: Bundle, was: number, after: Bundle, is: number): boolean {
  const bytes = nodeNameBytes(after, is)
  if (nodeNameBytes(before, was) !== bytes) return false
  if (bytes > inlineNameBytes) {
    const from = offsetOf(before, was)
    const at = offsetOf(after, is)
    for (let i = 0; i < bytes; i++) {
      if (before.names[from + i] !== after.names[at + i]) return false
    }
    return true
  }
  const old = was * NodeCell.Words
  const now = is * NodeCell.Words
  for (let word = NodeCell.Words - ((bytes + 3) >> 2); word < NodeCell.Words; word++) {
    if (before.nodeRow[old + word] !== after.nodeRow[now + word]) return false
  }
  return true
}
