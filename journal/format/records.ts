// Frames the records of a journal, and reads a file of them in any condition.
import { crc32 } from 'node:zlib'
import type { MadeChecks } from '#bundle/load/probed-pools.ts'
import { journalLimits } from './limits.ts'
import { OctetReader, OctetWriter } from './octets.ts'
import { isFields, parseJson } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'

/**
 * Kinds of records, an octet in the file; a number is never reused. Older versions wrote 8 and 9,
 * which are skipped like any unknown number.
 */
export const RecordKind = {
  /** First record of each segment: JSON of `SegmentHead`. */
  Head: 1,
  /** A bundle becomes active, or a segment begins: JSON of `GenerationHead`, then `Changes`. */
  Generation: 2,
  /** Changes with their times: see changes.ts. */
  Changes: 3,
  /** Every thread answers from the last generation. */
  Settled: 4,
  /** The databases in use, as JSON. */
  Tables: 5,
  /** Nothing happened. */
  Alive: 6,
  /** The node was stopped, and changes nothing any more. */
  Stop: 7,
} as const
export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind]

/** Says where a segment belongs. */
export interface SegmentHead {
  readonly format: 1
  readonly node: string
  readonly version: string
  /** Identifies the process: monotonic times are comparable within it. */
  readonly run: string
  /** `resumed`: records before it are lost, for the reason in `lost`. */
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
   * Equal for bundles with the same members in the same rows, and the same of them probed; older
   * nodes leave it out.
   */
  readonly members?: string
  /** Health checks that the node makes; left out by older nodes, which are assumed to make all. */
  readonly checks?: MadeChecks
  /** True: the bundle was active before the segment began. */
  readonly isContinued: boolean
}

/** Both clocks at the writing of a record, or at the first of its changes. */
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

/** First octets of a file: its kind and version. */
export const magic = Buffer.from('GSLBJRN1')
/** Octets of length and checksum. */
const frameBytes = 8
/** Octets of the kind and both clocks. */
const headBytes = 17

/** Octets at the start of a file that contain its first time. */
export const firstBytes = magic.length + frameBytes + headBytes

/** Wall clock of the first record, unverified; undefined: the file is too short. */
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

interface ReadRecords {
  readonly records: readonly JournalRecord[]
  /** Octets at the end that are no whole record: a write was cut, or the file is damaged. */
  readonly lostBytes: number
}

/** Never throws. Records after a damaged one are ignored. */
export function readRecords(file: Buffer): ReadRecords {
  if (!file.subarray(0, magic.length).equals(magic)) return { records: [], lostBytes: file.length }
  return readRecordsFrom(file, magic.length)
}

/** Reads from the beginning of any record. */
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

/** Octets of the record at `at`; undefined: it is cut off, or damaged. */
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

/** @returns undefined: it is no JSON object */
export function jsonOf(payload: Buffer): Fields | undefined {
  const value = parseJson(payload.toString('utf8'))
  return isFields(value) ? value : undefined
}

export function segmentHead({ kind, payload }: JournalRecord): SegmentHead | undefined {
  const value = kind === RecordKind.Head ? jsonOf(payload) : undefined
  const isHead = value?.['format'] === 1 && typeof value['run'] === 'string'
  return isHead ? (value as unknown as SegmentHead) : undefined
}

/** The head of a generation, and the octets of its first state. */
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
