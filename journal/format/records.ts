// Records of a journal: how one is framed, and how a file of them is read, whatever became of it.
import { crc32 } from 'node:zlib'
import type { MadeChecks } from '#bundle/load/probed-pools.ts'
import { journalLimits } from './limits.ts'
import { OctetReader, OctetWriter } from './octets.ts'
import { isFields, parseJson } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'

/**
 * Each is one octet in the file: numbers are never given to another kind. Older versions wrote 8
 * and 9, which are passed over, as any other number is.
 */
export const RecordKind = {
  /** First in each segment; JSON of `SegmentHead`. */
  Head: 1,
  /** A bundle begins to answer, or a segment begins: JSON of `GenerationHead`, then `Changes`. */
  Generation: 2,
  /** What has changed since, with times: see changes.ts. */
  Changes: 3,
  /** Every thread answers from the generation before. */
  Settled: 4,
  /** JSON of the databases that are loaded now. */
  Tables: 5,
  /** Nothing has happened. */
  Alive: 6,
  /** The node changes nothing any more: it was stopped. */
  Stop: 7,
} as const
export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind]

/** What a segment is a part of. */
export interface SegmentHead {
  readonly format: 1
  readonly node: string
  readonly version: string
  /** Names the process: monotonic times are comparable within it. */
  readonly run: string
  /** `resumed`: what happened before is lost, for the reason that `lost` has. */
  readonly why: 'started' | 'rotated' | 'resumed'
  readonly lost?: string
}

export interface GenerationHead {
  readonly digest: string
  readonly commit: string
  readonly seq: number
  /** SOA serial of every zone. */
  readonly serial: number
  /**
   * Bundles with the same members in the same rows, and the same of them probed, have the same;
   * left out: by an older node.
   */
  readonly members?: string
  /** Which checks the node made; left out: by an older node, which is taken to have made all. */
  readonly checks?: MadeChecks
  /** The bundle answered already when the segment began. */
  readonly isContinued: boolean
}

/** Both clocks, when it was written or, of changes, at the first of them. */
export interface RecordTimes {
  readonly wallMs: number
  readonly monotonicMs: number
}

export interface JournalRecord extends RecordTimes {
  readonly kind: number
  readonly payload: Buffer
}

/** The entries of a record, up to so many milliseconds after it began. */
export interface ChangesUntil {
  readonly payload: Buffer
  readonly untilMs: number
}

/** Octets of a file before its first record: what it is, and its version. */
export const magic = Buffer.from('GSLBJRN1')
/** Length and checksum. */
const frameBytes = 8
/** Kind and both clocks. */
const headBytes = 17

/** Octets at the start of a file that are enough to read when it begins. */
export const firstBytes = magic.length + frameBytes + headBytes

/** Wall clock of the first record, not checked; undefined: the file is too short. */
export function firstWallMs(file: Buffer): number | undefined {
  if (file.length < firstBytes) return undefined
  return file.readDoubleLE(magic.length + frameBytes + 1)
}

export function frame(kind: RecordKind, times: RecordTimes, payload: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(frameBytes + headBytes + payload.length)
  framed[frameBytes] = kind
  framed.writeDoubleLE(times.wallMs, frameBytes + 1)
  framed.writeDoubleLE(times.monotonicMs, frameBytes + 9)
  framed.set(payload, frameBytes + headBytes)
  const body = framed.subarray(frameBytes)
  framed.writeUInt32LE(body.length, 0)
  framed.writeUInt32LE(crc32(body), 4)
  return framed
}

export function frameJson(kind: RecordKind, times: RecordTimes, value: object): Buffer {
  return frame(kind, times, Buffer.from(JSON.stringify(value)))
}

/** A head in JSON, then octets. */
export function withHead(head: object, octets: Uint8Array): Buffer {
  const writer = new OctetWriter(octets.length + 256)
  writer.text(JSON.stringify(head))
  writer.raw(octets)
  return writer.take()
}

export interface ReadRecords {
  readonly records: readonly JournalRecord[]
  /** Octets at the end that are no whole record: a write was cut, or the file is damaged. */
  readonly lostBytes: number
}

/** Never throws: what follows a damaged record is not believed. */
export function readRecords(file: Buffer): ReadRecords {
  if (!file.subarray(0, magic.length).equals(magic)) return { records: [], lostBytes: file.length }
  return readRecordsFrom(file, magic.length)
}

/** The same from where a record begins. */
export function readRecordsFrom(file: Buffer, beginAt: number): ReadRecords {
  const records: JournalRecord[] = []
  let at = beginAt
  while (at < file.length) {
    const record = recordAt(file, at)
    if (record === undefined) break
    records.push(record)
    at += frameBytes + headBytes + record.payload.length
  }
  return { records, lostBytes: Math.max(0, file.length - at) }
}

/** Octets of the record that begins at `at`; undefined: it is cut off, or damaged. */
export function recordBytesAt(file: Buffer, at: number): number | undefined {
  if (file.length - at < frameBytes) return undefined
  const length = file.readUInt32LE(at)
  const isRecord = length >= headBytes && length <= journalLimits.recordBytesMax
  return isRecord ? frameBytes + length : undefined
}

function recordAt(file: Buffer, at: number): JournalRecord | undefined {
  if (file.length - at < frameBytes + headBytes) return undefined
  const length = file.readUInt32LE(at)
  const isLong = length > journalLimits.recordBytesMax || length > file.length - at - frameBytes
  if (isLong || length < headBytes) return undefined
  const body = file.subarray(at + frameBytes, at + frameBytes + length)
  if (crc32(body) !== file.readUInt32LE(at + 4)) return undefined
  const wallMs = body.readDoubleLE(1)
  const monotonicMs = body.readDoubleLE(9)
  if (!Number.isFinite(wallMs) || !Number.isFinite(monotonicMs)) return undefined
  return { kind: body[0]!, wallMs, monotonicMs, payload: body.subarray(headBytes) }
}

/** undefined: it is no JSON object. */
export function jsonOf(payload: Buffer): Fields | undefined {
  const value = parseJson(payload.toString('utf8'))
  return isFields(value) ? value : undefined
}

export function segmentHead({ kind, payload }: JournalRecord): SegmentHead | undefined {
  const value = kind === RecordKind.Head ? jsonOf(payload) : undefined
  const isHead = value?.['format'] === 1 && typeof value['run'] === 'string'
  return isHead ? (value as unknown as SegmentHead) : undefined
}

/** The head of a generation, and the octets of the state that it began with. */
export function generationOf({
  kind,
  payload,
}: JournalRecord): { readonly head: GenerationHead; readonly state: Buffer } | undefined {
  if (kind !== RecordKind.Generation) return undefined
  const reader = new OctetReader(payload)
  const head = jsonOf(Buffer.from(reader.text()))
  if (reader.isBad || typeof head?.['digest'] !== 'string') return undefined
  if (typeof head['commit'] !== 'string' || typeof head['serial'] !== 'number') return undefined
  return { head: head as unknown as GenerationHead, state: reader.rest() }
}
