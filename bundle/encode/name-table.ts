// Builds the table of owner names: apexes, services, owners of rrsets and empty non-terminals.
import { hashNameAt } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import {
  inlineNameBytes,
  NodeCell,
  NodeFlag,
  nodeFlagShift,
  rrsetCountShift,
} from '#bundle/format/cells.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { RrsetModel } from '#bundle/format/model.ts'
import { withOneMore } from '#lib/sequence/one-more.ts'
import { wireOf } from './record-pool.ts'

/** One owner name while the tables are built. */
export interface NameNode {
  readonly name: string
  zone: number
  flags: number
  service: number
  rrsets: readonly NodeRrset[]
  /** Row of its first rrset. */
  firstRrset: number
  /** Names one label below that stand in the table, in the same zone or cut off from it. */
  children: number
  /** Position in the finished columns. */
  index: number
}

export type NodeRrset = Pick<RrsetModel, 'type' | 'ttlSeconds' | 'rdata' | 'zone'>

const noRrsets: readonly NodeRrset[] = Object.freeze([])

export class NameTable {
  readonly #nodes = new Map<string, NameNode>()
  readonly #apexes = new Map<string, number>()
  /** Zone position to the zone that encloses it, or -1. */
  readonly zoneParents: number[] = []
  #hasCuts = false

  /** @param zoneNames lower case, trailing dot; the position is the zone index */
  constructor(zoneNames: readonly string[]) {
    for (const [zone, name] of zoneNames.entries()) {
      assert(!this.#apexes.has(name), `zone ${name} is declared once`)
      this.#apexes.set(name, zone)
    }
    for (const [zone, name] of zoneNames.entries()) {
      const apex = this.#nodeOf(name, zone)
      apex.flags |= NodeFlag.Apex
      apex.zone = zone
    }
    for (const [zone, name] of zoneNames.entries()) {
      const parent = name === '.' ? -1 : this.enclosingZone(parentName(name))
      this.zoneParents[zone] = parent
      // RFC 4592 section 2.2.2: the names between the two cuts exist, empty, in the parent.
      if (parent >= 0) this.#addEmptyNonTerminals(name, parent)
    }
  }

  /** The node of `name`, with the empty non-terminals above it up to the apex of `zone`. */
  add(name: string, zone: number): NameNode {
    const isNew = !this.#nodes.has(name)
    const node = this.#nodeOf(name, zone)
    if (isNew) this.#addEmptyNonTerminals(name, zone)
    return node
  }

  find(name: string): NameNode | undefined {
    return this.#nodes.get(name)
  }

  #nodeOf(name: string, zone: number): NameNode {
    let node = this.#nodes.get(name)
    if (node === undefined) {
      const blank = {
        flags: 0,
        service: -1,
        rrsets: noRrsets,
        firstRrset: 0,
        children: 0,
        index: -1,
      }
      node = { name, zone, ...blank }
      this.#nodes.set(name, node)
    }
    return node
  }

