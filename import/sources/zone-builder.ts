// Collects the results of a source: records from texts, balanced names, and notes.
import { formatName, parseName } from '#dns/name.ts'
import { aliasCode, recordTypeNamed, recordTypeOf } from '#compiler/values/record-sets.ts'
import { parseRdata } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { RecordList } from '#dns/zone-file/record-list.ts'
import type { ZonePlace, ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { zoneFileLimits } from '#dns/zone-file/zone-record.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { Imported, ImportedObject, Note } from './imported.ts'
import { signerRecords } from './zone-file.ts'

interface TextRecord {
  /** Absolute. */
  readonly name: string
  readonly type: string
  readonly ttl: number
  /** Presentation form. */
  readonly value: string
}

export interface BalancedMember {
  /** An address, or a host name with its final dot. */
  readonly target: string
  readonly name?: string
  readonly port?: number
  readonly weight?: number
  readonly priority?: number
  readonly region?: string
  readonly enabled?: boolean
}

export interface BalancedPool {
  readonly members: readonly BalancedMember[]
  readonly healthCheck?: JsonObject | undefined
  readonly minHealthy?: number
  readonly answer?: 'cname'
}

/** A name whose answers are chosen among members. */
interface BalancedName extends BalancedPool {
  /** Absolute. */
  readonly domain: string
  readonly ttl: number
  /** Fields of the service that define the choice. */
  readonly choice: JsonObject
  /** The pool that answers when the first has no member left. */
  readonly fallback?: BalancedPool | undefined
  readonly place: ZonePlace
}

export class ZoneBuilder {
  readonly #found: { readonly record: ZoneRecord; readonly place: ZonePlace }[] = []
  readonly #objects: ImportedObject[] = []
  /** Names answered by a service, lower case with final dot, and whether with an alias. */
  readonly #balanced = new Map<string, boolean>()
  readonly #notes: Note[] = []
  readonly #origin: Uint8Array | undefined

  /**
   * @param origin of names in values that have no final dot, such as `rootOrigin`; without it
   * they are refused
   */
  constructor(origin?: Uint8Array) {
    this.#origin = origin
  }

  note(is: Note['is'], place: ZonePlace, text: string): void {
    this.#notes.push({ is, place, text })
  }

  record({ name, type: typeName, ttl, value }: TextRecord, place: ZonePlace): void {
    const refuse = (why: string): void =>
      this.note('not mapped', place, `${name} ${typeName} ${value}: ${why}`)
    const owner = parseName(name)
    if (!owner.ok) return refuse('this is no name')
    const type = recordTypeNamed(typeName)
    if (type === undefined) return refuse('there is no such record type in DNS')
    if (signerRecords.has(type.code)) {
      return this.note('left out', place, `${name} ${typeName}: a server that signs makes its own`)
    }
    const rdata = parseRdata(type, value, this.#origin)
    if (!rdata.ok) {
      return refuse(`expected ${rdata.error.expected}, at character ${rdata.error.column}`)
    }
    if (!Number.isInteger(ttl) || ttl < 0 || ttl > zoneFileLimits.ttlMax) {
      return refuse(`${ttl} is no TTL`)
    }
    const record = { owner: owner.value, ttl, type: type.code, rdata: rdata.value }
    this.#found.push({ record, place })
  }

  balanced({ domain, ttl, choice, fallback, place, ...pool }: BalancedName): void {
    const name = domain.toLowerCase().replace(/\.$/, '')
    if (this.#balanced.has(`${name}.`)) {
      return this.note('not mapped', place, `${domain}: it is balanced by what stands above, too`)
    }
    this.#balanced.set(`${name}.`, pool.answer === 'cname')
    const standby = `${name}-fallback`
    this.#pool(name, pool)
    if (fallback !== undefined) this.#pool(standby, fallback)
    const service = {
      domain: `${name}.`,
      ttl,
      pool: name,
      ...choice,
      ...(fallback === undefined ? {} : { onAllDown: `pool:${standby}` }),
    }
    this.#objects.push({ kind: 'Service', name, spec: service })
  }

  #pool(name: string, { members, healthCheck, minHealthy = 0, answer }: BalancedPool): void {
    const usualPort = healthCheck?.['port'] ?? defaultPort
    const spec = {
      ...(answer === undefined ? {} : { answer }),
      ...(healthCheck === undefined ? {} : { healthCheck }),
      ...(minHealthy > 1 ? { minHealthy } : {}),
      members: members.map(({ target, name: label, port = usualPort, ...others }) => ({
        ...(label === undefined ? {} : { name: label }),
        ...(target.endsWith('.') ? { hostname: target } : { ipAddress: target }),
        port,
        ...others,
      })),
    }
    this.#objects.push({ kind: 'Pool', name, spec })
  }

  /** @param top start of the file, the place of anything missing */
  result(origin: Uint8Array | undefined, top: ZonePlace, notes: readonly Note[]): Imported {
    const kept = this.#withoutClashes(origin)
    const records = new RecordList()
    for (const [position, { record }] of kept.entries()) records.add(record, { text: 0, position })
    const placeOf = (index: number): ZonePlace => kept[index]?.place ?? top
    return { origin, records, placeOf, objects: this.#objects, notes: [...this.#notes, ...notes] }
  }

  /**
   * A name cannot have both a service and these records: the conflicting part is reported and left
   * out.
   */
  #withoutClashes(origin: Uint8Array | undefined) {
    const apex = origin === undefined ? '' : formatName(origin).toLowerCase()
    const types = new Map<string, Set<number>>()
    for (const { record } of this.#found) {
      const name = nameOf(record)
      types.set(name, (types.get(name) ?? new Set<number>()).add(record.type))
    }
    const targets = new Map<string, string>()
    return this.#found.filter(({ record, place }) => {
      const name = nameOf(record)
      const service = this.#balanced.get(name)
      const clash =
        service === undefined
          ? clashOfAlias(record, types.get(name)!, name === apex, targets)
          : clashWithService(record, service)
      if (clash === undefined) return true
      const { name: type, print } = typeOf(record)
      this.note('not mapped', place, `${name} ${type} ${print(record.rdata)}: ${clash}`)
      return false
    })
  }
}

