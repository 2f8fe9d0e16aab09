// Walks the search tree of a MaxMind DB file: each network once, in address order.
import { geoLimits } from './limits.ts'

/** Position and form of the tree in its file. */
export interface MmdbTree {
  readonly bytes: Buffer
  readonly nodeCount: number
  readonly recordSize: 24 | 28 | 32
  readonly ipVersion: 4 | 6
  /** Octets of the data section. */
  readonly dataBytes: number
}

/**
 * Receives networks; false ends the walk. `dataOffset` counts from the start of the data section.
 */
export interface NetworkSink {
  /** First and last address. */
  network4(start: number, end: number, dataOffset: number): boolean
  /** Four words each, the most significant first; valid during the call. */
  network6(start: Uint32Array, end: Uint32Array, dataOffset: number): boolean
}

const separatorBytes = 16
const ipv4Depth = 96

/**
 * IPv4 addresses are below ::/96 in a tree of IPv6, and reported as IPv4. Other paths to the same
 * node (::ffff:0:0/96, 2002::/16, 2001::/32) are aliases, and are skipped: they would repeat every
 * IPv4 network.
 */
export class MmdbWalk {
  /** The end of a sentence that begins with "the database". */
  fault: string | undefined
  networks = 0
  readonly #tree: MmdbTree
  readonly #sink: NetworkSink
  readonly #bits: 32 | 128
  readonly #ipv4Root: number
  readonly #start = new Uint32Array(4)
  readonly #end = new Uint32Array(4)
  #visitsLeft: number

  constructor(tree: MmdbTree, sink: NetworkSink) {
    this.#tree = tree
    this.#sink = sink
    this.#bits = tree.ipVersion === 4 ? 32 : 128
    this.#visitsLeft = tree.nodeCount * geoLimits.visitsPerNodeMax
    this.#ipv4Root = tree.ipVersion === 4 ? -1 : ipv4Root(tree)
  }

  /** @returns false after a fault, or when the sink ended the walk */
  run(): boolean {
    return this.#node(0, 0)
  }

  #node(node: number, depth: number): boolean {
    if (--this.#visitsLeft < 0) return this.#fail('has a search tree that goes in circles')
    if (depth === this.#bits) return this.#fail('has a search tree that is deeper than an address')
    if (!this.#record(readRecord(this.#tree, node, 0), depth + 1)) return false
    const word = this.#bits === 32 ? 3 : depth >> 5
    const mask = 1 << (31 - (depth & 31))
    this.#start[word]! |= mask
    const goesOn = this.#record(readRecord(this.#tree, node, 1), depth + 1)
    this.#start[word]! &= ~mask
    return goesOn
  }

  #record(record: number, depth: number): boolean {
    const { nodeCount, dataBytes } = this.#tree
    if (record < nodeCount) {
      const isAlias = record === this.#ipv4Root && !(depth === ipv4Depth && this.#isBelowZero())
      return isAlias || this.#node(record, depth)
    }
    if (record === nodeCount) return true
    const offset = record - nodeCount - separatorBytes
    if (offset < 0 || offset >= dataBytes) {
      return this.#fail('has a search tree that points out of the data section')
    }
    if (++this.networks > geoLimits.networksMax) {
      return this.#fail(`has more than ${geoLimits.networksMax} networks`)
    }
    return this.#network(depth, offset)
  }

  #network(depth: number, offset: number): boolean {
    const start = this.#start
    if (this.#bits === 32) {
      return this.#sink.network4(start[3]!, start[3]! + 2 ** (32 - depth) - 1, offset)
    }
    if (this.#isBelowZero()) {
      if (depth >= ipv4Depth) {
        return this.#sink.network4(start[3]!, start[3]! + 2 ** (128 - depth) - 1, offset)
      }
      // One record covers ::/96 and more.
      if (!this.#sink.network4(0, 0xffff_ffff, offset)) return false
    }
    for (let word = 0; word < 4; word++) {
      const bits = Math.min(Math.max(depth - word * 32, 0), 32)
      this.#end[word] = start[word]! + 2 ** (32 - bits) - 1
    }
    return this.#sink.network6(start, this.#end, offset)
  }

  /** Whether the position is above or below ::/96. */
  #isBelowZero(): boolean {
    return this.#start[0] === 0 && this.#start[1] === 0 && this.#start[2] === 0
  }

  #fail(what: string): false {
    this.fault ??= what
    return false
  }
}

/** @returns the node at ::/96; -1: a record above it covers all IPv4 addresses */
function ipv4Root(tree: MmdbTree): number {
  let node = 0
  for (let depth = 0; depth < ipv4Depth; depth++) {
    node = readRecord(tree, node, 0)
    if (node >= tree.nodeCount) return -1
  }
  return node
}

function readRecord({ bytes, recordSize }: MmdbTree, node: number, side: 0 | 1): number {
  if (recordSize === 24) {
    const at = node * 6 + side * 3
    return (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
  }
  if (recordSize === 32) {
    const at = node * 8 + side * 4
    return (
      bytes[at]! * 0x100_0000 + ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!)
    )
  }
  // The fourth octet has the four highest bits of both records.
  const at = node * 7
  const middle = bytes[at + 3]!
  if (side === 0) {
    const low = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    return ((middle & 0xf0) << 20) | low
  }
  const low = (bytes[at + 4]! << 16) | (bytes[at + 5]! << 8) | bytes[at + 6]!
  return ((middle & 0x0f) << 24) | low
}
