// Encodes rrsets: the rows of each node, and rdata in the form from which answers are written.
import { foldName, formatName, nameLimits } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import type { SoaModel } from '#bundle/format/model.ts'
import { formBits, glueBit, rdataForms, RrsetCell, storedName } from '#bundle/format/rrsets.ts'
import type { NameNode, NodeRrset } from './name-table.ts'
import { isInZone, RecordPool, wireOf } from './record-pool.ts'

const rowBytes = RrsetCell.Words * 4

/**
 * Gives each node its rows.
 *
 * @param nodes in their final order, so that the octets depend on it
 * @param find the node of a name as the model writes it
 */
export function rrsetColumns(nodes: readonly NameNode[], find: FindNode) {
  const targets = new Targets(find)
  const rows = new RecordPool()
  const data = new RecordPool()
  for (const node of nodes) {
    if (node.rrsets.length === 0) continue
    const sorted = node.rrsets.toSorted((a, b) => a.type - b.type)
    const run = Buffer.alloc(sorted.length * rowBytes)
    const isCut = (node.flags & NodeFlag.Cut) !== 0
    const glueOwner = isCut ? wireOf(node.name) : undefined
    for (const [i, rrset] of sorted.entries()) {
      const { type, ttlSeconds, rdata, apex } = rrset
      assert(sorted[i + 1]?.type !== type, `${node.name} has one rrset of type ${type}`)
      assert(rdata.length > 0, `the rrset of type ${type} at ${node.name} has records`)
      const records = rdata.map((one) => storedRecord(type, one, apex, targets, glueOwner))
      // Rows that share octets are read in one form.
      const form = `${formBits[type]} ${rdata.length}`
      const offset = data.add(Buffer.concat(records), form)
      for (const [cell, value] of [type, ttlSeconds, offset, rdata.length].entries()) {
        run.writeUInt32LE(value, i * rowBytes + cell * 4)
      }
    }
    node.firstRrset = rows.add(run) / rowBytes
  }
  const { buffer, byteOffset, byteLength } = rows.bytes()
  return {
    rrsetRow: new Uint32Array(buffer, byteOffset, byteLength / 4),
    rrsetData: data.bytes(),
    targetNode: Uint32Array.from(targets.used, (node) => node.index),
  }
}

/** @param name in lower case and presentation form */
type FindNode = (name: string) => NameNode | undefined

/** Names that rdata may point to, numbered when it does so for the first time. */
class Targets {
  readonly used: NameNode[] = []
  readonly #find: FindNode
  readonly #rowOf = new Map<NameNode, number>()

  constructor(find: FindNode) {
    this.#find = find
  }

  /** The row of a name in `targetNode` + 1; 0: it has no static addresses here. */
  numberOf(name: Uint8Array): number {
    const node = this.#find(formatName(foldName(name)))
    if (node?.rrsets.some(isAddress) !== true) return 0
    const known = this.#rowOf.get(node)
    if (known !== undefined) return known + 1
    this.#rowOf.set(node, this.used.length)
    return this.used.push(node)
  }
}

const isAddress = ({ type }: NodeRrset): boolean => type === RrType.A || type === RrType.AAAA

/** @param glueOwner the owner, where the rrset is of a cut */
function storedRecord(
  type: number,
  rdata: Uint8Array,
  apex: Uint8Array,
  targets: Targets,
  glueOwner: Uint8Array | undefined,
): Buffer {
  const form = rdataForms[type]
  if (form === undefined) return withLength([rdata])
  const parts: Uint8Array[] = [rdata.subarray(0, form.before)]
  let at = form.before
  for (let i = 0; i < form.names; i++) {
    const end = endOfName(rdata, at)
    const name = rdata.subarray(at, end)
    if (i === form.names - 1 && form.hasTarget) {
      const number = targets.numberOf(name)
      const isGlue = number > 0 && glueOwner !== undefined && isInZone(name, glueOwner)
      parts.unshift(u32(isGlue ? number + glueBit : number))
    }
    parts.push(form.isCompressed ? cutName(name, apex) : cutName(name, undefined))
    at = end
  }
  assert(at + form.after === rdata.length, `rdata of type ${type} has the form of its type`)
  parts.push(rdata.subarray(at))
  return withLength(parts)
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

/** Cuts `name` at `apex` when it is at or below it. The case of the labels is kept. */
function cutName(name: Uint8Array, apex: Uint8Array | undefined): Buffer {
  const isBelow = apex !== undefined && isInZone(name, apex)
  const labels = name.subarray(0, name.length - (isBelow ? apex.length : 1))
  const head = Buffer.alloc(storedName.labels)
  head[storedName.prefixBytes] = labels.length
  head[storedName.endsAtApex] = isBelow ? 1 : 0
  return Buffer.concat([head, labels])
}

function withLength(parts: readonly Uint8Array[]): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(parts.reduce((sum, part) => sum + part.length, 0))
  return Buffer.concat([length, ...parts])
}

function u32(value: number): Buffer {
  const octets = Buffer.alloc(4)
  octets.writeUInt32BE(value >>> 0)
  return octets
}

/** The records of a zone's SOA rrset; the node adds its serial to the base that stands here. */
export function soaRrset({ mname, rname, ...soa }: SoaModel, apex: Uint8Array): NodeRrset {
  const { serialBase, ttlSeconds, refreshSeconds, retrySeconds, expireSeconds } = soa
  const { minimumSeconds } = soa
  const numbers = [serialBase, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds]
  const rdata = Buffer.concat([wireOf(mname), wireOf(rname), ...numbers.map(u32)])
  return { type: RrType.SOA, ttlSeconds, rdata: [rdata], apex }
}
