// Reads dnstap records, of this program or another one: the query, its metadata and its DNS
// messages.
import { formatAddress } from '#dns/address.ts'
import { EdnsOption } from '#dns/edns-codes.ts'
import { Flag2, HeaderOffset } from '#dns/header.ts'
import { readMessageName } from '#dns/message-name.ts'
import { formatName } from '#dns/name.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { rrTypeNames } from '#dns/rrtype.ts'
import { readFields } from '#lib/protobuf.ts'
import type { Fields } from '#lib/protobuf.ts'
import { DnstapField, DnstapType, MessageField, MessageType, SocketProtocol } from './dnstap.ts'
import type { Extra } from './dnstap.ts'
import type { LoggedProtocol } from './logged-queries.ts'
import { optionPlaces } from './message-records.ts'
import { isFields, parseJson } from '#lib/text/json.ts'

/** The content of a record; fields that are absent or unreadable are undefined. */
export interface ReadRecord {
  /** Milliseconds since the Unix epoch. */
  readonly askedMs: number | undefined
  readonly kind: string
  readonly protocol: LoggedProtocol | undefined
  /** An address; its end is zeros where `extra` says `truncated`. */
  readonly client: string | undefined
  readonly clientPort: number | undefined
  /** The client subnet of the query, as `ADDRESS/BITS`. RFC 7871. */
  readonly subnet: string | undefined
  readonly name: string | undefined
  readonly type: string | undefined
  readonly rcode: string | undefined
  readonly query: Uint8Array | undefined
  readonly reply: Uint8Array | undefined
  /** Other programs may have written any fields, of any type. */
  readonly extra: Partial<Extra> | undefined
}

/** @returns undefined: not a dnstap record */
export function readDnstap(octets: Uint8Array): ReadRecord | undefined {
  const record = readFields(octets)
  if (record?.numbers.get(DnstapField.Type) !== DnstapType.Message) return undefined
  const message = readFields(record.bytes.get(DnstapField.Message) ?? new Uint8Array(0))
  const kind = message?.numbers.get(MessageField.Type)
  if (message === undefined || kind === undefined) return undefined
  const query = message.bytes.get(MessageField.QueryMessage)
  const reply = message.bytes.get(MessageField.ResponseMessage)
  return {
    askedMs: askedMsOf(message),
    kind: kindNames[kind] ?? `type ${kind}`,
    protocol: protocols[message.numbers.get(MessageField.SocketProtocol) ?? 0],
    client: addressOf(message.bytes.get(MessageField.QueryAddress)),
    clientPort: message.numbers.get(MessageField.QueryPort),
    subnet: query === undefined ? undefined : subnetOf(query),
    ...questionOf(query ?? reply ?? new Uint8Array(0)),
    rcode: reply === undefined ? undefined : rcodeOf(reply),
    query,
    reply,
    extra: extraOf(record.bytes.get(DnstapField.Extra)),
  }
}

const kindNames: Readonly<Record<number, string>> = {
  [MessageType.AuthQuery]: 'query',
  [MessageType.AuthResponse]: 'response',
}
const protocols: Readonly<Record<number, LoggedProtocol>> = {
  [SocketProtocol.udp]: 'udp',
  [SocketProtocol.tcp]: 'tcp',
  [SocketProtocol.dot]: 'dot',
  [SocketProtocol.doh]: 'doh',
}

/** Latest time that a `Date` can hold: a record may claim anything. */
const latestMs = 8.64e15

function askedMsOf({ numbers, fixed32 }: Fields): number | undefined {
  const seconds = numbers.get(MessageField.QueryTimeSec)
  if (seconds === undefined) return undefined
  const ms = seconds * 1_000 + Math.floor((fixed32.get(MessageField.QueryTimeNsec) ?? 0) / 1e6)
  return ms <= latestMs ? ms : undefined
}

function addressOf(octets: Uint8Array | undefined): string | undefined {
  return octets?.length === 4 || octets?.length === 16 ? formatAddress(octets) : undefined
}

/** Reads family, source prefix, scope prefix, and as many octets as the prefix needs. */
function subnetOf(query: Uint8Array): string | undefined {
  const place = optionPlaces(query)?.find(({ code }) => code === EdnsOption.ClientSubnet)
  if (place === undefined || place.end - place.start < 4) return undefined
  const [high = 0, low = 0, bits = 0] = query.subarray(place.start, place.end)
  const bytes = addressBytes[high * 256 + low]
  const sent = query.subarray(place.start + 4, place.end)
  if (bytes === undefined || bits > bytes * 8 || sent.length > bytes) return undefined
  const address = new Uint8Array(bytes)
  address.set(sent)
  return `${formatAddress(address)}/${bits}`
}

const addressBytes: Readonly<Record<number, number>> = { 1: 4, 2: 16 }

function questionOf(message: Uint8Array): Pick<ReadRecord, 'name' | 'type'> {
  const none = { name: undefined, type: undefined }
  const octets = Buffer.from(message.buffer, message.byteOffset, message.length)
  const hasOne = octets.length >= HeaderOffset.End && octets.readUInt16BE(HeaderOffset.QdCount) > 0
  const name = hasOne ? readMessageName(octets, HeaderOffset.End) : undefined
  if (name === undefined || name.end + 4 > octets.length) return none
  const type = octets.readUInt16BE(name.end)
  return { name: formatName(name.wire), type: rrTypeNames[type] ?? `TYPE${type}` }
}

function rcodeOf(reply: Uint8Array): string | undefined {
  if (reply.length < HeaderOffset.End) return undefined
  const rcode = reply[HeaderOffset.Flags2]! & Flag2.RcodeMask
  return rcodeNames[rcode] ?? `RCODE${rcode}`
}

function extraOf(octets: Uint8Array | undefined): Partial<Extra> | undefined {
  const value = octets === undefined ? undefined : parseJson(Buffer.from(octets).toString('utf8'))
  return isFields(value) ? value : undefined
}
