// Edits the owner names of the last bundle when few services were added or removed.
import { assert } from '#lib/assert.ts'
import { lowerBound } from '#lib/sequence/lower-bound.ts'
import { nodeFlags, rrsetCount } from '#bundle/format/bundle.ts'
import { NodeCell, NodeFlag, nodeFlagShift, rrsetCountShift } from '#bundle/format/cells.ts'
import { isRedirecting, parentName, writeNode } from './name-table.ts'
import type { LaidNames } from './name-table.ts'
import { wireOf } from './record-pool.ts'

interface EditedNode {
  readonly name: string
  /** Its index in the last bundle; -1 when it is new. */
  readonly at: number
  zone: number
  flags: number
  children: number
  hasService: boolean
  /** Rows of static rrsets, which do not change. */
  readonly rrsets: number
  isGone: boolean
}

/** The result of `finish`. Rows of services are written elsewhere. */
interface EditedNames {
  readonly laid: LaidNames
  /**
   * Maps the index of each node in the last bundle to its new index; a removed node has any value.
   */
  readonly moved: Uint32Array
  /** The new index of each edited name that remains or is new. */
  readonly indexOf: ReadonlyMap<string, number>
}

/** Removes names of services, then adds others; zones and their rrsets stay. */
export class NameEdit {
  readonly #last: LaidNames
  readonly #nodes = new Map<string, EditedNode>()

  constructor(last: LaidNames) {
    this.#last = last
  }

  /** Removes a name that no service uses any more. */
  remove(name: string): void {
    let node = this.#nodeNamed(name)
    assert(node?.hasService === true, `${name} belonged to a service`)
    node.hasService = false
    // Empty non-terminals are removed with the last name below them.
    while (!isOwned(node) && node.children === 0) {
      node.isGone = true
      const above = this.#nodeNamed(parentName(node.name))
      assert(above !== undefined, 'a name below an apex stands below a name')
      above.children--
      if (node.name.startsWith('*.')) above.flags &= ~NodeFlag.HasWildcard
      node = above
    }
  }

  /** @param zone row of the zone that contains the name */
  add(name: string, zone: number): void {
    const known = this.#nodeNamed(name)
    assert(known?.hasService !== true, `${name} belongs to one service`)
    const node = known ?? this.#create(name, zone)
    node.hasService = true
    if (known !== undefined) return
    const created = [node]
    for (let child = node; ;) {
      const text = parentName(child.name)
      const existing = this.#nodeNamed(text)
      const above = existing ?? this.#create(text, zone)
      above.children++
      if (child.name.startsWith('*.')) above.flags |= NodeFlag.HasWildcard
      if (existing !== undefined) {
        const isBelow = above.zone === zone && isRedirecting(above.flags)
        if (isBelow) for (const one of created) one.flags |= NodeFlag.Below
        return
      }
      created.push(above)
      child = above
    }
  }

  #nodeNamed(name: string): EditedNode | undefined {
    const edited = this.#nodes.get(name)
    if (edited !== undefined) return edited.isGone ? undefined : edited
    const { texts, nodeRow, childCounts } = this.#last
    const at = positionOf(texts, name)
    if (texts[at] !== name) return undefined
    const row = at * NodeCell.Words
    const node: EditedNode = {
      name,
      at,
      zone: nodeRow[row + NodeCell.Zone]!,
      flags: nodeFlags(this.#last, at),
      children: childCounts[at]!,
      hasService: nodeRow[row + NodeCell.Service] !== 0,
      rrsets: rrsetCount(this.#last, at),
      isGone: false,
    }
    this.#nodes.set(name, node)
    return node
  }

  #create(name: string, zone: number): EditedNode {
    // A name just removed gets its old index back.
    const at = this.#nodes.get(name)?.at ?? -1
    const blank = { flags: 0, children: 0, hasService: false, rrsets: 0, isGone: false }
    const node = { name, at, zone, ...blank }
    this.#nodes.set(name, node)
    return node
  }

