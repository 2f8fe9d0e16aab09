// What a source of a zone comes to: its records, balanced names, and what could not be taken over.
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { RecordList } from '#dns/zone-file/record-list.ts'
import type { ZoneFileOptions, ZoneSource } from '#dns/zone-file/zone-file.ts'
import type { ZoneFault, ZonePlace } from '#dns/zone-file/zone-record.ts'
import type { Result } from '#lib/result.ts'

export interface Imported {
  /** Wire form; undefined: the owner of the SOA record. */
  readonly origin: Uint8Array | undefined
  readonly records: RecordList
  readonly placeOf: (index: number) => ZonePlace
  /** Pools and services of balanced names. */
  readonly objects: readonly ImportedObject[]
  readonly notes: readonly Note[]
  /** Rules of a policy zone, made of its records; such a source has no zone to serve. */
  readonly responseRules?: readonly ImportedRule[]
}

export interface ImportedObject {
  readonly kind: 'Pool' | 'Service'
  readonly name: string
  readonly spec: JsonObject
}

/** Names in lower case with the final dot; '': no target. */
export interface ImportedRule {
  readonly triggerType: 'exact' | 'domain'
  readonly triggerValue: string
  readonly action: 'nxdomain' | 'passthru' | 'cname'
  readonly actionTarget: string
}

/** What was `left out` needs nothing; what is `not mapped`, somebody who looks at it. */
export interface Note {
  readonly is: 'left out' | 'not mapped' | 'changed'
  readonly place: ZonePlace
  /** A sentence for people. */
  readonly text: string
}

/** A row of the table of sources. */
export interface ImportSource {
  /** The word after `gslbd import`. */
  readonly name: string
  /** What FILE is, for the usage text. */
  readonly says: string
  readonly read: (
    file: ZoneSource,
    options: ZoneFileOptions,
  ) => Result<Imported, readonly ZoneFault[]>
}

export const shownPlace = ({ path, line, column }: ZonePlace): string => `${path}:${line}:${column}`
