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
  /** The setting may say less. */
  accountsMax: 10_000,
  networksMax: 32,
  /** For a name and its wildcard, as acme-dns has it. */
  valuesPerNameMax: 2,
} as const

export interface AcmeDnsStore {
  /** @param max as many as there may be with this one */
  readonly create: (account: AcmeDnsAccount, max: number) => StoreCall<void, 'too-many-accounts'>
  /** @returns null: there is none */
  readonly find: (username: string) => StoreCall<AcmeDnsAccount | null>
  /** In no order. */
  readonly list: () => StoreCall<readonly AcmeDnsAccount[]>
  /** @returns false: there is none */
  readonly delete: (username: string) => StoreCall<boolean>
}
