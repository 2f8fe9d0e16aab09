// Groups the records of an import into record sets of one zone, and reports invalid ones.
import { foldName, isAtOrBelow, nameLimits } from '#dns/name.ts'
import { printName } from '#dns/rdata-text/name-text.ts'
import { recordTypeOf } from '#compiler/values/record-sets.ts'
import { canonicalRdata } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ZoneFault } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Imported, Note } from '#import/sources/imported.ts'
import { OwnerKeys } from './owner-order.ts'
import { RecordSets } from './set-list.ts'
import type { RecordSet } from './set-list.ts'

export interface ZoneSets {
  /** Wire form in lower case. */
  readonly origin: Uint8Array
  /** Undefined where the source has none. */
  readonly soa: RecordSet | undefined
  /** All sets but the SOA. */
  readonly sets: RecordSets
  readonly notes: readonly Note[]
}

const faultsMax = 100
/** Size limit of a message, RFC 1035 section 4.2.2, and its share of header, question and OPT. */
const messageBytesMax = 65_535
const outsideOfAnswer = 12 + 4 + 11
/** Compressed owner, type, class, TTL and length. */
const recordHeaderBytes = 12

export function recordSetsOf(imported: Imported): Result<ZoneSets, readonly ZoneFault[]> {
  const zone = imported.origin ?? ownerOfSoa(imported)
  if (zone === undefined) {
    const message = 'expected a SOA record, which says the name of the zone; or give --origin NAME'
    return err([{ ...imported.placeOf(0), message }])
  }
  const origin = foldName(zone)
  const collector = new Collector(imported, origin)
  const all = collector.sets()
  if (collector.faults.length > 0) return err(collector.faults)
  const faults = faultsOfSets(all, origin)
  if (faults.length > 0) return err(faults)
  const soaAt = all.ofOwner(origin).find((i) => all.at(i).type === RrType.SOA)
  const { hidden, notes } = hiddenIn(all, origin)
  const gone = new Set(soaAt === undefined ? hidden : [soaAt, ...hidden])
  return ok({
    origin,
    soa: soaAt === undefined ? undefined : all.at(soaAt),
    sets: all.without(gone),
    notes: [...collector.notes, ...notes],
  })
}

function ownerOfSoa({ records }: Imported): Uint8Array | undefined {
  for (let index = 0; index < records.length; index++) {
    if (records.typeOf(index) === RrType.SOA) return records.ownerOf(index)
  }
  return undefined
}

/** A remark about a record. */
interface Said<What> {
  readonly index: number
  readonly what: What
}

/** Sorts remarks by the order of the file. */
const inOrder = <What>(list: readonly Said<What>[]): What[] =>
  list.toSorted((a, b) => a.index - b.index).map(({ what }) => what)

class Collector {
  readonly #imported: Imported
  readonly #origin: Uint8Array
  readonly #faults: Said<ZoneFault>[] = []
  readonly #notes: Said<Note>[] = []
  readonly #keys: OwnerKeys
  readonly #keyOf: Uint32Array

  constructor(imported: Imported, origin: Uint8Array) {
    this.#imported = imported
    this.#origin = origin
    this.#keys = new OwnerKeys(origin.length)
    this.#keyOf = new Uint32Array(imported.records.length)
  }

