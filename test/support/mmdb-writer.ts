// Writes small MaxMind DB files: all record sizes, nested data, pointers, aliases of the IPv4 tree.
import { parseCidr } from '#routing/tables/cidr.ts'

/** Whole numbers become uint32, others double; a bigint becomes uint64. */
export type Field =
  string | number | bigint | boolean | readonly Field[] | { readonly [key: string]: Field }

export interface MmdbPlan {
  /** In CIDR notation; IPv4 is at ::/96 in a database of IPv6. Later ones overwrite. */
  readonly networks: readonly (readonly [cidr: string, record: Field])[]
  readonly type?: string
  readonly ipVersion?: 4 | 6
  readonly recordSize?: 24 | 28 | 32
  readonly buildEpoch?: number
  /** Points ::ffff:0:0/96 and 2002::/16 to the IPv4 tree, as MaxMind does. */
  readonly aliases?: boolean
  /** Writes each text and map once and points to it, as MaxMind does. Default true. */
  readonly pointers?: boolean
  /** Replaces or adds keys of the metadata; undefined removes one. */
  readonly metadata?: Readonly<Record<string, Field | undefined>>
}

interface Node {
  readonly sides: [Node | number | undefined, Node | number | undefined]
  index: number
}

const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')

export function writeMmdb(plan: MmdbPlan): Buffer {
  const { ipVersion = 6, recordSize = 24, aliases = false } = plan
  const data = new DataWriter(plan.pointers ?? true)
  const root = newNode()
  for (const [cidr, record] of plan.networks) {
    put(root, pathOf(cidr, ipVersion), data.record(record))
  }
  if (aliases) addAliases(root)
  const nodes = numbered(root)
  const tree = Buffer.concat(
    nodes.map(({ sides }) => {
      const [left, right] = sides.map((side) => {
        if (side === undefined) return nodes.length
        return typeof side === 'number' ? nodes.length + 16 + side : side.index
      })
      return nodeBytes(left!, right!, recordSize)
    }),
  )
  const metadata: Record<string, Field | undefined> = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: BigInt(plan.buildEpoch ?? 1_700_000_000),
    database_type: plan.type ?? 'Test-Country',
    description: { en: 'written by a test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: recordSize,
    ...plan.metadata,
  }
  const kept = Object.entries(metadata).filter(([, value]) => value !== undefined)
  const tail = new DataWriter(false)
  tail.record(Object.fromEntries(kept) as Field)
  return Buffer.concat([tree, Buffer.alloc(16), data.bytes(), marker, tail.bytes()])
}

function newNode(): Node {
  return { sides: [undefined, undefined], index: 0 }
}

function pathOf(cidr: string, ipVersion: 4 | 6): number[] {
  const parsed = parseCidr(cidr)
  if (!parsed.ok) throw new Error(parsed.error)
  const { octets, prefixBits } = parsed.value
  const bits = Array.from({ length: prefixBits }, (_, i) => (octets[i >> 3]! >> (7 - (i & 7))) & 1)
  return octets.length === 4 && ipVersion === 6 ? [...Array<number>(96).fill(0), ...bits] : bits
}

function put(root: Node, path: readonly number[], target: Node | number): void {
  let node = root
  for (const bit of path.slice(0, -1)) {
    const side = node.sides[bit]
    if (side === undefined || typeof side === 'number') {
      // A network inside a known one: the rest keeps its record.
      const split = newNode()
      split.sides.fill(side)
      node.sides[bit] = split
      node = split
    } else node = side
  }
  const last = path.at(-1)
  if (last === undefined) node.sides.fill(target)
  else node.sides[last] = target
}

function addAliases(root: Node): void {
  let node = root
  for (let i = 0; i < 96; i++) {
    const side = node.sides[0]
    if (side === undefined || typeof side === 'number') throw new Error('there is no IPv4 tree')
    node = side
  }
  const zeros = (count: number): number[] => Array<number>(count).fill(0)
  const ones = Array<number>(16).fill(1)
  put(root, [...zeros(80), ...ones], node)
  put(root, [0, 0, 1, 0, ...zeros(8), 0, 0, 1, 0], node)
}

function numbered(root: Node): Node[] {
  const nodes = [root]
  const seen = new Set(nodes)
  for (const node of nodes) {
    for (const side of node.sides) {
      if (side === undefined || typeof side === 'number' || seen.has(side)) continue
      seen.add(side)
      side.index = nodes.push(side) - 1
    }
  }
  return nodes
}

