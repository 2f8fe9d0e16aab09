// A DNS message as tests see it, and its strict encoder and decoder. Written apart from dns/.
import { classNumbers, typeNumber, typeNumbers } from './codes.ts'
import { decodeName, encodeName } from './name.ts'
import { decodeRdata, uint16, uint32 } from './rdata.ts'
import type { ResourceRecord } from './record.ts'

interface Question {
  readonly name: string
  readonly type: number
  readonly class: number
}

export interface EdnsOption {
  readonly code: number
  readonly data: Buffer
}

/** The OPT record. RFC 6891 section 6.1. */
export interface Opt {
  readonly udpSize: number
  /** Upper eight bits of the response code. */
  readonly extendedRcode: number
  readonly version: number
  readonly dnssecOk: boolean
  /** The 15 flag bits besides DO. */
  readonly flags: number
  readonly options: readonly EdnsOption[]
}

export interface Message {
  readonly id: number
  readonly qr: boolean
  readonly opcode: number
  readonly aa: boolean
  readonly tc: boolean
  readonly rd: boolean
  readonly ra: boolean
  readonly z: boolean
  readonly ad: boolean
  readonly cd: boolean
  /** With the upper bits of OPT. */
  readonly rcode: number
  readonly questions: readonly Question[]
  readonly answer: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  /** Without OPT. */
  readonly additional: readonly ResourceRecord[]
  readonly opt: Opt | undefined
  readonly bytes: Buffer
}

/** The parts of a query besides its question; absent ones are zero, empty or missing. */
export interface QueryParts {
  readonly id?: number
  readonly qr?: boolean
  readonly opcode?: number
  readonly aa?: boolean
  readonly tc?: boolean
  readonly rd?: boolean
  readonly ra?: boolean
  readonly z?: boolean
  readonly ad?: boolean
  readonly cd?: boolean
  readonly rcode?: number
  readonly class?: number
  /** Replaces the one question. */
  readonly questions?: readonly Question[]
  readonly answer?: readonly ResourceRecord[]
  readonly authority?: readonly ResourceRecord[]
  readonly additional?: readonly ResourceRecord[]
  readonly opt?: Partial<Opt>
  /** Octets after the last counted record. */
  readonly trailing?: Buffer
}

let lastId = 0

/** `www.example.org. A` as bytes of a query. */
export function query(question: string, parts: QueryParts = {}): Buffer {
  const [name = '.', type = 'A'] = question.split(' ')
  const questions = parts.questions ?? [
    { name, type: typeNumber(type), class: parts.class ?? (classNumbers['IN'] as number) },
  ]
  lastId = (lastId + 1) & 0xffff
  return encodeMessage({ id: lastId, ...parts, questions })
}

export function encodeMessage(parts: QueryParts): Buffer {
  const { questions = [], answer = [], authority = [], additional = [], opt } = parts
  const records = [...additional.map(encodeRecord), ...(opt === undefined ? [] : [encodeOpt(opt)])]
  return Buffer.concat([
    uint16(parts.id ?? 0),
    Buffer.from(encodeFlags(parts)),
    ...[questions, answer, authority, records].map((section) => uint16(section.length)),
    ...questions.map((q) => Buffer.concat([encodeName(q.name), uint16(q.type), uint16(q.class)])),
    ...[...answer, ...authority].map(encodeRecord),
    ...records,
    parts.trailing ?? Buffer.alloc(0),
  ])
}

function encodeFlags(p: QueryParts): [number, number] {
  const bit = (value: boolean | undefined, mask: number): number => (value === true ? mask : 0)
  const first =
    bit(p.qr, 0x80) | ((p.opcode ?? 0) << 3) | bit(p.aa, 4) | bit(p.tc, 2) | bit(p.rd, 1)
  const second = bit(p.ra, 0x80) | bit(p.z, 0x40) | bit(p.ad, 0x20) | bit(p.cd, 0x10)
  return [first, second | ((p.rcode ?? 0) & 15)]
}

function encodeRecord(record: ResourceRecord): Buffer {
  const { name, type, ttl, rdata } = record
  const head = [encodeName(name), uint16(type), uint16(record.class), uint32(ttl)]
  return Buffer.concat([...head, uint16(rdata.length), rdata])
}

