// Remembers which versions of zones this thread gave to secondaries.
import { isMappedIpv4 } from '#dns/address.ts'
import { givenLimits } from './limits.ts'
import type { GivenLimits } from './limits.ts'
import { packRecords, unpackRecords } from './packed-records.ts'
import { serialOf } from './zone-records.ts'
import type { ZoneRecord } from './zone-records.ts'

export interface GivenVersion {
  /** See TransferHistory. */
  readonly content: number
  readonly soa: ZoneRecord
  /** Records of ZONEMD that somebody wrote were left out for one that is made. */
  readonly isDigested: boolean
  /** The ZONEMD record of this version. */
  readonly digest: ZoneRecord | undefined
  /** Octets of the messages, when the client got all of the zone. */
  readonly wholeBytes: number
}

interface KeptVersion {
  readonly content: number
  readonly serial: number
  readonly wholeBytes: number
  readonly isDigested: boolean
  /** SOA, and ZONEMD if there was one: octets of its own, since records may be views of others. */
  readonly records: Uint8Array
}

/** Servers behind one address may have been given two contents under one serial. */
const unknowable = -1

/** Octets that a version, or a client with a zone, takes in memory besides records and names. */
const keptBytes = 256

export class GivenVersions {
  readonly #limits: GivenLimits
  /** By client and zone, the most recently asked last; newest versions last. */
  readonly #versions = new Map<string, readonly KeptVersion[]>()
  #bytes = 0

  constructor(limits = givenLimits) {
    this.#limits = limits
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @returns undefined: the client has this serial from elsewhere, or it was too long ago */
  find(client: string, zone: string, serial: number): GivenVersion | undefined {
    const versions = this.#versions.get(keyOf(client, zone)) ?? []
    const found = versions.find((version) => version.serial === serial)
    if (found === undefined || found.content === unknowable) return undefined
    const [soa, digest] = unpackRecords(found.records)
    const { content, isDigested, wholeBytes } = found
    return { content, soa: soa!, isDigested, digest, wholeBytes }
  }

  add(client: string, zone: string, version: GivenVersion): void {
    const key = keyOf(client, zone)
    const { clientsTimesZones, versionsOfEach, bytesMax } = this.#limits
    const { soa, isDigested, digest, wholeBytes } = version
    const serial = serialOf(soa.rdata)
    const versions = this.#versions.get(key) ?? []
    const same = versions.find((one) => one.serial === serial)
    const isClear = same === undefined || same.content === version.content
    const content = isClear ? version.content : unknowable
    const records = packRecords(digest === undefined ? [soa] : [soa, digest])
    const others = versions.filter((one) => one !== same).slice(1 - versionsOfEach)
    this.#forget(key)
    const kept = [...others, { content, serial, wholeBytes, isDigested, records }]
    this.#versions.set(key, kept)
    this.#bytes += bytesOf(key, kept)
    for (const oldest of this.#versions.keys()) {
      if (this.#versions.size <= clientsTimesZones && this.#bytes <= bytesMax) return
      this.#forget(oldest)
    }
  }

  #forget(key: string): void {
    const versions = this.#versions.get(key)
    if (versions === undefined) return
    this.#versions.delete(key)
    this.#bytes -= bytesOf(key, versions)
  }
}

function bytesOf(key: string, versions: readonly KeptVersion[]): number {
  const records = versions.reduce((sum, one) => sum + keptBytes + one.records.length, 0)
  return keptBytes + key.length + records
}

const keyOf = (client: string, zone: string): string => `${client} ${zone}`

/**
 * A secondary, as far as a server can tell one from another: by its address and its key.
 *
 * @param address of 4 or 16 octets
 */
export function secondaryOf(address: Uint8Array, keyId: string | undefined): string {
  const isIpv4 = address.length === 16 && isMappedIpv4(address)
  const plain = isIpv4 ? address.subarray(12) : address
  return `${Buffer.from(plain).toString('hex')} ${keyId ?? ''}`
}