  #addEmptyNonTerminals(name: string, zone: number): void {
    let child = name
    for (let above = parentName(name); ; above = parentName(above)) {
      const isNew = !this.#nodes.has(above)
      const node = this.#nodeOf(above, zone)
      node.children++
      if (child.startsWith('*.')) node.flags |= NodeFlag.HasWildcard
      if (!isNew) return
      child = above
    }
  }

  /** The zone whose apex is `name` or the closest name above it, or -1. */
  enclosingZone(name: string): number {
    for (let at = name; ; at = parentName(at)) {
      const zone = this.#apexes.get(at)
      if (zone !== undefined) return zone
      if (at === '.') return -1
    }
  }

  /** Adds an rrset to the node of `name`, and says in its flags what that means for answers. */
  addRrset(name: string, zone: number, rrset: NodeRrset): void {
    const node = this.add(name, zone)
    node.rrsets = withOneMore(node.rrsets, rrset)
    // RFC 4592 sections 4.2 and 4.4: there is no cut and no subtree at the label `*`.
    const isWildcard = name.startsWith('*.')
    const isApex = (node.flags & NodeFlag.Apex) !== 0
    if (rrset.type === RrType.CNAME) node.flags |= NodeFlag.HasCname
    if (rrset.type === RrType.NS && !isApex && !isWildcard) node.flags |= NodeFlag.Cut
    if (rrset.type === RrType.DNAME && !isWildcard) node.flags |= NodeFlag.Dname
    if ((node.flags & (NodeFlag.Cut | NodeFlag.Dname)) !== 0) this.#hasCuts = true
  }

  /** Says in the flags which names stand below a cut or a DNAME record of their zone. */
  markBelow(): void {
    if (!this.#hasCuts) return
    const seen = new Set<NameNode>()
    for (const node of this.#nodes.values()) this.#markNode(node, seen)
  }

  #markNode(node: NameNode, seen: Set<NameNode>): void {
    if (seen.has(node) || node.name === '.') return
    seen.add(node)
    const above = this.#nodes.get(parentName(node.name))
    if (above === undefined) return
    this.#markNode(above, seen)
    const isApex = (node.flags & NodeFlag.Apex) !== 0
    const zone = isApex ? this.zoneParents[node.zone]! : node.zone
    if (above.zone === zone && isRedirecting(above.flags)) node.flags |= NodeFlag.Below
  }

  /** All nodes in their final order, each with its `index` set. */
  finish(): readonly NameNode[] {
    const nodes = [...this.#nodes.values()]
    nodes.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    for (const [index, node] of nodes.entries()) node.index = index
    return nodes
  }
}

/** Do names below one with these flags, in the same zone, stand below a cut or a DNAME record? */
export function isRedirecting(flags: number): boolean {
  if ((flags & (NodeFlag.Cut | NodeFlag.Dname)) !== 0) return true
  // A cut above an apex concerns the zone above it.
  return (flags & (NodeFlag.Below | NodeFlag.Apex)) === NodeFlag.Below
}

/** `a.b.` to `b.`; `b.` to `.`. A dot after a backslash is part of its label. */
export function parentName(name: string): string {
  let dot = name.indexOf('.')
  while (dot > 0 && isEscaped(name, dot)) dot = name.indexOf('.', dot + 1)
  return dot === name.length - 1 ? '.' : name.slice(dot + 1)
}

function isEscaped(name: string, at: number): boolean {
  let slashes = 0
  while (name[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}

/** Owner names in their order, as columns; the last two are what an edit of them goes by. */
export interface LaidNames {
  readonly names: Uint8Array
  readonly nodeRow: Uint32Array
  readonly texts: readonly string[]
  readonly childCounts: Uint32Array
}

/** Lays the names out in octets. */
export function layNames(nodes: readonly NameNode[]): LaidNames {
  const nodeRow = new Uint32Array(nodes.length * NodeCell.Words)
  let names = Buffer.alloc(Math.max(64, nodes.length * 40))
  let at = 0
  for (const [i, node] of nodes.entries()) {
    const wire = wireOf(node.name)
    const end = at + wire.length
    // One long name may be more than twice what was there.
    if (end > names.length) names = Buffer.concat([names], Math.max(names.length * 2, end))
    names.set(wire, at)
    writeNode(nodeRow, i, wire, node, at)
    at += wire.length
  }
  return {
    names: names.subarray(0, at),
    nodeRow,
    texts: nodes.map(({ name }) => name),
    childCounts: Uint32Array.from(nodes, ({ children }) => children),
  }
}

/** The row of a name, without what its service says. */
export function writeNode(
  nodeRow: Uint32Array,
  index: number,
  wire: Uint8Array,
  node: Pick<NameNode, 'zone' | 'flags' | 'service' | 'rrsets' | 'firstRrset'>,
  nameOffset: number,
): void {
  const row = index * NodeCell.Words
  const { zone, flags, service, rrsets, firstRrset } = node
  nodeRow[row + NodeCell.NameOffset] = nameOffset
  nodeRow[row + NodeCell.NameBytesAndFlags] =
    wire.length | (flags << nodeFlagShift) | (rrsets.length << rrsetCountShift)
  nodeRow[row + NodeCell.Zone] = zone
  nodeRow[row + NodeCell.Service] = service + 1
  nodeRow[row + NodeCell.FirstRrset] = firstRrset
  if (wire.length > inlineNameBytes) return
  const end = nodeRow.byteOffset + (row + NodeCell.Words) * 4
  new Uint8Array(nodeRow.buffer, end - wire.length, wire.length).set(wire)
}

export interface NameIndex {
  readonly nameIndex: Uint32Array
  readonly nameSeed: number
}

/** The hash index of the names, under the first seed that spreads them and others well. */
export function nameIndexOf(
  { names, nodeRow }: LaidNames,
  isGoodSeed: (seed: number) => boolean,
): NameIndex {
  for (let nameSeed = 1; ; nameSeed++) {
    assert(nameSeed < 1000, 'some seed spreads the names')
    const nameIndex = indexNames(names, nodeRow, nameSeed)
    if (nameIndex !== undefined && isGoodSeed(nameSeed)) return { nameIndex, nameSeed }
  }
}

/** @returns undefined when some name would be more than `probeLengthMax` slots from its place */
function indexNames(
  names: Uint8Array,
  nodeRow: Uint32Array,
  seed: number,
): Uint32Array | undefined {
  const nodes = nodeRow.length / NodeCell.Words
  let slots = 4
  while (slots < nodes * 2) slots *= 2
  const mask = slots - 1
  const index = new Uint32Array(slots * 2)
  for (let node = 0; node < nodes; node++) {
    const row = node * NodeCell.Words
    const hash = hashNameAt(names, nodeRow[row + NodeCell.NameOffset]!, seed)
    let slot = hash & mask
    for (let probes = 1; index[slot * 2 + 1] !== 0; probes++) {
      if (probes >= bundleLimits.probeLengthMax) return undefined
      slot = (slot + 1) & mask
    }
    index[slot * 2] = hash >>> 0
    index[slot * 2 + 1] = node + 1
  }
  return index
}
