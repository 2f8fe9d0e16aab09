// Checks rrsets and their rdata, so that the answer path need not.
import { nameLimits } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { findRrset, nodeFlags, nodeNameBytes, rrsetCount } from '#bundle/format/bundle.ts'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { Manifest } from '#bundle/format/manifest.ts'
import {
  formBits,
  glueBit,
  rdataForms,
  rdataLayout,
  RrsetCell,
  storedName,
} from '#bundle/format/rrsets.ts'
import type { RdataForm } from '#bundle/format/rrsets.ts'
import { zoneAlgorithm } from '#bundle/load/zone-signing.ts'

type RowColumns = Pick<BundleColumns, 'rrsetRow' | 'rrsetData' | 'targetNode'>

/** Rows may share data only as a whole, so each octet is checked once. */
export function checkRrsets(c: RowColumns, { counts }: Manifest): string | undefined {
  const inOrder = new Float64Array(counts.rrsets)
  for (let rrset = 0; rrset < counts.rrsets; rrset++) {
    const fault = faultOfRow(c.rrsetRow, rrset)
    if (fault !== undefined) return fault
    // Beyond the end, the key below would not be exact, and another row would be read.
    if (cellOf(c.rrsetRow, rrset, RrsetCell.Data) >= c.rrsetData.length) {
      return `rrset ${rrset} has damaged data`
    }
    inOrder[rrset] = cellOf(c.rrsetRow, rrset, RrsetCell.Data) * rowsMax + rrset
  }
  inOrder.sort()
  let end = 0
  let last = -1
  for (const key of inOrder) {
    const rrset = key % rowsMax
    const start = (key - rrset) / rowsMax
    if (last >= 0 && start === cellOf(c.rrsetRow, last, RrsetCell.Data)) {
      if (isReadAlike(c.rrsetRow, rrset, last)) continue
      return `rrset ${rrset} shares data of another form`
    }
    if (start < end) return `rrset ${rrset} begins inside other data`
    end = endOfData(c, rrset)
    if (end < 0) return `rrset ${rrset} has damaged data`
    last = rrset
  }
  return undefined
}

/** Together with an offset in a file of `bytesMax`, as much as a double holds exactly. */
const rowsMax = 2 ** 22

function cellOf(rrsetRow: Uint32Array, rrset: number, cell: number): number {
  return rrsetRow[rrset * RrsetCell.Words + cell]!
}

function isReadAlike(rrsetRow: Uint32Array, one: number, other: number): boolean {
  const formOf = (rrset: number) => formBits[cellOf(rrsetRow, rrset, RrsetCell.Type)]
  const countOf = (rrset: number) => cellOf(rrsetRow, rrset, RrsetCell.Count)
  return formOf(one) === formOf(other) && countOf(one) === countOf(other)
}

/** Types that a name may have only once: RFC 1034 section 3.6.2, RFC 2181 section 6.1, RFC 6672. */
const lone: readonly number[] = [RrType.CNAME, RrType.SOA, RrType.DNAME]

function faultOfRow(rrsetRow: Uint32Array, rrset: number): string | undefined {
  const type = cellOf(rrsetRow, rrset, RrsetCell.Type)
  const count = cellOf(rrsetRow, rrset, RrsetCell.Count)
  if (type === 0 || type > 0xffff) return `rrset ${rrset} has no type`
  if (cellOf(rrsetRow, rrset, RrsetCell.TtlSeconds) > bundleLimits.ttlSecondsMax) {
    return `rrset ${rrset} has too long a TTL`
  }
  const countMax = lone.includes(type)
    ? 1
    : type === RrType.NS
      ? bundleLimits.nameserversPerZoneMax
      : bundleLimits.rrsetBytesMax
  return count === 0 || count > countMax ? `rrset ${rrset} cannot have ${count} records` : undefined
}

/** @returns the offset after the records, or -1 when they are damaged or too many */
function endOfData({ rrsetRow, rrsetData, targetNode }: RowColumns, rrset: number): number {
  const form = rdataForms[cellOf(rrsetRow, rrset, RrsetCell.Type)]
  const count = cellOf(rrsetRow, rrset, RrsetCell.Count)
  const start = cellOf(rrsetRow, rrset, RrsetCell.Data)
  let at = start
  for (let i = 0; i < count; i++) {
    const rdata = at + rdataLayout.lengthBytes
    if (rdata > rrsetData.length) return -1
    const end = rdata + ((rrsetData[at]! << 8) | rrsetData[at + 1]!)
    if (end > rrsetData.length) return -1
    if (form !== undefined && !hasForm(rrsetData, rdata, end, form, targetNode.length)) return -1
    at = end
  }
  const messageBytes = at - start + count * recordHeaderBytes
  return messageBytes > bundleLimits.rrsetBytesMax ? -1 : at
}