  finish(): EditedNames {
    const { texts } = this.#last
    const nodes = [...this.#nodes.values()]
    const came = nodes.filter(({ at, isGone }) => at < 0 && !isGone)
    const went = nodes.filter(({ at, isGone }) => at >= 0 && isGone)
    const cuts = [
      ...came.map((node) => ({ at: positionOf(texts, node.name), node })),
      ...went.map(({ at }) => ({ at, node: undefined })),
    ]
    // A new name at an index precedes the old name at that index.
    cuts.sort((a, b) => a.at - b.at || compareNew(a.node?.name, b.node?.name))
    const splice = new Splice(this.#last, came, went)
    for (const { at, node } of cuts) {
      splice.copyUpTo(at)
      if (node === undefined) splice.skip()
      else splice.insert(node)
    }
    splice.copyUpTo(texts.length)
    for (const node of nodes) if (node.at >= 0 && !node.isGone) splice.overwrite(node)
    return splice.result()
  }
}

/** True for nodes that must stay; an apex always has rrsets. */
function isOwned({ hasService, rrsets }: EditedNode): boolean {
  return hasService || rrsets > 0
}

function compareNew(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  return a < b ? -1 : 1
}

/** Returns the index of `name`, or the index at which it would be inserted. */
function positionOf(texts: readonly string[], name: string): number {
  return lowerBound(texts.length, (at) => texts[at]! < name)
}

/** Copies runs of rows: row by row would take as long as parsing and sorting again. */
class Splice {
  readonly #last: LaidNames
  readonly #names: Uint8Array
  readonly #nodeRow: Uint32Array
  readonly #texts: string[] = []
  readonly #childCounts: Uint32Array
  readonly #moved: Uint32Array
  readonly #indexOf = new Map<string, number>()
  /** The next row to copy. */
  #from = 0
  #nameBytes = 0

  constructor(last: LaidNames, came: readonly EditedNode[], went: readonly EditedNode[]) {
    const count = last.texts.length + came.length - went.length
    const cameBytes = came.reduce((sum, { name }) => sum + wireOf(name).length, 0)
    const wentBytes = went.reduce((sum, { name }) => sum + wireOf(name).length, 0)
    this.#last = last
    this.#names = new Uint8Array(last.names.length + cameBytes - wentBytes)
    this.#nodeRow = new Uint32Array(count * NodeCell.Words)
    this.#childCounts = new Uint32Array(count)
    this.#moved = new Uint32Array(last.texts.length)
  }

  copyUpTo(end: number): void {
    const { names, nodeRow, texts, childCounts } = this.#last
    const from = this.#from
    if (from === end) return
    const to = this.#texts.length
    const { Words, NameOffset } = NodeCell
    const firstByte = nodeRow[from * Words + NameOffset]!
    const endByte = end === texts.length ? names.length : nodeRow[end * Words + NameOffset]!
    this.#names.set(names.subarray(firstByte, endByte), this.#nameBytes)
    this.#nodeRow.set(nodeRow.subarray(from * Words, end * Words), to * Words)
    this.#childCounts.set(childCounts.subarray(from, end), to)
    const further = this.#nameBytes - firstByte
    for (let at = from; at < end; at++) {
      const index = to + at - from
      this.#texts.push(texts[at]!)
      this.#moved[at] = index
      // Typed arrays wrap a negative shift correctly.
      this.#nodeRow[index * Words + NameOffset]! += further
    }
    this.#nameBytes += endByte - firstByte
    this.#from = end
  }

  skip(): void {
    this.#from++
  }

  insert({ name, zone, flags, children }: EditedNode): void {
    const wire = wireOf(name)
    const index = this.#texts.length
    const nameOffset = this.#nameBytes
    const blank = { service: 0, rrsets: 0, firstRrset: 0 }
    writeNode(this.#nodeRow, index, wire, { zone, flags, ...blank, nameOffset })
    this.#names.set(wire, nameOffset)
    this.#nameBytes += wire.length
    this.#texts.push(name)
    this.#childCounts[index] = children
    this.#indexOf.set(name, index)
  }

  overwrite({ name, at, zone, flags, rrsets, children, hasService }: EditedNode): void {
    const index = this.#moved[at]!
    const row = index * NodeCell.Words
    const bytes = this.#nodeRow[row + NodeCell.NameBytesAndFlags]! & 0xff
    this.#nodeRow[row + NodeCell.NameBytesAndFlags] =
      bytes | (flags << nodeFlagShift) | (rrsets << rrsetCountShift)
    this.#nodeRow[row + NodeCell.Zone] = zone
    if (!hasService) this.#nodeRow[row + NodeCell.Service] = 0
    this.#childCounts[index] = children
    this.#indexOf.set(name, index)
  }

  result(): EditedNames {
    const laid = {
      names: this.#names,
      nodeRow: this.#nodeRow,
      texts: this.#texts,
      childCounts: this.#childCounts,
    }
    return { laid, moved: this.#moved, indexOf: this.#indexOf }
  }
}
