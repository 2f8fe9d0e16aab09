// The port to the accounts of the acme-dns endpoint: each may set the TXT values of one name. All
// control nodes of an installation share them.
import type { StoreCall } from './store-result.ts'

export interface AcmeDnsAccount {
  readonly username: string
  /** SHA-256 of a random text, hex. */
  readonly passwordHash: string
  /** The first label of its name. */
  readonly subdomain: string
  /** Networks from which it may be used; empty: all. */
  readonly allowFrom: readonly string[]
  readonly createdAtMs: number
}

export const acmeDnsLimits = {
  accountsMax: 10_000,
  networksMax: 32,
  /** For a name and its wildcard, as acme-dns has it. */
  valuesPerNameMax: 2,
} as const

export interface AcmeDnsStore {
  readonly create: (account: AcmeDnsAccount) => StoreCall<void, 'too-many-accounts'>
  /** @returns null: there is none */
  readonly find: (username: string) => StoreCall<AcmeDnsAccount | null>
}
