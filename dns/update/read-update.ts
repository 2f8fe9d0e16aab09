// Reads an UPDATE message. RFC 2136 section 2.
import { HeaderOffset } from '#dns/header.ts'
import { readMessageName } from '#dns/message-name.ts'
import { wholeRdata } from '#dns/message-rdata.ts'
import { foldName } from '#dns/name.ts'

export interface UpdateRecord {
  /** Wire form, in lower case. */
  readonly owner: Uint8Array
  readonly type: number
  readonly class: number
  readonly ttlSeconds: number
  /** Names in it are uncompressed. */
  readonly rdata: Uint8Array
}

export interface UpdateMessage {
  /** Wire form, in lower case. */
  readonly zone: Uint8Array
  readonly zoneType: number
  readonly zoneClass: number
  readonly prerequisites: readonly UpdateRecord[]
  readonly updates: readonly UpdateRecord[]
}

/** Type, class, TTL and the length of the data. */
const fixedBytes = 10

/**
 * The additional section is not read.
 *
 * @returns undefined: FORMERR is the answer
 */
export function readUpdate(message: Uint8Array): UpdateMessage | undefined {
  if (message.length < HeaderOffset.End) return undefined
  const view = new DataView(message.buffer, message.byteOffset, message.length)
  if (view.getUint16(HeaderOffset.QdCount) !== 1) return undefined
  const zone = readMessageName(message, HeaderOffset.End)
  if (zone === undefined || zone.end + 4 > message.length) return undefined
  let at = zone.end + 4
  const section = (count: number): UpdateRecord[] | undefined => {
    const records: UpdateRecord[] = []
    // A record has at least eleven octets, so a false count ends the loop at the end of the
    // message.
    for (let i = 0; i < count; i++) {
      const owner = readMessageName(message, at)
      if (owner === undefined || owner.end + fixedBytes > message.length) return undefined
      const data = owner.end + fixedBytes
      const end = data + view.getUint16(owner.end + 8)
      if (end > message.length) return undefined
      const type = view.getUint16(owner.end)
      const rdata = wholeRdata(message, type, data, end)
      if (rdata === undefined) return undefined
      records.push({
        owner: foldName(owner.wire),
        type,
        class: view.getUint16(owner.end + 2),
        ttlSeconds: view.getUint32(owner.end + 4),
        rdata,
      })
      at = end
    }
    return records
  }
  const prerequisites = section(view.getUint16(HeaderOffset.AnCount))
  const updates = prerequisites && section(view.getUint16(HeaderOffset.NsCount))
  if (prerequisites === undefined || updates === undefined) return undefined
  return {
    zone: foldName(zone.wire),
    zoneType: view.getUint16(zone.end),
    zoneClass: view.getUint16(zone.end + 2),
    prerequisites,
    updates,
  }
}