/** Owner, type, class and TTL of a record; its stored length counts as RDLENGTH. */
const recordHeaderBytes = 10

function hasForm(
  data: Uint8Array,
  start: number,
  end: number,
  { before, names, after, isCompressed, hasTarget }: RdataForm,
  targets: number,
): boolean {
  let at = start
  if (hasTarget) {
    const target = readU32(data, at)
    const number = (target & ~glueBit) >>> 0
    if (at + rdataLayout.targetBytes > end || number > targets) return false
    // Glue must be a name that has addresses here.
    if (number === 0 && target !== 0) return false
    at += rdataLayout.targetBytes
  }
  at += before
  for (let i = 0; i < names; i++) {
    at = endOfStoredName(data, at, end, isCompressed)
    if (at < 0) return false
  }
  return at + after === end
}

function endOfStoredName(data: Uint8Array, start: number, end: number, isCut: boolean): number {
  const labels = start + storedName.labels
  if (labels > end) return -1
  const flag = data[start + storedName.endsAtApex]!
  if (flag > 1 || (flag === 1 && !isCut)) return -1
  const nameEnd = labels + data[start + storedName.prefixBytes]!
  // The name ends with the root label.
  if (nameEnd > end || nameEnd - labels >= nameLimits.bytesMax) return -1
  let at = labels
  while (at < nameEnd) {
    if (data[at] === 0 || data[at]! > nameLimits.labelBytesMax) return -1
    at += data[at]! + 1
  }
  return at === nameEnd ? at : -1
}

function readU32(data: Uint8Array, at: number): number {
  return ((data[at]! << 24) | (data[at + 1]! << 16) | (data[at + 2]! << 8) | data[at + 3]!) >>> 0
}

type NodeColumns = Pick<BundleColumns, 'nodeRow' | 'rrsetRow' | 'rrsetData' | 'zoneNode'>

/** Checks that a node's flags agree with its rows. */
export function checkNodeRrsets(c: NodeColumns, { counts }: Manifest): string | undefined {
  const risesFrom = risingRuns(c.rrsetRow, counts.rrsets)
  for (let node = 0; node < counts.nodes; node++) {
    const first = c.nodeRow[node * NodeCell.Words + NodeCell.FirstRrset]!
    const count = rrsetCount(c, node)
    if (count > bundleLimits.rrsetsPerNodeMax) return `node ${node} has too many rrsets`
    if (first + count > counts.rrsets) return `node ${node} has rrsets outside the table`
    if (count > 0 && risesFrom[first + count - 1]! > first) {
      return `node ${node} has rrsets that are not in order`
    }
    const flags = nodeFlags(c, node)
    const zone = c.nodeRow[node * NodeCell.Words + NodeCell.Zone]!
    const apex = c.zoneNode[zone]!
    const isApex = (flags & NodeFlag.Apex) !== 0
    if (isApex !== (apex === node)) return `node ${node} is and is not the apex of its zone`
    if (nodeNameBytes(c, apex) > nodeNameBytes(c, node)) return `node ${node} is above its zone`
    if (isApex && findRrset(c, node, RrType.SOA) < 0) return `zone ${zone} has no SOA`
    const isPlain = count === 0 && (flags & ofRrsets) === 0
    if (!isPlain && !hasFlags(c, node, flags)) {
      return `node ${node} has flags that its rrsets deny`
    }
    if ((flags & NodeFlag.Signed) !== 0 && (!isApex || zoneAlgorithm(c, zone) < 0)) {
      return `node ${node} is signed without an algorithm`
    }
  }
  return undefined
}

const ofRrsets = NodeFlag.HasCname | NodeFlag.Dname | NodeFlag.Cut

function hasFlags(c: NodeColumns, node: number, flags: number): boolean {
  const has = (type: number): boolean => findRrset(c, node, type) >= 0
  if (((flags & NodeFlag.HasCname) !== 0) !== has(RrType.CNAME)) return false
  if ((flags & NodeFlag.Dname) !== 0 && !has(RrType.DNAME)) return false
  if ((flags & NodeFlag.Cut) === 0) return true
  return (flags & NodeFlag.Apex) === 0 && has(RrType.NS)
}

/** For each row, the start of the run of rising types that contains it. */
function risingRuns(rrsetRow: Uint32Array, rrsets: number): Uint32Array {
  const risesFrom = new Uint32Array(rrsets)
  for (let rrset = 1; rrset < rrsets; rrset++) {
    const type = cellOf(rrsetRow, rrset, RrsetCell.Type)
    const isRising = cellOf(rrsetRow, rrset - 1, RrsetCell.Type) < type
    risesFrom[rrset] = isRising ? risesFrom[rrset - 1]! : rrset
  }
  return risesFrom
}
