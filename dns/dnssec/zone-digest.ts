// Computes the digest of a whole zone, as its ZONEMD record has it. RFC 8976.
import { createHash } from 'node:crypto'
import { foldName, sameOctets } from '#dns/name.ts'
import { QClass } from '#dns/header.ts'
import { canonicalRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { canonicalKey } from '#dns/rdata-text/name-text.ts'

/** A record of the zone. */
export interface DigestedRecord {
  /** Wire form. */
  readonly owner: Uint8Array
  readonly type: number
  readonly ttlSeconds: number
  /** Names not compressed. */
  readonly rdata: Uint8Array
}

interface Line {
  /** Sorts as owners do. */
  readonly key: string
  readonly record: DigestedRecord
  readonly rdata: Uint8Array
}

/** RFC 8976 section 5.2: the records of the zone one by one, in order. */
const simpleScheme = 1
/** Section 5.3: SHA-384, which all that verify have to know. */
const sha384 = 1
/** Records that are sorted, or hashed, before other work of the thread gets a turn. */
const linesPerTurn = 2_048

/** Gathers the records of a zone in any order: all but ZONEMD of its apex, the SOA once. */
export class ZoneDigest {
  /** Each sorted. */
  readonly #runs: Line[][] = []
  #open: Line[] = []
  #owner: Uint8Array = new Uint8Array()
  #key = ''

  add(record: DigestedRecord): void {
    const { owner, type, rdata } = record
    if (!sameOctets(owner, this.#owner)) {
      this.#owner = owner
      this.#key = canonicalKey(owner)
    }
    this.#open.push({ key: this.#key, record, rdata: canonicalRdata(rdataTypeOf(type), rdata) })
    if (this.#open.length >= linesPerTurn) this.#closeRun()
  }

  #closeRun(): void {
    this.#runs.push(this.#open.sort(compareLines))
    this.#open = []
  }

  /**
   * To be called once. Between two steps other work may be done.
   *
   * @returns rdata of the ZONEMD record
   */
  *rdata(serial: number): Generator<null, Uint8Array> {
    if (this.#open.length > 0) this.#closeRun()
    while (this.#runs.length > 1) {
      const merged = yield* merge(this.#runs.shift()!, this.#runs.shift()!)
      this.#runs.push(merged)
    }
    const digest = yield* digestOf(this.#runs[0] ?? [])
    const head = Buffer.alloc(6)
    head.writeUInt32BE(serial)
    head.writeUInt8(simpleScheme, 4)
    head.writeUInt8(sha384, 5)
    return Buffer.concat([head, digest])
  }
}

/** RFC 4034 section 6.1 and 6.3, RFC 8976 section 3.3.1: by owner, type and data. */
function compareLines(one: Line, other: Line): number {
  if (one.key !== other.key) return one.key < other.key ? -1 : 1
  const types = one.record.type - other.record.type
  return types !== 0 ? types : Buffer.compare(one.rdata, other.rdata)
}

function* merge(left: readonly Line[], right: readonly Line[]): Generator<null, Line[]> {
  const merged: Line[] = []
  let at = 0
  for (const line of left) {
    while (at < right.length && compareLines(right[at]!, line) < 0) {
      merged.push(right[at++]!)
      if (merged.length % linesPerTurn === 0) yield null
    }
    merged.push(line)
    if (merged.length % linesPerTurn === 0) yield null
  }
  while (at < right.length) {
    merged.push(right[at++]!)
    if (merged.length % linesPerTurn === 0) yield null
  }
  return merged
}

/** RFC 8976 section 3.3.2: each record in canonical form, once. */
function* digestOf(lines: readonly Line[]): Generator<null, Uint8Array> {
  const hash = createHash('sha384')
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(QClass.In, 2)
  for (const [i, line] of lines.entries()) {
    if (i % linesPerTurn === linesPerTurn - 1) yield null
    if (i > 0 && compareLines(lines[i - 1]!, line) === 0) continue
    fixed.writeUInt16BE(line.record.type)
    fixed.writeUInt32BE(line.record.ttlSeconds, 4)
    fixed.writeUInt16BE(line.rdata.length, 8)
    hash.update(foldName(line.record.owner)).update(fixed).update(line.rdata)
  }
  return hash.digest()
}
