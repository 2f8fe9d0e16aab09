// The result of reading a source: records, balanced names, and notes on the rest.
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
  /** Rules of a policy zone, made from its records; such a source has no zone to serve. */
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

/** `left out` needs no action; `not mapped` needs a person's attention. */
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
  /** Description of FILE in the usage text. */
  readonly says: string
  readonly read: (
    file: ZoneSource,
    options: ZoneFileOptions,
  ) => Result<Imported, readonly ZoneFault[]>
}

export const shownPlace = ({ path, line, column }: ZonePlace): string => `${path}:${line}:${column}`
