// Puts the records of an import together to record sets of one zone, and says what cannot be one.
import { foldName, isAtOrBelow } from '#dns/name.ts'
import { canonicalKey, printName } from '#dns/rdata-text/name-text.ts'
import { recordTypeOf } from '#compiler/values/record-sets.ts'
import { canonicalRdata } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ZoneFault, ZoneRecord, ZonePlace } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Imported, Note } from '#import/sources/imported.ts'

export interface ZoneSets {
  /** Wire form in lower case. */
  readonly origin: Uint8Array
  /** Undefined where the source has none. */
  readonly soa: RecordSet | undefined
  /** Sorted by owner and type, without the SOA. */
  readonly sets: readonly RecordSet[]
  readonly notes: readonly Note[]
}

const faultsMax = 100
/** A message has at most as many: RFC 1035 section 4.2.2. Header, question and OPT are in it. */
const messageBytesMax = 65_535
const outsideOfAnswer = 12 + 4 + 11
/** Compressed owner, type, class, TTL and length. */
const recordHeaderBytes = 12

export function recordSetsOf(imported: Imported): Result<ZoneSets, readonly ZoneFault[]> {
  const collector = new Collector(imported)
  if (collector.faults.length > 0) return err(collector.faults)
  const all = [...collector.sets.values()].sort((a, b) =>
    a.key === b.key ? a.type - b.type : a.key < b.key ? -1 : 1,
  )
  const faults = faultsOfSets(all, collector.origin)
  if (faults.length > 0) return err(faults)
  const soa = all.find(({ type }) => type === RrType.SOA)
  const { sets, notes } = withoutHidden(all, collector.origin)
  return ok({
    origin: collector.origin,
    soa,
    sets: sets.filter((set) => set !== soa),
    notes: [...collector.notes, ...notes],
  })
}

class Collector {
  readonly faults: ZoneFault[] = []
  readonly notes: Note[] = []
  readonly origin: Uint8Array
  readonly sets = new Map<string, RecordSet>()
  readonly #imported: Imported
  /** Canonical rdata of sets with more than a few records: looking through them would be slow. */
  readonly #seen = new Map<RecordSet, Set<string>>()

  constructor(imported: Imported) {
    this.#imported = imported
    this.origin = foldName(imported.origin ?? this.#ownerOfSoa())
    for (let index = 0; index < imported.records.length; index++) {
      if (this.faults.length >= faultsMax) break
      this.#add(imported.records.at(index), index)
    }
  }

  #ownerOfSoa(): Uint8Array {
    const { records, placeOf } = this.#imported
    for (const { type, owner } of records) if (type === RrType.SOA) return owner
    const message = 'expected a SOA record, which says the name of the zone; or give --origin NAME'
    this.faults.push({ ...placeOf(0), message })
    return new Uint8Array(1)
  }

