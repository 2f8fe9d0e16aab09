// Reads one pack file and its index by position; pieces of both are held in memory.
import { closeSync, fstatSync, openSync } from 'node:fs'
import { inflateSync } from 'node:zlib'
import { assert } from '#lib/assert.ts'
import { gitLimits } from '#gitops/limits.ts'
import { Oversized } from './oversized.ts'
import { readAt } from './read-at.ts'

export type PackedType = 'commit' | 'tree' | 'blob' | 'tag'

/** An object as it lies in a pack: whole, or as a delta to another one. */
export type PackEntry = EntryBody & {
  /** Size after inflation, of the object or of the delta. */
  readonly sizeBytes: number
  /** Where its compressed octets begin. */
  readonly dataAt: number
}

type EntryBody =
  | { readonly kind: 'whole'; readonly type: PackedType }
  /** A delta to the object at offset `base` of the same pack. */
  | { readonly kind: 'delta'; readonly base: number }
  /** A delta to the object with that id, in this pack or elsewhere. */
  | { readonly kind: 'delta-to-id'; readonly base: string }

const magic = 0xff74_4f63
const namesAt = 8 + 256 * 4
const idBytes = 20
const wholeTypes: readonly (PackedType | undefined)[] = [, 'commit', 'tree', 'blob', 'tag']
/** Ids of one bucket that are read at once, 24 KB; larger packs are searched row by row. */
const bucketIdsMax = 1_024
const bucketsMax = 256
/** Half of what is read of a pack at once: objects that are asked for together lie together. */
const stepBytes = 8 * 1_024

/** Ids that follow each other in the index, with the offsets of their objects. */
interface Bucket {
  readonly ids: Buffer
  readonly offsets: Buffer
}
const offsetDelta = 6
const idDelta = 7

export class PackFile {
  readonly #index: number
  readonly #pack: number
  readonly #packBytes: number
  /** For each first octet: how many ids begin with it or a lower one. */
  readonly #fanout: Buffer
  readonly #count: number
  readonly #offsetsAt: number
  /** Ids that were read, by their first octet. */
  readonly #buckets = new Map<number, Bucket>()
  readonly #window = Buffer.allocUnsafeSlow(2 * stepBytes)
  /** Offset of the pack where the piece in memory begins. */
  #windowAt = 0
  #windowEnd = 0

