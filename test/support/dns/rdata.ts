// Converts RDATA for tests between zone-file text and octets. Types without a row are RFC 3597 `\#
// n hex`.
import { isIPv6 } from 'node:net'
import { typeName } from './codes.ts'
import { decodeName, encodeName } from './name.ts'

interface RdataForm {
  readonly encode: (fields: readonly string[]) => Buffer
  /** `end` is exclusive; names may point to any earlier octet of `bytes`. */
  readonly decode: (bytes: Buffer, start: number, end: number) => string
}

const oneName: RdataForm = {
  encode: ([name = '.']) => encodeName(name),
  decode: (bytes, start) => decodeName(bytes, start).text,
}

const characterStrings: RdataForm = {
  encode: (fields) => Buffer.concat(fields.map(encodeString)),
  decode: (bytes, start, end) => {
    const strings: string[] = []
    for (let at = start; at < end; at += 1 + bytes.readUInt8(at)) {
      const last = at + 1 + bytes.readUInt8(at)
      if (last > end) throw new Error('a character-string leaves its RDATA')
      strings.push(JSON.stringify(bytes.toString('latin1', at + 1, last)))
    }
    return strings.join(' ')
  },
}

const forms: Readonly<Record<string, RdataForm>> = {
  A: {
    encode: ([text = '']) => Buffer.from(text.split('.').map(Number)),
    decode: (bytes, start, end) => {
      if (end - start !== 4) throw new Error(`an A record has ${end - start} octets`)
      return [...bytes.subarray(start, end)].join('.')
    },
  },
  AAAA: {
    encode: ([text = '']) => encodeIpv6(text),
    decode: (bytes, start, end) => {
      if (end - start !== 16) throw new Error(`an AAAA record has ${end - start} octets`)
      const groups = [0, 2, 4, 6, 8, 10, 12, 14].map((at) =>
        bytes.readUInt16BE(start + at).toString(16),
      )
      return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
    },
  },
  NS: oneName,
  CNAME: oneName,
  PTR: oneName,
  DNAME: oneName,
  TXT: characterStrings,
  HINFO: characterStrings,
  MX: {
    encode: ([preference = '0', name = '.']) =>
      Buffer.concat([uint16(preference), encodeName(name)]),
    decode: (bytes, start) => `${bytes.readUInt16BE(start)} ${decodeName(bytes, start + 2).text}`,
  },
  SOA: {
    encode: ([mname = '.', rname = '.', ...times]) =>
      Buffer.concat([encodeName(mname), encodeName(rname), ...times.map(uint32)]),
    decode: (bytes, start) => {
      const mname = decodeName(bytes, start)
      const rname = decodeName(bytes, mname.end)
      const times = [0, 4, 8, 12, 16].map((at) => bytes.readUInt32BE(rname.end + at))
      return [mname.text, rname.text, ...times].join(' ')
    },
  },
}

export function encodeRdata(type: number, fields: readonly string[]): Buffer {
  if (fields[0] === '\\#') return Buffer.from(fields.slice(2).join(''), 'hex')
  const form = forms[typeName(type)]
  if (form === undefined) throw new Error(`write ${typeName(type)} RDATA as \\# length hex`)
  return form.encode(fields)
}

export function decodeRdata(type: number, bytes: Buffer, start: number, end: number): string {
  const form = forms[typeName(type)]
  if (form !== undefined) return form.decode(bytes, start, end)
  return `\\# ${end - start} ${bytes.toString('hex', start, end)}`.trimEnd()
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text.replace(/^"|"$/g, ''), 'latin1')
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

function encodeIpv6(text: string): Buffer {
  if (!isIPv6(text)) throw new Error(`${text} is not an IPv6 address`)
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  const groups = [...left, ...(tail === undefined ? [] : zeros), ...right]
  return Buffer.concat(groups.map((group) => uint16(parseInt(group, 16))))
}

export function uint16(value: number | string): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(Number(value))
  return bytes
}

export function uint32(value: number | string): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(Number(value))
  return bytes
}
