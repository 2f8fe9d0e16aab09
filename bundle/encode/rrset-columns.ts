// Encodes rrsets: the rows of each node, and rdata in the form from which answers are written.
import { foldName, formatName, nameLimits } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import type { SoaModel } from '#bundle/format/model.ts'
import { formBits, glueBit, rdataForms, rdataLayout, RrsetCell } from '#bundle/format/rrsets.ts'
import type { RdataForm } from '#bundle/format/rrsets.ts'
import type { NameTable, NodeRrset } from './name-table.ts'
import { isInZone, RecordPool, wireOf } from './record-pool.ts'

const rowBytes = RrsetCell.Words * 4

/**
 * Gives each node its rows.
 *
 * @param order the nodes of `table` in their final order: the octets depend on it
 * @param apexes wire names of the zones of the model
 */
export function rrsetColumns(table: NameTable, order: Uint32Array, apexes: readonly Uint8Array[]) {
  const targets = new Targets(table)
  const rows = new RecordPool(order.length)
  const data = new RecordPool(order.length)
  const run = new Octets()
  const records = new Octets()
  for (const node of order) {
    const rrsets = table.rrsetsOf(node)
    if (rrsets.length === 0) continue
    rrsets.sort((a, b) => a.type - b.type)
    run.clear()
    const name = table.name(node)
    const isCut = (table.flags(node) & NodeFlag.Cut) !== 0
    const glueOwner = isCut ? wireOf(name) : undefined
    for (const [i, rrset] of rrsets.entries()) {
      const { type, ttlSeconds, rdata, zone } = rrset
      assert(rrsets[i + 1]?.type !== type, `${name} has one rrset of type ${type}`)
      assert(rdata.length > 0, `the rrset of type ${type} at ${name} has records`)
      records.clear()
      const context = { apex: apexes[zone]!, targets, glueOwner }
      for (const one of rdata) writeRecord(records, type, one, context)
      // Only rows of one form may share octets.
      const form = (formBits[type]! << 16) | rdata.length
      const offset = data.add(records.octets, form, records.length)
      run.littleEndian(type)
      run.littleEndian(ttlSeconds)
      run.littleEndian(offset)
      run.littleEndian(rdata.length)
    }
    table.setFirstRrset(node, rows.add(run.octets, 0, run.length) / rowBytes)
  }
  const { buffer, byteOffset, byteLength } = rows.bytes()
  return {
    rrsetRow: new Uint32Array(buffer, byteOffset, byteLength / 4),
    rrsetData: data.bytes(),
    targetNode: Uint32Array.from(targets.used, (node) => table.indexOf(node)),
  }
}

/** Names in rdata, numbered at their first use. */
class Targets {
  readonly used: number[] = []
  readonly #table: NameTable
  /** Row of a node in `targetNode` + 1; 0: not used yet. */
  readonly #numbers: Uint32Array

  constructor(table: NameTable) {
    this.#table = table
    this.#numbers = new Uint32Array(table.size)
  }

  /** Row of a name in `targetNode` + 1; 0: it has no static addresses here. */
  numberOf(name: Uint8Array): number {
    const node = this.#table.find(formatName(foldName(name)))
    if (node === undefined) return 0
    const known = this.#numbers[node]!
    if (known > 0 || !this.#table.rrsetsOf(node).some(isAddress)) return known
    return (this.#numbers[node] = this.used.push(node))
  }
}

const isAddress = ({ type }: NodeRrset): boolean => type === RrType.A || type === RrType.AAAA

interface RecordContext {
  readonly apex: Uint8Array
  readonly targets: Targets
  /** The owner, when the rrset marks a cut. */
  readonly glueOwner: Uint8Array | undefined
}

/** A growing buffer, reused for each entry. */
class Octets {
  octets = new Uint8Array(4096)
  length = 0

  clear(): void {
    this.length = 0
  }

  add(octet: number): void {
    if (this.length === this.octets.length) {
      const larger = new Uint8Array(this.length * 2)
      larger.set(this.octets)
      this.octets = larger
    }
    this.octets[this.length++] = octet
  }

  part(octets: Uint8Array, from: number, end: number): void {
    for (let i = from; i < end; i++) this.add(octets[i]!)
  }

  littleEndian(value: number): void {
    for (let shift = 0; shift < 32; shift += 8) this.add((value >>> shift) & 255)
  }
}

function writeRecord(out: Octets, type: number, rdata: Uint8Array, context: RecordContext): void {
  const start = out.length
  for (let i = 0; i < rdataLayout.lengthBytes; i++) out.add(0)
  const form = rdataForms[type]
  if (form === undefined) out.part(rdata, 0, rdata.length)
  else writeForm(out, form, rdata, context)
  const length = out.length - start - rdataLayout.lengthBytes
  assert(length <= 0xffff, 'the rdata of a record has a length of 16 bits')
  out.octets[start] = length >>> 8
  out.octets[start + 1] = length & 255
}

function writeForm(
  out: Octets,
  form: RdataForm,
  rdata: Uint8Array,
  { apex, targets, glueOwner }: RecordContext,
): void {
  const { before, names, after, isCompressed, hasTarget } = form
  if (hasTarget) {
    let last = before
    for (let i = 1; i < names; i++) last = endOfName(rdata, last)
    const name = rdata.subarray(last, endOfName(rdata, last))
    const number = targets.numberOf(name)
    const isGlue = number > 0 && glueOwner !== undefined && isInZone(name, glueOwner)
    const target = isGlue ? number + glueBit : number
    for (let shift = 24; shift >= 0; shift -= 8) out.add((target >>> shift) & 255)
  }
  out.part(rdata, 0, before)
  let at = before
  for (let i = 0; i < names; i++) {
    const end = endOfName(rdata, at)
    writeCut(out, rdata.subarray(at, end), isCompressed ? apex : undefined)
    at = end
  }
  assert(at + after === rdata.length, 'rdata has the form of its type')
  out.part(rdata, at, rdata.length)
}

function endOfName(octets: Uint8Array, start: number): number {
  let at = start
  while (at < octets.length && octets[at]! > 0) {
    assert(octets[at]! <= nameLimits.labelBytesMax, 'names in rdata are not compressed')
    at += octets[at]! + 1
  }
  assert(at < octets.length, 'a name in rdata ends with the root')
  return at + 1
}

/** Writes `name` without the suffix `apex` when it is at or below it. Keeps letter case. */
function writeCut(out: Octets, name: Uint8Array, apex: Uint8Array | undefined): void {
  const isBelow = apex !== undefined && isInZone(name, apex)
  const labelBytes = name.length - (isBelow ? apex.length : 1)
  // In the form that `storedName` describes.
  out.add(labelBytes)
  out.add(isBelow ? 1 : 0)
  out.part(name, 0, labelBytes)
}

function u32(value: number): Buffer {
  const octets = Buffer.alloc(4)
  octets.writeUInt32BE(value >>> 0)
  return octets
}

/** Encodes a zone's SOA rrset with the base to which a node adds its serial. */
export function soaRrset({ mname, rname, ...soa }: SoaModel, zone: number): NodeRrset {
  const { serialBase, ttlSeconds, refreshSeconds, retrySeconds, expireSeconds } = soa
  const { minimumSeconds } = soa
  const numbers = [serialBase, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds]
  const rdata = Buffer.concat([wireOf(mname), wireOf(rname), ...numbers.map(u32)])
  return { type: RrType.SOA, ttlSeconds, rdata: [rdata], zone }
}