  #add(record: ZoneRecord, index: number): void {
    const { type, ttl } = record
    const owner = foldName(record.owner)
    if (!isAtOrBelow(owner, this.origin)) {
      const [name, zone] = [printName(record.owner), printName(this.origin)]
      return this.#fault(index, `${name} is not in the zone ${zone}: remove the record`)
    }
    if (type === RrType.SOA && owner.length !== this.origin.length) {
      const zone = printName(this.origin)
      return this.#fault(index, `a SOA record stands at ${zone} alone, not at ${printName(owner)}`)
    }
    const key = `${Buffer.from(owner).toString('latin1')}\0${type}`
    const set = this.sets.get(key)
    if (set === undefined) {
      const { placeOf } = this.#imported
      const parts = { owner, key: canonicalKey(owner), type, ttl, rdata: [record.rdata] }
      this.sets.set(key, new CollectedSet(parts, placeOf, index))
      return
    }
    this.#addTo(set, record, index)
  }

  #addTo(set: RecordSet, { type, ttl, rdata }: ZoneRecord, index: number): void {
    const octets = (one: Uint8Array): string =>
      Buffer.from(canonicalRdata(recordTypeOf(type), one)).toString('latin1')
    let seen = this.#seen.get(set)
    if (seen === undefined) this.#seen.set(set, (seen = new Set(set.rdata.map(octets))))
    const text = octets(rdata)
    if (!seen.has(text)) {
      if (type === RrType.SOA) {
        const { line } = set.place
        return this.#fault(index, `a second SOA record; the first one is in line ${line}`)
      }
      seen.add(text)
      set.rdata.push(rdata)
    }
    if (ttl === set.ttl) return
    const [low, high] = [Math.min(ttl, set.ttl), Math.max(ttl, set.ttl)]
    set.ttl = low
    const name = `${printName(set.owner, this.origin)} ${recordTypeOf(type).name}`
    const records = 'for all of its records'
    const said = `${name}: TTL ${low} ${records}, some had ${high} (RFC 2181 section 5.2)`
    this.notes.push({ is: 'changed', place: this.#imported.placeOf(index), text: said })
  }

  #fault(index: number, message: string): void {
    this.faults.push({ ...this.#imported.placeOf(index), message })
  }
}

/** @param sets sorted, so that those of one owner are neighbours */
function faultsOfSets(sets: readonly RecordSet[], origin: Uint8Array): ZoneFault[] {
  const faults: ZoneFault[] = []
  for (const [i, set] of sets.entries()) {
    if (faults.length >= faultsMax) break
    const message = complaintAbout(set, sets[i - 1], sets[i + 1], origin)
    if (message !== undefined) faults.push({ ...set.place, message })
  }
  return faults
}

function complaintAbout(
  { owner, key, type, rdata }: RecordSet,
  before: RecordSet | undefined,
  after: RecordSet | undefined,
  origin: Uint8Array,
): string | undefined {
  const name = printName(owner)
  const bytes = rdata.reduce((sum, one) => sum + recordHeaderBytes + one.length, 0)
  const bytesMax = messageBytesMax - outsideOfAnswer - owner.length
  if (bytes > bytesMax) {
    const set = `the ${rdata.length} ${recordTypeOf(type).name} records of ${name}`
    return `${set} take ${bytes} octets, and an answer has room for ${bytesMax}: make them fewer`
  }
  if (type !== RrType.CNAME) return undefined
  if (owner.length === origin.length) return `${name} is the zone itself and cannot be a CNAME`
  if (rdata.length > 1) return `${name} has ${rdata.length} CNAME records; keep one`
  const other = [before, after].find((one) => one?.key === key)
  if (other === undefined) return undefined
  const { name: otherType } = recordTypeOf(other.type)
  const where = `in line ${other.place.line}`
  return `${name} is a CNAME and has a record of type ${otherType} ${where}, too; keep one of them`
}

const latin1 = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1').toLowerCase()

/**
 * Leaves out what a delegation hides: below a zone cut only glue is the parent's (RFC 1034 section
 * 4.2.1).
 *
 * @param sets sorted: what is below a name follows it
 */
function withoutHidden(
  sets: readonly RecordSet[],
  origin: Uint8Array,
): { readonly sets: readonly RecordSet[]; readonly notes: readonly Note[] } {
  const servers = new Set(
    sets.filter(({ type }) => type === RrType.NS).flatMap(({ rdata }) => rdata.map(latin1)),
  )
  const cuts = new Map(
    sets
      .filter(({ type, owner }) => type === RrType.NS && owner.length !== origin.length)
      .map((set) => [set.key, set]),
  )
  const notes: Note[] = []
  let cut: RecordSet | undefined
  const kept = sets.filter((set) => {
    if (cut === undefined || !set.key.startsWith(cut.key)) cut = cuts.get(set.key)
    if (cut === undefined) return true
    const isAtCut = set.key === cut.key
    const isGlue =
      (set.type === RrType.A || set.type === RrType.AAAA) && servers.has(latin1(set.owner))
    if (isGlue || (isAtCut && (set.type === RrType.NS || set.type === RrType.DS))) return true
    const name = `${printName(set.owner, origin)} ${recordTypeOf(set.type).name}`
    const text =
      `${name}: ${printName(cut.owner)} is delegated in line ${cut.place.line}, and its own ` +
      'servers answer for it'
    notes.push({ is: 'left out', place: set.place, text })
    return false
  })
  return { sets: kept, notes }
}

/** A record set of an import: all records of one owner and type. RFC 2181 section 5. */
export interface RecordSet {
  /** Wire form in lower case. */
  readonly owner: Uint8Array
  /** Sorts owners as RFC 4034 section 6.1 does. */
  readonly key: string
  readonly type: number
  /** The lowest of its records. */
  ttl: number
  /** Each once, in the order of the file. */
  readonly rdata: Uint8Array[]
  /** Where its first record is written. */
  readonly place: ZonePlace
}

/** Its place is looked for when it is asked for. */
class CollectedSet implements RecordSet {
  readonly owner: Uint8Array
  readonly key: string
  readonly type: number
  ttl: number
  readonly rdata: Uint8Array[]
  readonly #placeOf: Imported['placeOf']
  readonly #index: number

  constructor(
    { owner, key, type, ttl, rdata }: Omit<RecordSet, 'place'>,
    placeOf: Imported['placeOf'],
    index: number,
  ) {
    this.owner = owner
    this.key = key
    this.type = type
    this.ttl = ttl
    this.rdata = rdata
    this.#placeOf = placeOf
    this.#index = index
  }

  get place(): ZonePlace {
    return this.#placeOf(this.#index)
  }
}
