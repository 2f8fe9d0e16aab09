// The port to the acme-dns endpoint: clients register a name, and set its TXT values by its key.
import type { Result } from '#lib/result.ts'
import type { TenantScope } from '#state/ports/tenant-scope.ts'
import type { StoreCall } from '#state/ports/store-result.ts'

export interface AcmeDnsRegistration {
  readonly username: string
  /** Shown once, when the key is made. */
  readonly password: string
  /** The name whose TXT values the key sets. */
  readonly fulldomain: string
  readonly subdomain: string
  readonly allowfrom: readonly string[]
}

export interface AcmeDnsUpdate {
  /** Headers of the request; undefined: not sent. */
  readonly username: string | undefined
  readonly password: string | undefined
  readonly subdomain: string
  readonly txt: string
  /** Address of the client. */
  readonly address: string
}

/** A key without its password. */
export interface AcmeDnsKey {
  readonly username: string
  readonly tenantId: string
  /** The name whose TXT values the key sets, with the final dot; '': the endpoint is off. */
  readonly name: string
  readonly allowFrom: readonly string[]
  readonly createdAtMs: number
}

export interface AcmeDnsFault {
  /** `off`: the settings have no endpoint. `forbidden`: wrong credentials, name or address. */
  readonly code: 'off' | 'forbidden' | 'bad_txt' | 'invalid_allowfrom_cidr' | 'full' | 'away'
  readonly message: string
}

export interface AcmeDns {
  readonly isOn: boolean
  /** @param address of the client */
  readonly register: (
    allowfrom: readonly string[],
    address: string,
  ) => Promise<Result<AcmeDnsRegistration, AcmeDnsFault>>
  /** In force on this node when it resolves. */
  readonly update: (update: AcmeDnsUpdate) => Promise<Result<null, AcmeDnsFault>>
  /** Also while the endpoint is off. */
  readonly list: (scope: TenantScope) => StoreCall<readonly AcmeDnsKey[]>
  /**
   * Deletes a key and its values, also those of an earlier domain.
   *
   * @returns false: there is no such key
   */
  readonly delete: (scope: TenantScope, username: string) => StoreCall<boolean>
}