  get faults(): ZoneFault[] {
    return inOrder(this.#faults).slice(0, faultsMax)
  }

  get notes(): Note[] {
    return inOrder(this.#notes)
  }

  sets(): RecordSets {
    const { records, placeOf } = this.#imported
    const [keys, keyOf] = [this.#keys, this.#keyOf]
    const order = this.#ofZone()
    keys.sort(order, keyOf)
    this.#sortTypes(order)
    const starts = new Uint32Array(order.length + 1)
    const ttls = new Uint32Array(order.length)
    let [count, used] = [0, 0]
    for (let from = 0, to = 0; from < order.length; from = to) {
      to = from + 1
      while (to < order.length && this.#isOfSet(order[from]!, order[to]!)) to++
      starts[count] = used
      const set = this.#setOf(order.subarray(from, to))
      ttls[count++] = set.ttl
      // Never writes beyond what was read.
      for (const index of set.unlike) order[used++] = index
    }
    starts[count] = used
    const columns = { records, placeOf, keys, keyOf, order, starts, ttls }
    return new RecordSets(
      columns,
      new Uint32Array(count).map((_, number) => number),
    )
  }

  /** @returns the records that may belong to the zone */
  #ofZone(): Uint32Array {
    const { records } = this.#imported
    const order = new Uint32Array(records.length)
    let count = 0
    let [lastAt, owner, isInside, key] = [-1, this.#origin, true, 0]
    for (let index = 0; index < records.length; index++) {
      if (records.ownerAt(index) !== lastAt) {
        lastAt = records.ownerAt(index)
        owner = records.ownerOf(index)
        isInside = isAtOrBelow(owner, this.#origin)
        if (isInside) key = this.#keys.add(owner)
      }
      const fault = isInside ? this.#faultOf(index, owner) : this.#outside(index)
      if (fault !== undefined) {
        this.#say(index, fault)
        if (this.#faults.length >= faultsMax) break
        continue
      }
      this.#keyOf[index] = key
      order[count++] = index
    }
    return order.subarray(0, count)
  }

  #outside(index: number): string {
    const owner = this.#imported.records.ownerOf(index)
    const [name, zone] = [printName(owner), printName(this.#origin)]
    return `${name} is not in the zone ${zone}: remove the record`
  }

  #faultOf(index: number, owner: Uint8Array): string | undefined {
    const isSoa = this.#imported.records.typeOf(index) === RrType.SOA
    if (!isSoa || owner.length === this.#origin.length) return undefined
    return `a SOA record stands at ${printName(this.#origin)} alone, not at ${printName(owner)}`
  }

  /** @param order sorted by owner; afterwards records of one owner are sorted by type */
  #sortTypes(order: Uint32Array): void {
    const { records } = this.#imported
    for (let from = 0, to = 0; from < order.length; from = to) {
      let isSorted = true
      for (to = from + 1; to < order.length && this.#isOfOwner(order[from]!, order[to]!); to++) {
        isSorted &&= records.typeOf(order[to - 1]!) <= records.typeOf(order[to]!)
      }
      if (isSorted) continue
      const own = order.subarray(from, to)
      own.sort((a, b) => records.typeOf(a) - records.typeOf(b) || a - b)
    }
  }

  #isOfOwner(one: number, other: number): boolean {
    return this.#keys.compare(this.#keyOf[one]!, this.#keyOf[other]!) === 0
  }

  #isOfSet(one: number, other: number): boolean {
    const { records } = this.#imported
    return records.typeOf(one) === records.typeOf(other) && this.#isOfOwner(one, other)
  }

  /** @param indexes of the set's records */
  #setOf(indexes: Uint32Array): { readonly ttl: number; readonly unlike: Iterable<number> } {
    const { records, placeOf } = this.#imported
    const [first] = indexes
    let ttl = records.ttlOf(first!)
    if (indexes.length === 1) return { ttl, unlike: indexes }
    const type = recordTypeOf(records.typeOf(first!))
    const seen = new Map<string, number>()
    for (const index of indexes) {
      const octets = Buffer.from(canonicalRdata(type, records.rdataOf(index))).toString('latin1')
      if (!seen.has(octets)) {
        if (type.code === RrType.SOA && index !== first) {
          const { line } = placeOf(first!)
          this.#say(index, `a second SOA record; the first one is in line ${line}`)
          continue
        }
        seen.set(octets, index)
      }
      const own = records.ttlOf(index)
      if (own === ttl) continue
      const [low, high] = [Math.min(own, ttl), Math.max(own, ttl)]
      ttl = low
      const name = `${printName(foldName(records.ownerOf(index)), this.#origin)} ${type.name}`
      const all = 'for all of its records'
      const text = `${name}: TTL ${low} ${all}, some had ${high} (RFC 2181 section 5.2)`
      this.#notes.push({ index, what: { is: 'changed', place: placeOf(index), text } })
    }
    return { ttl, unlike: seen.values() }
  }

  #say(index: number, message: string): void {
    this.#faults.push({ index, what: { ...this.#imported.placeOf(index), message } })
  }
}

/** @param sets sorted, so that sets of one owner are adjacent */
function faultsOfSets(sets: RecordSets, origin: Uint8Array): ZoneFault[] {
  const faults: ZoneFault[] = []
  for (let i = 0; i < sets.length && faults.length < faultsMax; i++) {
    const set = sets.at(i)
    const message =
      tooLong(set) ?? (set.type === RrType.CNAME ? besideAlias(sets, i, origin) : undefined)
    if (message !== undefined) faults.push({ ...set.place, message })
  }
  return faults
}

function tooLong(set: RecordSet): string | undefined {
  const { type, recordCount } = set
  const bytes = recordCount * recordHeaderBytes + set.rdataBytes
  // True for nearly all sets, without reading the owner.
  if (bytes + nameLimits.bytesMax <= messageBytesMax - outsideOfAnswer) return undefined
  const { owner } = set
  const bytesMax = messageBytesMax - outsideOfAnswer - owner.length
  if (bytes <= bytesMax) return undefined
  const records = `the ${recordCount} ${recordTypeOf(type).name} records of ${printName(owner)}`
  return `${records} take ${bytes} octets, and an answer has room for ${bytesMax}: make them fewer`
}

/** The fault of a CNAME beside other records. */
function besideAlias(sets: RecordSets, index: number, origin: Uint8Array): string | undefined {
  const alias = sets.at(index)
  const { recordCount } = alias
  const name = (): string => printName(alias.owner)
  if (alias.ownerBytes === origin.length)
    return `${name()} is the zone itself and cannot be a CNAME`
  if (recordCount > 1) return `${name()} has ${recordCount} CNAME records; keep one`
  const neighbours = [index - 1, index + 1].filter((i) => i >= 0 && i < sets.length)
  const other = neighbours.map((i) => sets.at(i)).find((set) => set.hasOwnerOf(alias))
  if (other === undefined) return undefined
  const { name: otherType } = recordTypeOf(other.type)
  const where = `in line ${other.place.line}`
  return `${name()} is a CNAME and has a record of type ${otherType} ${where}, too; keep one of them`
}

/** Names that another zone answers: at a zone cut and below. RFC 1034 section 4.2.1. */
interface CutNames {
  readonly cut: RecordSet
  /** Range of their sets; descendants of a name follow it. */
  readonly from: number
  readonly to: number
}

export function* cutsIn(sets: RecordSets, origin: Uint8Array): Generator<CutNames> {
  for (let at = 0; at < sets.length; at++) {
    const cut = sets.at(at)
    if (cut.type !== RrType.NS || cut.owner.length === origin.length) continue
    const { owner } = cut
    let [from, to] = [at, at + 1]
    while (from > 0 && sets.at(from - 1).hasOwnerOf(cut)) from--
    while (to < sets.length && isAtOrBelow(sets.at(to).owner, owner)) to++
    yield { cut, from, to }
    at = to - 1
  }
}

const latin1 = (octets: Uint8Array): string => Buffer.from(foldName(octets)).toString('latin1')

/** Finds sets that a delegation hides: below a zone cut only glue belongs to the parent. */
function hiddenIn(
  sets: RecordSets,
  origin: Uint8Array,
): { readonly hidden: readonly number[]; readonly notes: readonly Note[] } {
  const servers = new Set<string>()
  for (const set of sets) {
    if (set.type === RrType.NS) for (const rdata of set.rdata) servers.add(latin1(rdata))
  }
  const notes: Note[] = []
  const hidden: number[] = []
  for (const { cut, from, to } of cutsIn(sets, origin)) {
    for (let i = from; i < to; i++) {
      const set = sets.at(i)
      const { owner, type } = set
      const isGlue = (type === RrType.A || type === RrType.AAAA) && servers.has(latin1(owner))
      const isOfCut = set.hasOwnerOf(cut) && (type === RrType.NS || type === RrType.DS)
      if (isGlue || isOfCut) continue
      const text =
        `${printName(owner, origin)} ${recordTypeOf(type).name}: ${printName(cut.owner)} is ` +
        `delegated in line ${cut.place.line}, and its own servers answer for it`
      notes.push({ is: 'left out', place: set.place, text })
      hidden.push(i)
    }
  }
  return { hidden, notes }
}
