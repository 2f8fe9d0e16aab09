// Makes and applies deltas between bundles: pieces that are copied, and pieces that are compressed
// with the old octets around the same place as dictionary (ADR 24).
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { promisify } from 'node:util'
import { assert } from '#lib/assert.ts'
import { layout } from '#bundle/format/format.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fleetLimits } from './limits.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Reads a bundle in parts, since it may have hundreds of megabytes. */
export interface BundleReader {
  readonly bytes: number
  /** @throws the file system's error, or a sentence when the bundle ends before */
  readonly read: (start: number, length: number) => Promise<Uint8Array>
}

const deltaLimits = {
  /** A larger delta is useless, since the whole bundle can be cached. */
  bytesMax: 64 * 1024 * 1024,
  pieceBytes: 1024 * 1024,
  /** How far a dictionary extends beyond its piece. zstd takes at most 16 MiB. */
  slackBytes: 512 * 1024,
  piecesMax: 8_192,
  headBytesMax: 1024 * 1024,
} as const

/** The largest delta that `makeDelta` makes of a bundle of so many octets. */
export function deltaBytesMax(bundleBytes: number): number {
  const { bytesMax, headBytesMax } = deltaLimits
  return prefixBytes + headBytesMax + Math.min(bytesMax, Math.ceil(bundleBytes / 2))
}

/** Layout: 8 octets of magic; length of the head, u32; the head, JSON in Zstandard; the data. */
const magic = 'GSLBDLT1'
const prefixBytes = 12

/** A part of the new bundle; pieces follow each other without a gap. */
interface Piece {
  /** Octets in the new bundle. */
  readonly length: number
  /** Where its copy, or its dictionary, begins in the old bundle. */
  readonly from: number
  /** Octets of the dictionary; 0: the piece is copied, or compressed without one. */
  readonly dictionary: number
  /** Octets of its compressed data; 0: the piece is copied. */
  readonly data: number
}

/** A section or the head, with the zeros after it. */
interface Region {
  readonly name: string
  readonly start: number
  readonly end: number
}

/**
 * Holds little of either bundle in memory, and compresses in another thread.
 *
 * @returns undefined: the delta would be too large
 */
export async function makeDelta(
  from: BundleReader,
  to: BundleReader,
): Promise<Uint8Array | undefined> {
  const before = new Map((await regionsOf(from)).map((region) => [region.name, region]))
  const pieces: Piece[] = []
  const data: Uint8Array[] = []
  let total = 0
  for (const region of await regionsOf(to)) {
    const old = before.get(region.name)
    for (let at = region.start; at < region.end; at += deltaLimits.pieceBytes) {
      const length = Math.min(deltaLimits.pieceBytes, region.end - at)
      const made = await makePiece({ from, to, region, old }, at, length)
      total += made.data.length
      addPiece(pieces, made.piece)
      if (made.data.length > 0) data.push(made.data)
      if (total > Math.min(deltaLimits.bytesMax, to.bytes / 2)) return undefined
    }
  }
  if (pieces.length > deltaLimits.piecesMax) return undefined
  const rows = pieces.map((piece) => [piece.length, piece.from, piece.dictionary, piece.data])
  const head = await compress(Buffer.from(JSON.stringify({ bytes: to.bytes, pieces: rows })))
  const prefix = Buffer.alloc(prefixBytes)
  prefix.write(magic, 'latin1')
  prefix.writeUInt32LE(head.length, magic.length)
  return Buffer.concat([prefix, head, ...data])
}

interface Pair {
  readonly from: BundleReader
  readonly to: BundleReader
  readonly region: Region
  /** undefined: the old bundle has no such section. */
  readonly old: Region | undefined
}

interface Made {
  readonly piece: Piece
  readonly data: Uint8Array
}

async function makePiece(pair: Pair, at: number, length: number): Promise<Made> {
  const { from, to, region, old } = pair
  const bytes = await to.read(at, length)
  if (old !== undefined) {
    // The same distance from the beginning of the section, or, after an inserted row, from its end.
    for (const place of [old.start + at - region.start, old.end - (region.end - at)]) {
      if (place < old.start || place + length > old.end) continue
      if (Buffer.compare(await from.read(place, length), bytes) === 0) return copyOf(place, length)
    }
  }
  const { start, size } = dictionaryFor(at - region.start, length, old)
  const dictionary = size === 0 ? undefined : Buffer.from(await from.read(start, size))
  const data = await compress(bytes, { ...(dictionary && { dictionary }), params })
  return { piece: { length, from: start, dictionary: size, data: data.length }, data }
}

const copyOf = (from: number, length: number): Made => ({
  piece: { length, from, dictionary: 0, data: 0 },
  data: new Uint8Array(0),
})

/**
 * Fast, with a table of every position of the dictionary: its last octets alone would be useless.
 */
const params = {
  [constants.ZSTD_c_strategy]: constants.ZSTD_fast,
  [constants.ZSTD_c_hashLog]: 20,
  [constants.ZSTD_c_minMatch]: 7,
  [constants.ZSTD_c_windowLog]: 22,
}

function dictionaryFor(
  at: number,
  length: number,
  old: Region | undefined,
): { readonly start: number; readonly size: number } {
  if (old === undefined) return { start: 0, size: 0 }
  const start = Math.min(old.end, Math.max(old.start, old.start + at - deltaLimits.slackBytes))
  const end = Math.min(old.end, old.start + at + length + deltaLimits.slackBytes)
  return { start, size: Math.max(0, end - start) }
}

/** Joins adjacent copies. */
function addPiece(pieces: Piece[], piece: Piece): void {
  const last = pieces.at(-1)
  const goesOn =
    last !== undefined && isCopy(last) && isCopy(piece) && last.from + last.length === piece.from
  if (goesOn) pieces[pieces.length - 1] = { ...last, length: last.length + piece.length }
  else pieces.push(piece)
}

