// The port to the keys that zones are signed with. All control nodes of an installation share them.
import type { StoreCall } from './store-result.ts'

/** A key as it is stored. */
export interface StoredZoneKey {
  /** RFC 4034 appendix B. */
  readonly tag: number
  readonly algorithm: number
  readonly flags: number
  /** `csk`, `ksk` or `zsk`. */
  readonly role: string
  /** Base64 of the rdata of its DNSKEY record. */
  readonly publicKey: string
  /** Sealed under GSLB_SECRET_KEY: base64 of PKCS#8. null: another server has the private half. */
  readonly secretCiphertext: string | null
  /** When it was in which state, Unix epoch; null: not yet. */
  readonly times: Readonly<Record<string, number | null>>
}

/** The keys of one zone. */
export interface ZoneKeySet {
  /** Lower case, with the final dot. */
  readonly zone: string
  /** Another one after each change. From 1; never used twice by one zone. */
  readonly version: number
  readonly keys: readonly StoredZoneKey[]
}

export interface ZoneKeysState {
  /** Rises with every change, also after a restore; 0: there never was one. */
  readonly revision: number
  /** By name. */
  readonly zones: readonly ZoneKeySet[]
}

export const zoneKeyLimits = {
  /** Two of each role, each of two algorithms, those of another signer, and some retired ones. */
  keysPerZoneMax: 24,
  zonesMax: 10_000,
  /** Characters of the JSON of all keys of a zone; a key of P-256 has about 800. */
  textMax: 65_536,
} as const

export interface ZoneKeyStore {
  readonly revision: () => StoreCall<number>
  /** Everything, as it was at one moment. */
  readonly load: () => StoreCall<ZoneKeysState>
  /**
   * Sets the keys of a zone, where nobody else did so meanwhile: of two nodes that make the first
   * key, or begin to roll, at once, one is told `changed-meanwhile`. Without keys the zone is gone.
   *
   * @param version of the set that the new one was made of; 0: there was none
   * @returns the revision after it, which is the version of the new set, too
   */
  readonly swap: (
    zone: string,
    version: number,
    keys: readonly StoredZoneKey[],
    nowMs: number,
  ) => StoreCall<number, 'changed-meanwhile' | 'too-many-keys'>
}