function nodeBytes(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const bytes = Buffer.alloc(recordSize / 4)
  if (recordSize === 32) {
    bytes.writeUInt32BE(left, 0)
    bytes.writeUInt32BE(right, 4)
    return bytes
  }
  bytes.writeUIntBE(left & 0xff_ffff, 0, 3)
  bytes.writeUIntBE(right & 0xff_ffff, bytes.length - 3, 3)
  if (recordSize === 28) bytes[3] = ((left >>> 24) << 4) | (right >>> 24)
  return bytes
}

/** Fields as MaxMind DB File Format Specification 2.0, "Output Data Section", has them. */
export class DataWriter {
  readonly #parts: Buffer[] = []
  readonly #isPointing: boolean
  readonly #known = new Map<string, number>()
  #length = 0

  constructor(isPointing: boolean) {
    this.#isPointing = isPointing
  }

  /** @returns its offset */
  record(value: Field): number {
    const key = recordKey(value)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#isPointing) this.#prepare(value)
    const offset = this.#length
    this.#write(value)
    this.#known.set(key, offset)
    return offset
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }

  /** Writes nested texts and maps before the record, so that it can point to them. */
  #prepare(value: Field): void {
    if (typeof value !== 'object') return
    const below = Array.isArray(value) ? value : [...Object.keys(value), ...Object.values(value)]
    for (const part of below as Field[]) {
      if (typeof part === 'object' || (typeof part === 'string' && part.length > 3)) {
        this.record(part)
      }
    }
  }

  #write(value: Field): void {
    if (typeof value === 'string') this.#push(control(2, Buffer.byteLength(value)), value)
    else if (typeof value === 'boolean') this.#push(control(14, Number(value)))
    else if (typeof value === 'bigint') this.#number(9, value)
    else if (typeof value === 'number') this.#plainNumber(value)
    else if (Array.isArray(value)) {
      this.#push(control(11, value.length))
      for (const part of value as Field[]) this.#point(part)
    } else {
      const entries = Object.entries(value)
      this.#push(control(7, entries.length))
      for (const [key, part] of entries) {
        this.#point(key)
        this.#point(part)
      }
    }
  }

  #plainNumber(value: number): void {
    if (Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff) {
      this.#number(6, BigInt(value))
      return
    }
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(value)
    this.#push(control(3, 8), bytes)
  }

  #number(type: number, value: bigint): void {
    let hex = value === 0n ? '' : value.toString(16)
    if (hex.length % 2 === 1) hex = `0${hex}`
    this.#push(control(type, hex.length / 2), Buffer.from(hex, 'hex'))
  }

  #point(value: Field): void {
    const known = this.#isPointing ? this.#known.get(recordKey(value)) : undefined
    if (known === undefined) this.#write(value)
    else this.#push(pointer(known))
  }

  #push(...parts: (Buffer | string)[]): void {
    for (const part of parts) {
      const bytes = Buffer.from(part)
      this.#parts.push(bytes)
      this.#length += bytes.length
    }
  }
}

function recordKey(value: Field): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? `${part}n` : part,
  )
}

/** A control octet with the size behind it. */
export function control(type: number, size: number): Buffer {
  const head = type > 7 ? [0, type - 7] : [type << 5]
  const [low, rest] =
    size < 29
      ? [size, Buffer.alloc(0)]
      : size < 285
        ? [29, Buffer.from([size - 29])]
        : size < 65_821
          ? [30, bigEndian(size - 285, 2)]
          : [31, bigEndian(size - 65_821, 3)]
  head[0]! |= low
  return Buffer.concat([Buffer.from(head), rest])
}

/** A pointer of the fewest octets. */
export function pointer(offset: number): Buffer {
  if (offset < 2_048) return Buffer.from([0x20 | (offset >> 8), offset & 0xff])
  if (offset < 526_336) {
    const value = offset - 2_048
    return Buffer.concat([Buffer.from([0x28 | (value >> 16)]), bigEndian(value & 0xffff, 2)])
  }
  if (offset < 134_744_064) {
    const value = offset - 526_336
    return Buffer.concat([Buffer.from([0x30 | (value >> 24)]), bigEndian(value & 0xff_ffff, 3)])
  }
  return Buffer.concat([Buffer.from([0x38]), bigEndian(offset, 4)])
}

function bigEndian(value: number, octets: number): Buffer {
  const bytes = Buffer.alloc(octets)
  bytes.writeUIntBE(value, 0, octets)
  return bytes
}