const isCopy = ({ data }: Piece): boolean => data === 0

/** The head, and each section with the zeros after it; the last one includes the signature. */
async function regionsOf(reader: BundleReader): Promise<readonly Region[]> {
  const header = Buffer.from(await reader.read(0, layout.headerBytes))
  const manifestBytes = Math.min(header.readUInt32LE(12), bundleLimits.manifestBytesMax)
  const text = await reader.read(layout.headerBytes, manifestBytes)
  const { sections } = JSON.parse(Buffer.from(text).toString()) as {
    readonly sections: readonly { readonly name: string; readonly offset: number }[]
  }
  const unaligned = layout.headerBytes + manifestBytes
  const base = Math.ceil(unaligned / layout.alignment) * layout.alignment
  const starts = sections.map(({ name, offset }) => ({ name, start: base + offset }))
  const all = [{ name: '', start: 0 }, ...starts.toSorted((a, b) => a.start - b.start)]
  return all.map(({ name, start }, i) => ({ name, start, end: all[i + 1]?.start ?? reader.bytes }))
}

/**
 * Makes the new bundle in shared memory. Nothing here is trusted: the bundle is to be verified as
 * any other. Errors: what was found.
 *
 * @param known signed size of the bundle
 */
export async function applyDelta(
  delta: Uint8Array,
  from: BundleReader,
  bytesMax: number,
  known?: number,
): Promise<Result<Uint8Array<SharedArrayBuffer>, string>> {
  const bytes = Buffer.from(delta.buffer, delta.byteOffset, delta.byteLength)
  const head = await headOf(bytes)
  if (head === undefined) return err('it is no delta of a bundle')
  const { pieces, dataAt } = head
  const total = pieces.reduce((sum, { length }) => sum + length, 0)
  if (known !== undefined && total !== known) return err(`it makes ${total} octets, not ${known}`)
  if (total > bytesMax) return err(`it makes ${total} octets, too many for a bundle`)
  const made = new Uint8Array(new SharedArrayBuffer(total))
  let at = 0
  let dataStart = dataAt
  for (const piece of pieces) {
    const needed = isCopy(piece) ? piece.length : piece.dictionary
    if (piece.from + needed > from.bytes) return err('it is of another bundle')
    const data = bytes.subarray(dataStart, dataStart + piece.data)
    try {
      await fill(made.subarray(at, at + piece.length), piece, data, from)
    } catch (error) {
      return err(error instanceof Error ? error.message : String(error))
    }
    at += piece.length
    dataStart += piece.data
  }
  assert(at === total, 'the pieces fill the bundle that they were counted for')
  return dataStart === bytes.length ? ok(made) : err('it is cut short, or too long')
}

async function fill(
  target: Uint8Array,
  piece: Piece,
  data: Buffer,
  from: BundleReader,
): Promise<void> {
  const { length } = piece
  if (isCopy(piece)) {
    for (let at = 0; at < length; at += deltaLimits.pieceBytes) {
      const size = Math.min(deltaLimits.pieceBytes, length - at)
      target.set(await from.read(piece.from + at, size), at)
    }
    return
  }
  const dictionary =
    piece.dictionary === 0 ? undefined : Buffer.from(await from.read(piece.from, piece.dictionary))
  const options = { ...unpackedTo(length), ...(dictionary && { dictionary }) }
  const unpacked = await decompress(data, options)
  if (unpacked.length !== length) throw new Error('a piece has another length than it says')
  target.set(unpacked)
}

const windowed = { params: { [constants.ZSTD_d_windowLogMax]: fleetLimits.zstdWindowLog } }

/** Options for unpacking into one chunk: in the default chunks of 16 KiB it takes twice as long. */
const unpackedTo = (bytesMax: number) => ({
  ...windowed,
  maxOutputLength: bytesMax,
  chunkSize: Math.max(constants.Z_MIN_CHUNK, bytesMax),
})

interface Head {
  readonly pieces: readonly Piece[]
  readonly dataAt: number
}

/** @returns undefined: it is no delta */
async function headOf(delta: Buffer): Promise<Head | undefined> {
  if (delta.length < prefixBytes) return undefined
  if (delta.toString('latin1', 0, magic.length) !== magic) return undefined
  const dataAt = prefixBytes + delta.readUInt32LE(magic.length)
  if (dataAt > delta.length) return undefined
  try {
    const maxOutputLength = deltaLimits.headBytesMax
    const head = delta.subarray(prefixBytes, dataAt)
    const text = await decompress(head, { ...windowed, maxOutputLength })
    const { pieces: rows } = JSON.parse(text.toString()) as { readonly pieces: unknown }
    if (!Array.isArray(rows) || rows.length > deltaLimits.piecesMax) return undefined
    const pieces = (rows as unknown[]).map(pieceOf)
    return pieces.includes(undefined) ? undefined : { pieces: pieces as Piece[], dataAt }
  } catch {
    return undefined
  }
}

function pieceOf(row: unknown): Piece | undefined {
  if (!Array.isArray(row) || row.length !== 4 || !row.every(isSize)) return undefined
  const [length, from, dictionary, data] = row as [number, number, number, number]
  const isPacked = data > 0
  const dictionaryMax = deltaLimits.pieceBytes + 2 * deltaLimits.slackBytes
  if (dictionary > dictionaryMax || (isPacked && length > deltaLimits.pieceBytes)) return undefined
  return { length, from, dictionary, data }
}

const isSize = (value: unknown): boolean =>
  Number.isSafeInteger(value) &&
  (value as number) >= 0 &&
  (value as number) <= bundleLimits.bytesMax