  /**
   * @param path without `.idx` or `.pack`
   * @throws the file system's error, or what is wrong with the index
   */
  constructor(path: string) {
    this.#index = openSync(`${path}.idx`, 'r')
    try {
      const head = readAt(this.#index, 0, namesAt)
      if (head.length < namesAt || head.readUInt32BE(0) !== magic || head.readUInt32BE(4) !== 2)
        throw new Error(`${path}.idx is no index of version 2`)
      this.#fanout = head.subarray(8)
      this.#count = this.#fanout.readUInt32BE(255 * 4)
      this.#offsetsAt = namesAt + this.#count * (idBytes + 4)
      this.#pack = openSync(`${path}.pack`, 'r')
    } catch (error) {
      closeSync(this.#index)
      throw error
    }
    this.#packBytes = fstatSync(this.#pack).size
  }

  close(): void {
    closeSync(this.#index)
    closeSync(this.#pack)
  }

  /** Whether the object is in this pack. */
  has(oid: string): boolean {
    return this.#placeOf(oid) !== undefined
  }

  /** @returns where the object begins; undefined when it is not in this pack */
  find(oid: string): number | undefined {
    const place = this.#placeOf(oid)
    return place && this.#offset(place.bucket.offsets.readUInt32BE(place.row * 4))
  }

  #placeOf(oid: string): { readonly bucket: Bucket; readonly row: number } | undefined {
    const id = Buffer.from(oid, 'hex')
    const first = id[0]!
    const isSmall = this.#count <= bucketIdsMax
    let low = isSmall || first === 0 ? 0 : this.#fanout.readUInt32BE((first - 1) * 4)
    let high = isSmall ? this.#count : this.#fanout.readUInt32BE(first * 4)
    while (high - low > bucketIdsMax) {
      const middle = (low + high) >>> 1
      const order = id.compare(this.#row(namesAt, middle, idBytes))
      if (order < 0) high = middle
      else low = middle
    }
    if (high <= low) return undefined
    const bucket = this.#bucket(low, high)
    let [from, end] = [0, high - low]
    while (from < end) {
      const row = (from + end) >>> 1
      const order = id.compare(bucket.ids, row * idBytes, (row + 1) * idBytes)
      if (order === 0) return { bucket, row }
      if (order < 0) end = row
      else from = row + 1
    }
    return undefined
  }

  /** Reads the ids of one bucket. Buckets of a large pack are not held in memory. */
  #bucket(low: number, high: number): Bucket {
    const known = this.#buckets.get(low)
    if (known !== undefined) return known
    const bucket = {
      ids: this.#row(namesAt + low * idBytes, 0, (high - low) * idBytes),
      offsets: this.#row(this.#offsetsAt + low * 4, 0, (high - low) * 4),
    }
    if (this.#buckets.size === bucketsMax) this.#buckets.clear()
    this.#buckets.set(low, bucket)
    return bucket
  }

  #row(tableAt: number, row: number, rowBytes: number): Buffer {
    const bytes = readAt(this.#index, tableAt + row * rowBytes, rowBytes)
    if (bytes.length < rowBytes) throw new Error('the index of its pack is cut short')
    return bytes
  }

  #offset(offset: number): number {
    if (offset < 0x8000_0000) return offset
    // Offsets beyond two gigabytes are in a table of their own.
    const farAt = this.#offsetsAt + this.#count * 4
    return Number(this.#row(farAt, offset - 0x8000_0000, 8).readBigUInt64BE())
  }

  /** @throws Oversized, or what is wrong with it */
  entry(at: number): PackEntry {
    const bytes = this.#read(at, 64)
    let next = 0
    const octet = (): number => bytes[next++] ?? damaged('it is cut short')
    let last = octet()
    const code = (last >> 4) & 7
    let sizeBytes = last & 15
    for (let factor = 16; last >= 128; factor *= 128) {
      last = octet()
      sizeBytes += (last & 127) * factor
    }
    if (sizeBytes > gitLimits.objectBytesMax) throw new Oversized(sizeBytes)
    const type = wholeTypes[code]
    if (type !== undefined) return { kind: 'whole', type, sizeBytes, dataAt: at + next }
    if (code === idDelta) {
      const base = bytes.toString('hex', next, next + idBytes)
      return { kind: 'delta-to-id', base, sizeBytes, dataAt: at + next + idBytes }
    }
    if (code !== offsetDelta) damaged(`it is of the unknown type ${code}`)
    last = octet()
    let distance = last & 127
    while (last >= 128) {
      last = octet()
      distance = (distance + 1) * 128 + (last & 127)
    }
    // A base must lie before its delta, so that a chain of deltas ends.
    if (distance <= 0 || distance >= at) damaged('its base is outside the pack')
    return { kind: 'delta', base: at - distance, sizeBytes, dataAt: at + next }
  }

  /** @throws what is wrong with it */
  inflate({ sizeBytes, dataAt }: PackEntry): Buffer {
    // The most octets that the compressed object can have. Their true number is not stored.
    const boundBytes = sizeBytes + (sizeBytes >> 8) + 256
    const wantedBytes = Math.min(boundBytes, this.#packBytes - dataAt)
    const bytes = this.#read(dataAt, Math.max(wantedBytes, 0))
    const content = inflateSync(bytes, {
      maxOutputLength: sizeBytes + 1,
      // By default zlib allocates 16 kilobytes for an object of 200 octets, and keeps them as long
      // as it.
      chunkSize: Math.max(sizeBytes + 1, 64),
    })
    if (content.length !== sizeBytes) damaged('it is not as long as it says')
    return content
  }

  /** @returns octets of the pack, as they are until the next call */
  #read(at: number, length: number): Buffer {
    if (length > stepBytes) return readAt(this.#pack, at, length)
    const end = Math.min(at + length, this.#packBytes)
    if (at < this.#windowAt || end > this.#windowEnd) {
      this.#windowAt = at - (at % stepBytes)
      // After a read that failed, the window holds nothing valid.
      this.#windowEnd = 0
      const read = readAt(this.#pack, this.#windowAt, 2 * stepBytes, this.#window)
      this.#windowEnd = this.#windowAt + read.length
    }
    const from = at - this.#windowAt
    return this.#window.subarray(
      from,
      Math.max(from, Math.min(end, this.#windowEnd) - this.#windowAt),
    )
  }
}

function damaged(what: string): never {
  throw new Error(`in its pack ${what}`)
}

interface DeltaHead {
  readonly baseBytes: number
  readonly resultBytes: number
  /** Where the commands begin. */
  readonly commandsAt: number
}

/** @throws Oversized, or what is wrong with the delta */
export function deltaHead(delta: Buffer): DeltaHead {
  let at = 0
  const size = (): number => {
    let value = 0
    for (let factor = 1, last = 128; last >= 128; factor *= 128) {
      last = delta[at++] ?? damaged('its delta is cut short')
      value += (last & 127) * factor
    }
    return value
  }
  const baseBytes = size()
  const resultBytes = size()
  if (resultBytes > gitLimits.objectBytesMax) throw new Oversized(resultBytes)
  return { baseBytes, resultBytes, commandsAt: at }
}

/**
 * Applies a delta to its base.
 *
 * @throws Oversized, or what is wrong with the delta
 */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const { baseBytes, resultBytes: bytes, commandsAt } = deltaHead(delta)
  let at = commandsAt
  const octet = (): number => delta[at++] ?? damaged('its delta is cut short')
  if (baseBytes !== base.length) damaged('its delta is for another base')
  const result = Buffer.allocUnsafe(bytes)
  let filled = 0
  while (at < delta.length) {
    const command = octet()
    if (command === 0) damaged('its delta has an unknown command')
    let from = delta
    let start = at
    let count = command
    if (command >= 128) {
      from = base
      start = 0
      for (let bit = 0; bit < 4; bit++) if (command & (1 << bit)) start += octet() * 256 ** bit
      count = 0
      for (let bit = 4; bit < 7; bit++)
        if (command & (1 << bit)) count += octet() * 256 ** (bit - 4)
      if (count === 0) count = 0x1_0000
    } else at += count
    if (start + count > from.length || filled + count > bytes) damaged('its delta goes too far')
    from.copy(result, filled, start, start + count)
    filled += count
  }
  assert(filled <= bytes, 'each copy was checked')
  if (filled !== bytes) damaged('its delta is cut short')
  return result
}
