// Builds the table of owner names: apexes, services, owners of rrsets and empty non-terminals.
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import {
  inlineNameBytes,
  NodeCell,
  NodeFlag,
  nodeFlagShift,
  rrsetCountShift,
} from '#bundle/format/cells.ts'
import { hashIndex } from '#bundle/format/hash-index.ts'
import type { RrsetModel } from '#bundle/format/model.ts'
import { Chains } from '#lib/sequence/chains.ts'
import { wireOf } from './record-pool.ts'

export type NodeRrset = Pick<RrsetModel, 'type' | 'ttlSeconds' | 'rdata' | 'zone'>

/**
 * A row of the table. `Service`: row + 1; 0 none. `Rrsets`: their list in `#rrsets`, + 1.
 * `Children`: names one label below that are in the table, in the same zone or cut off from it.
 * `Index`: position in the finished columns.
 */
const Cell = { Words: 7, Zone: 0, Flags: 1, Service: 2, Rrsets: 3, First: 4, Children: 5, Index: 6 }

/** Owner names by number, in columns: there may be a million. */
export class NameTable {
  readonly #nodes = new Map<string, number>()
  readonly #names: string[] = []
  #rows = new Int32Array(64 * Cell.Words)
  readonly #rrsets = new Chains<NodeRrset>()
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
      const apex = this.#nodes.get(name) ?? this.#create(name, zone)
      this.mark(apex, NodeFlag.Apex)
    }
    for (const [zone, name] of zoneNames.entries()) {
      const parent = name === '.' ? -1 : this.enclosingZone(parentName(name))
      this.zoneParents[zone] = parent
      // RFC 4592 section 2.2.2: the names between the two cuts exist, empty, in the parent.
      if (parent >= 0) this.#addEmptyNonTerminals(name, parent)
    }
  }

  get size(): number {
    return this.#names.length
  }

  /** Returns the node of `name`; adds it and the empty non-terminals up to the apex of `zone`. */
  add(name: string, zone: number): number {
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const node = this.#create(name, zone)
    this.#addEmptyNonTerminals(name, zone)
    return node
  }

  find(name: string): number | undefined {
    return this.#nodes.get(name)
  }

  #create(name: string, zone: number): number {
    const node = this.#names.push(name) - 1
    this.#nodes.set(name, node)
    if (this.#rows.length < this.#names.length * Cell.Words) {
      const larger = new Int32Array(this.#rows.length * 2)
      larger.set(this.#rows)
      this.#rows = larger
    }
    this.#rows[node * Cell.Words + Cell.Zone] = zone
    return node
  }

  #addEmptyNonTerminals(name: string, zone: number): void {
    let child = name
    for (let above = parentName(name); ; above = parentName(above)) {
      const known = this.#nodes.get(above)
      const node = known ?? this.#create(above, zone)
      this.#rows[node * Cell.Words + Cell.Children]!++
      if (child.startsWith('*.')) this.mark(node, NodeFlag.HasWildcard)
      if (known !== undefined) return
      child = above
    }
  }

  /** Returns the zone whose apex is `name` or its closest ancestor, or -1. */
  enclosingZone(name: string): number {
    for (let at = name; ; at = parentName(at)) {
      const zone = this.#apexes.get(at)
      if (zone !== undefined) return zone
      if (at === '.') return -1
    }
  }

  /** Adds an rrset to the node of `name`, and sets the flags that follow from it. */
  addRrset(name: string, zone: number, rrset: NodeRrset): void {
    const node = this.add(name, zone)
    const row = node * Cell.Words
    this.#rows[row + Cell.Rrsets] = this.#rrsets.add(this.#rows[row + Cell.Rrsets]! - 1, rrset) + 1
    // RFC 4592 sections 4.2 and 4.4: there is no cut and no subtree at the label `*`.
    const isWildcard = name.startsWith('*.')
    const isApex = (this.flags(node) & NodeFlag.Apex) !== 0
    if (rrset.type === RrType.CNAME) this.mark(node, NodeFlag.HasCname)
    if (rrset.type === RrType.NS && !isApex && !isWildcard) this.mark(node, NodeFlag.Cut)
    if (rrset.type === RrType.DNAME && !isWildcard) this.mark(node, NodeFlag.Dname)
    if ((this.flags(node) & (NodeFlag.Cut | NodeFlag.Dname)) !== 0) this.#hasCuts = true
  }

  setService(node: number, service: number): void {
    const row = node * Cell.Words
    assert(this.#rows[row + Cell.Service] === 0, `${this.name(node)} belongs to one service`)
    this.#rows[row + Cell.Service] = service + 1
  }

  setFirstRrset(node: number, rrset: number): void {
    this.#rows[node * Cell.Words + Cell.First] = rrset
  }

  mark(node: number, flag: number): void {
    this.#rows[node * Cell.Words + Cell.Flags]! |= flag
  }

  name(node: number): string {
    return this.#names[node]!
  }

  flags(node: number): number {
    return this.#rows[node * Cell.Words + Cell.Flags]!
  }

  rrsetsOf(node: number): NodeRrset[] {
    return this.#rrsets.of(this.#rows[node * Cell.Words + Cell.Rrsets]! - 1)
  }

  /** Index in the finished columns. */
  indexOf(node: number): number {
    return this.#rows[node * Cell.Words + Cell.Index]!
  }

  /** Sets the flags of names below a cut or a DNAME record of their zone. */
  markBelow(): void {
    if (!this.#hasCuts) return
    const seen = new Uint8Array(this.size)
    for (let node = 0; node < seen.length; node++) this.#markNode(node, seen)
  }

  #markNode(node: number, seen: Uint8Array): void {
    if (seen[node] !== 0 || this.name(node) === '.') return
    seen[node] = 1
    const above = this.#nodes.get(parentName(this.name(node)))
    if (above === undefined) return
    this.#markNode(above, seen)
    const zone = this.#rows[node * Cell.Words + Cell.Zone]!
    const isApex = (this.flags(node) & NodeFlag.Apex) !== 0
    const isSameZone =
      this.#rows[above * Cell.Words + Cell.Zone] === (isApex ? this.zoneParents[zone]! : zone)
    if (isSameZone && isRedirecting(this.flags(above))) this.mark(node, NodeFlag.Below)
  }

  /** @returns all nodes in their final order, each with its index set */
  finish(): Uint32Array {
    // The order of code units, as in `NameEdit`.
    const sorted = this.#names.toSorted()
    const order = Uint32Array.from(sorted, (name) => this.#nodes.get(name)!)
    for (const [index, node] of order.entries()) this.#rows[node * Cell.Words + Cell.Index] = index
    return order
  }

  /**
   * @param order result of `finish`
   * @param rowOfZone zones are sorted by name
   */
  lay(order: Uint32Array, rowOfZone: Uint32Array): LaidNames {
    const nodeRow = new Uint32Array(order.length * NodeCell.Words)
    const childCounts = new Uint32Array(order.length)
    let names = Buffer.alloc(Math.max(64, order.length * 40))
    let at = 0
    for (const [i, node] of order.entries()) {
      const wire = wireOf(this.name(node))
      const end = at + wire.length
      // One long name may be more than twice the octets so far.
      if (end > names.length) names = Buffer.concat([names], Math.max(names.length * 2, end))
      names.set(wire, at)
      const row = this.#rows.subarray(node * Cell.Words, (node + 1) * Cell.Words)
      writeNode(nodeRow, i, wire, {
        zone: rowOfZone[row[Cell.Zone]!]!,
        flags: row[Cell.Flags]!,
        service: row[Cell.Service]!,
        rrsets: this.rrsetsOf(node).length,
        firstRrset: row[Cell.First]!,
        nameOffset: at,
      })
      childCounts[i] = row[Cell.Children]!
      at = end
    }
    const texts = Array.from(order, (node) => this.name(node))
    return { names: names.subarray(0, at), nodeRow, texts, childCounts }
  }
}

/**
 * Whether a node with these flags puts the names below it, in the same zone, below a cut or a DNAME
 * record.
 */
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

/** Owner names in order, as columns; an edit needs the last two fields. */
export interface LaidNames {
  readonly names: Uint8Array
  readonly nodeRow: Uint32Array
  readonly texts: readonly string[]
  readonly childCounts: Uint32Array
}

interface NameCells {
  readonly zone: number
  readonly flags: number
  /** Row + 1; 0: none. */
  readonly service: number
  /** Number of rrsets. */
  readonly rrsets: number
  readonly firstRrset: number
  readonly nameOffset: number
}

/** Writes the row of a name, without the cells of its service. */
export function writeNode(
  nodeRow: Uint32Array,
  index: number,
  wire: Uint8Array,
  { zone, flags, service, rrsets, firstRrset, nameOffset }: NameCells,
): void {
  const row = index * NodeCell.Words
  nodeRow[row + NodeCell.NameOffset] = nameOffset
  nodeRow[row + NodeCell.NameBytesAndFlags] =
    wire.length | (flags << nodeFlagShift) | (rrsets << rrsetCountShift)
  nodeRow[row + NodeCell.Zone] = zone
  nodeRow[row + NodeCell.Service] = service
  nodeRow[row + NodeCell.FirstRrset] = firstRrset
  if (wire.length > inlineNameBytes) return
  const end = nodeRow.byteOffset + (row + NodeCell.Words) * 4
  new Uint8Array(nodeRow.buffer, end - wire.length, wire.length).set(wire)
}

interface NameIndex {
  readonly nameIndex: Uint32Array
  readonly nameSeed: number
}

/**
 * Builds the hash index of the names, with the first seed that spreads them, and the other names,
 * well.
 */
export function nameIndexOf(
  { names, nodeRow }: LaidNames,
  isGoodSeed: (seed: number) => boolean,
): NameIndex {
  const { Words: words, NameOffset: cell } = NodeCell
  for (let nameSeed = 1; ; nameSeed++) {
    assert(nameSeed < 1000, 'some seed spreads the names')
    const nameIndex = hashIndex({ names, rows: nodeRow, words, cell }, nameSeed)
    if (nameIndex !== undefined && isGoodSeed(nameSeed)) return { nameIndex, nameSeed }
  }
}
