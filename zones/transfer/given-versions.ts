// Remembers which versions of zones a secondary was given by this thread.
import { isMappedIpv4 } from '#dns/address.ts'
import { givenLimits } from './limits.ts'
import type { GivenLimits } from './limits.ts'
import { serialOf } from './zone-records.ts'
import type { ZoneRecord } from './zone-records.ts'

export interface GivenVersion {
  /** See TransferHistory. */
  readonly content: number
  readonly soa: ZoneRecord
  /** The ZONEMD record that went with it. */
  readonly digest: ZoneRecord | undefined
  /** Octets of the messages, when the client got all of the zone. */
  readonly wholeBytes: number
}

/** Servers behind one address may have been given two contents under one serial. */
const unknowable = -1

export class GivenVersions {
  readonly #limits: GivenLimits
  /** By client and zone; the one that was asked for last is the last. Newest versions last. */
  readonly #versions = new Map<string, readonly GivenVersion[]>()

  constructor(limits = givenLimits) {
    this.#limits = limits
  }

  /** @returns undefined: the client has this serial from elsewhere, or it was too long ago */
  find(client: string, zone: string, serial: number): GivenVersion | undefined {
    const versions = this.#versions.get(keyOf(client, zone)) ?? []
    const found = versions.find(({ soa }) => serialOf(soa.rdata) === serial)
    return found?.content === unknowable ? undefined : found
  }

  add(client: string, zone: string, version: GivenVersion): void {
    const key = keyOf(client, zone)
    const { clientsTimesZones, versionsOfEach } = this.#limits
    const serial = serialOf(version.soa.rdata)
    const versions = this.#versions.get(key) ?? []
    const same = versions.find(({ soa }) => serialOf(soa.rdata) === serial)
    const isClear = same === undefined || same.content === version.content
    const last = isClear ? version : { ...version, content: unknowable }
    this.#versions.delete(key)
    const others = versions.filter((one) => one !== same).slice(1 - versionsOfEach)
    this.#versions.set(key, [...others, last])
    if (this.#versions.size <= clientsTimesZones) return
    for (const oldest of this.#versions.keys()) return void this.#versions.delete(oldest)
  }
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
