// A record set of an import: all records of one owner and type. RFC 2181 section 5.
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'

export interface RecordSet {
  /** Wire form in lower case. */
  readonly owner: Uint8Array
  /** Sorts owners as RFC 4034 section 6.1 does. */
  readonly key: string
  readonly type: number
  /** The lowest of its records. */
  ttl: number
  /** Each once, in the order of the file. */
  readonly rdata: Uint8Array[]
  /** Where its first record is written. */
  readonly place: ZonePlace
}

/** Whether a name is another one or below it; both in lower case. */
export function isBelow(name: Uint8Array, other: Uint8Array): boolean {
  let at = 0
  while (name.length - at > other.length) at += name[at]! + 1
  return name.length - at === other.length && other.every((octet, i) => octet === name[at + i])
}
