// Collects what a source finds: records from texts, balanced names, and notes.
import { parseName } from '#dns/name.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import { RecordList } from '#dns/zone-file/record-list.ts'
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import { zoneFileLimits } from '#dns/zone-file/zone-record.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { Imported, ImportedObject, Note } from './imported.ts'

export interface TextRecord {
  /** Absolute. */
  readonly name: string
  readonly type: string
  readonly ttl: number
  /** Presentation form; names in it are absolute. */
  readonly value: string
}

export interface BalancedMember {
  readonly address: string
  readonly name?: string
  readonly weight?: number
  readonly priority?: number
  readonly region?: string
  readonly enabled?: boolean
}

/** A name whose answers are chosen among members. */
export interface BalancedName {
  /** Absolute. */
  readonly domain: string
  readonly ttl: number
  readonly members: readonly BalancedMember[]
  readonly healthCheck?: JsonObject
  /** Fields of the service that say how it chooses. */
  readonly choice: JsonObject
}

export class ZoneBuilder {
  readonly #records = new RecordList()
  readonly #places: ZonePlace[] = []
  readonly #objects: ImportedObject[] = []
  readonly #notes: Note[] = []

  note(is: Note['is'], place: ZonePlace, text: string): void {
    this.#notes.push({ is, place, text })
  }

  record({ name, type: typeName, ttl, value }: TextRecord, place: ZonePlace): void {
    const refuse = (why: string): void =>
      this.note('not mapped', place, `${name} ${typeName} ${value}: ${why}`)
    const owner = parseName(name)
    if (!owner.ok) return refuse('this is no name')
    const type = rdataTypeNamed(typeName)
    if (type === undefined) return refuse('there is no such record type in DNS')
    const rdata = parseRdata(type, value)
    if (!rdata.ok) {
      return refuse(`expected ${rdata.error.expected}, at character ${rdata.error.column}`)
    }
    if (!Number.isInteger(ttl) || ttl < 0 || ttl > zoneFileLimits.ttlMax) {
      return refuse(`${ttl} is no TTL`)
    }
    const record = { owner: owner.value, ttl, type: type.code, rdata: rdata.value }
    this.#records.add(record, { text: 0, position: this.#places.length })
    this.#places.push(place)
  }

  balanced({ domain, ttl, members, healthCheck, choice }: BalancedName): void {
    const name = domain.toLowerCase().replace(/\.$/, '')
    const port = healthCheck?.['port'] ?? defaultPort
    const pool = {
      ...(healthCheck === undefined ? {} : { healthCheck }),
      members: members.map(({ address, name: label, ...others }) => ({
        ...(label === undefined ? {} : { name: label }),
        ipAddress: address,
        port,
        ...others,
      })),
    }
    this.#objects.push(
      { kind: 'Pool', name, spec: pool },
      { kind: 'Service', name, spec: { domain: `${name}.`, ttl, pool: name, ...choice } },
    )
  }

  /** @param top where the file begins: the place of what is missing */
  result(origin: Uint8Array | undefined, top: ZonePlace): Imported {
    const records = this.#records
    const placeOf = (index: number): ZonePlace => this.#places[index] ?? top
    return { origin, records, placeOf, objects: this.#objects, notes: this.#notes }
  }
}

/** DNS says no port; what members have is for health checks and people. */
const defaultPort = 443

export const noHostnames =
  'import maps addresses only; write a pool whose members have this as hostname, or a CNAME'
