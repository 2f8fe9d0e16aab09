// Queries as octets, with the options that the benchmarks need.
import { RrType } from '#dns/rrtype.ts'

export interface QueryOptions {
  readonly id?: number
  /** Default A. */
  readonly type?: number
  /** Default IN. */
  readonly class?: number
  /** Adds an OPT record; `ecs` adds a client subnet, 198.51.100.0/24, `do` requests signatures. */
  readonly edns?: 'plain' | 'ecs' | 'do'
  /** A cookie in the OPT record, where there is one; RFC 7873. */
  readonly cookie?: Uint8Array
}

/** @param qname ASCII labels, with or without the final dot */
export function encodeQuery(qname: string, options: QueryOptions = {}): Uint8Array {
  const labels = qname.split('.').filter((label) => label !== '')
  const header = Buffer.alloc(12)
  header.writeUInt16BE(options.id ?? 1, 0)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(options.edns === undefined ? 0 : 1, 10)
  const name = labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)]))
  const tail = Buffer.alloc(5)
  tail.writeUInt16BE(options.type ?? RrType.A, 1)
  tail.writeUInt16BE(options.class ?? 1, 3)
  return Buffer.concat([header, ...name, tail, optRecord(options)])
}

/** RFC 6891: root, type 41, payload size 1232. RFC 7871: family 1, 24 bits. */
function optRecord({ edns, cookie }: QueryOptions): Uint8Array {
  if (edns === undefined) return Buffer.alloc(0)
  const ecs = edns === 'ecs' ? [0, 8, 0, 7, 0, 1, 24, 0, 198, 51, 100] : []
  const rdata = cookie === undefined ? ecs : [...ecs, 0, 10, 0, cookie.length, ...cookie]
  const flags = edns === 'do' ? 0x80 : 0
  return Buffer.from([0, 0, 41, 0x04, 0xd0, 0, 0, flags, 0, 0, rdata.length, ...rdata])
}
