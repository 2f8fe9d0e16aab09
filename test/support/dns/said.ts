// Converts a reply to plain data for expectations: no ids, no serials, no order.
import { rcodeName } from './codes.ts'
import type { Message } from './message.ts'
import { linesOf } from './record.ts'

export interface Said {
  readonly rcode: string
  readonly aa: boolean
  readonly answer: readonly string[]
  readonly authority: readonly string[]
  readonly additional: readonly string[]
}

export function said(reply: Message): Said {
  return {
    rcode: rcodeName(reply.rcode),
    aa: reply.aa,
    answer: linesOf(reply.answer).map(withoutSerial),
    authority: linesOf(reply.authority).map(withoutSerial),
    additional: linesOf(reply.additional),
  }
}

function withoutSerial(line: string): string {
  return line.replace(/( IN SOA \S+ \S+) \d+ /, '$1 SERIAL ')
}

/** An answer with other sections empty: minimal responses. */
export function answered(...lines: string[]): Said {
  return { rcode: 'NOERROR', aa: true, answer: lines.sort(), authority: [], additional: [] }
}

/** The name exists, the type does not. RFC 2308 section 2.2. @param soa one of `negativeSoa` */
export function nodata(soa: string): Said {
  return { rcode: 'NOERROR', aa: true, answer: [], authority: [soa], additional: [] }
}

/** RFC 2308 section 2.1. */
export function nxdomain(soa: string): Said {
  return { ...nodata(soa), rcode: 'NXDOMAIN' }
}

/** Only a code: a refusal or an error. */
export function bare(rcode: string): Said {
  return { rcode, aa: false, answer: [], authority: [], additional: [] }
}

const times = 'ns1.example.org. hostmaster.example.org. SERIAL 3600 600 86400'

/** The SOA of negative answers from the zones of fixture.ts; TTL = min(SOA TTL, MINIMUM). */
export const negativeSoa = Object.freeze({
  exampleOrg: `example.org. 30 IN SOA ${times} 30`,
  subExampleOrg: `sub.example.org. 30 IN SOA ${times} 30`,
  shortExample: `short.example. 60 IN SOA ${times} 900`,
})
