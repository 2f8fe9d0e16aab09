// Resource records as one line of a zone file: `www.example.org. 60 IN A 192.0.2.1`.
import { classNumber, className, typeName, typeNumber } from './codes.ts'
import { encodeRdata } from './rdata.ts'

export interface ResourceRecord {
  readonly name: string
  readonly ttl: number
  readonly class: number
  readonly type: number
  /** Octets as they would stand without compression, or as received for types with names inside. */
  readonly rdata: Buffer
  /** RDATA in zone-file form, names expanded. */
  readonly rdataText: string
}

/** Reads `owner ttl class type rdata…`; quoted strings are one field. */
export function a(line: string): ResourceRecord {
  const fields = line.match(/"[^"]*"|\S+/g) ?? []
  const [name, ttl, klass, type, ...rdataFields] = fields
  if (name === undefined || ttl === undefined || klass === undefined || type === undefined) {
    throw new Error(`a record needs owner, TTL, class and type: ${line}`)
  }
  const typeCode = typeNumber(type)
  return {
    name,
    ttl: Number(ttl),
    class: classNumber(klass),
    type: typeCode,
    rdata: encodeRdata(typeCode, rdataFields),
    rdataText: rdataFields.join(' '),
  }
}

export function lineOf(record: ResourceRecord): string {
  const { name, ttl, rdataText } = record
  return `${name} ${ttl} ${className(record.class)} ${typeName(record.type)} ${rdataText}`.trimEnd()
}

/** A section as a set: sorted lines, so that the order does not matter. */
export function linesOf(section: readonly ResourceRecord[]): string[] {
  return section.map(lineOf).sort()
}
