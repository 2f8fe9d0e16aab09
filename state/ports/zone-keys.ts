// The port to the signing keys of zones, shared by all control nodes of an installation.
import type { StoreCall } from './store-result.ts'

/** A key as it is stored. */
export interface StoredZoneKey {
  /** RFC 4034 appendix B. */
  readonly tag: number
  readonly algorithm: number
  readonly flags: number
  /** `csk`, `ksk` or `zsk`. */
  readonly role: string
  /** Base64 of its DNSKEY rdata. */
  readonly publicKey: string
  /** Sealed under GSLB_SECRET_KEY: base64 of PKCS#8. null: another server has the private half. */
  readonly secretCiphertext: string | null
  /** Time of each state, Unix epoch; null: not reached. */
  readonly times: Readonly<Record<string, number | null>>
}

/** The keys of one zone. */
export interface ZoneKeySet {
  /** Lower case, with the final dot. */
  readonly zone: string
  /** Changes with every write. From 1; never reused for a zone. */
  readonly version: number
  readonly keys: readonly StoredZoneKey[]
}

export interface ZoneKeysState {
  /** Rises with every change, also after a restore; 0: no change yet. */
  readonly revision: number
  /** By name. */
  readonly zones: readonly ZoneKeySet[]
}

export const zoneKeyLimits = {
  /** Two of each role, each of two algorithms, keys of another signer, and some retired ones. */
  keysPerZoneMax: 24,
  zonesMax: 10_000,
  /** Characters of the JSON of all keys of a zone; a key of P-256 has about 800. */
  textMax: 65_536,
} as const

export interface ZoneKeyStore {
  readonly revision: () => StoreCall<number>
  /** Loads everything in one consistent snapshot. */
  readonly load: () => StoreCall<ZoneKeysState>
  /**
   * Replaces the keys of a zone by compare and swap: of two nodes that make the first key or begin
   * a roll at the same time, one gets `changed-meanwhile`. Without keys the zone is removed.
   *
   * @param version of the set that the new one was derived from; 0: none
   * @returns the new revision, which is also the version of the new set
   */
  readonly swap: (
    zone: string,
    version: number,
    keys: readonly StoredZoneKey[],
    nowMs: number,
  ) => StoreCall<number, 'changed-meanwhile' | 'too-many-keys'>
}