/** The whole OPT record, so that hostile ones can be built by changing its octets. */
export function encodeOpt(opt: Partial<Opt>, owner = '.'): Buffer {
  const { udpSize = 1232, extendedRcode = 0, version = 0, dnssecOk = false, flags = 0 } = opt
  const options = (opt.options ?? []).map(({ code, data }) =>
    Buffer.concat([uint16(code), uint16(data.length), data]),
  )
  const rdata = Buffer.concat(options)
  return Buffer.concat([
    encodeName(owner),
    uint16(typeNumbers['OPT'] as number),
    uint16(udpSize),
    Buffer.from([extendedRcode, version]),
    uint16((dnssecOk ? 0x8000 : 0) | flags),
    uint16(rdata.length),
    rdata,
  ])
}

/** @throws unless the octets are exactly one well-formed message */
export function decodeMessage(bytes: Buffer): Message {
  if (bytes.length < 12) throw new Error(`a message of ${bytes.length} octets has no header`)
  const first = bytes.readUInt8(2)
  const second = bytes.readUInt8(3)
  const cursor = { at: 12 }
  const questions = repeat(bytes.readUInt16BE(4), () => readQuestion(bytes, cursor))
  const answer = repeat(bytes.readUInt16BE(6), () => readRecord(bytes, cursor))
  const authority = repeat(bytes.readUInt16BE(8), () => readRecord(bytes, cursor))
  const additional = repeat(bytes.readUInt16BE(10), () => readRecord(bytes, cursor))
  if (cursor.at !== bytes.length) throw new Error(`${bytes.length - cursor.at} octets too many`)
  const opts = additional.filter((record) => record.type === typeNumbers['OPT'])
  if (opts.length > 1) throw new Error(`${opts.length} OPT records`)
  const opt = opts[0] === undefined ? undefined : readOpt(opts[0])
  return {
    id: bytes.readUInt16BE(0),
    qr: (first & 0x80) !== 0,
    opcode: (first >> 3) & 15,
    aa: (first & 4) !== 0,
    tc: (first & 2) !== 0,
    rd: (first & 1) !== 0,
    ra: (second & 0x80) !== 0,
    z: (second & 0x40) !== 0,
    ad: (second & 0x20) !== 0,
    cd: (second & 0x10) !== 0,
    rcode: ((opt?.extendedRcode ?? 0) << 4) | (second & 15),
    questions,
    answer,
    authority,
    additional: additional.filter((record) => record.type !== typeNumbers['OPT']),
    opt,
    bytes,
  }
}

interface Cursor {
  at: number
}

function repeat<T>(count: number, read: () => T): T[] {
  return Array.from({ length: count }, read)
}

function readQuestion(bytes: Buffer, cursor: Cursor): Question {
  const name = decodeName(bytes, cursor.at)
  cursor.at = name.end + 4
  return {
    name: name.text,
    type: bytes.readUInt16BE(name.end),
    class: bytes.readUInt16BE(name.end + 2),
  }
}

function readRecord(bytes: Buffer, cursor: Cursor): ResourceRecord {
  const name = decodeName(bytes, cursor.at)
  const start = name.end + 10
  const end = start + bytes.readUInt16BE(name.end + 8)
  if (end > bytes.length) throw new Error('RDATA leaves the message')
  const type = bytes.readUInt16BE(name.end)
  // RFC 6891 section 6.1.2: the owner of OPT is the root, and the root is one octet.
  if (type === typeNumbers['OPT'] && bytes[cursor.at] !== 0) {
    throw new Error(`OPT is owned by ${name.text}, not by the root`)
  }
  cursor.at = end
  return {
    name: name.text,
    type,
    class: bytes.readUInt16BE(name.end + 2),
    ttl: bytes.readUInt32BE(name.end + 4),
    rdata: bytes.subarray(start, end),
    rdataText: decodeRdata(type, bytes, start, end),
  }
}

function readOpt(record: ResourceRecord): Opt {
  const { rdata, ttl } = record
  const options: EdnsOption[] = []
  for (let at = 0; at < rdata.length;) {
    const end = at + 4 + rdata.readUInt16BE(at + 2)
    if (end > rdata.length) throw new Error('an EDNS option leaves its RDATA')
    options.push({ code: rdata.readUInt16BE(at), data: rdata.subarray(at + 4, end) })
    at = end
  }
  return {
    udpSize: record.class,
    extendedRcode: ttl >>> 24,
    version: (ttl >>> 16) & 255,
    dnssecOk: (ttl & 0x8000) !== 0,
    flags: ttl & 0x7fff,
    options,
  }
}