const nameOf = ({ owner }: ZoneRecord): string => formatName(owner).toLowerCase()
const typeOf = ({ type }: ZoneRecord) => recordTypeOf(type)

function clashWithService({ type }: ZoneRecord, isAlias: boolean): string | undefined {
  if (isAlias) return 'the name is balanced among aliases, and has nothing else then'
  const isAnswer = type === RrType.CNAME || isAddress(type)
  return isAnswer ? 'the name is balanced, and its members answer' : undefined
}

const isAddress = (type: number): boolean =>
  type === RrType.A || type === RrType.AAAA || type === aliasCode

/** @param targets of the aliases so far, by name */
function clashOfAlias(
  record: ZoneRecord,
  others: ReadonlySet<number>,
  isApex: boolean,
  targets: Map<string, string>,
): string | undefined {
  const { type } = record
  if (type !== RrType.CNAME && type !== aliasCode) return undefined
  if (type === RrType.CNAME && isApex) return 'the zone itself cannot be a CNAME'
  const other = [...others].find((one) => {
    return one !== type && (type === RrType.CNAME || isAddress(one))
  })
  const { name: typeName, print } = typeOf(record)
  if (other !== undefined) {
    const kind = recordTypeOf(other).name
    return `${typeName} beside ${kind} records, and a name has one or the other`
  }
  const [name, target] = [nameOf(record), print(record.rdata)]
  const before = targets.get(name) ?? target
  targets.set(name, before)
  return before === target ? undefined : `a second ${typeName}, and a name has one`
}

/** For services whose names in values are absolute without a final dot. */
export const rootOrigin = new Uint8Array(1)

/** DNS gives no port; a member's port is for health checks and people. */
const defaultPort = 443
