// The port to data written at run time by DNS clients and the API: TSIG keys and records. All
// nodes of an installation share them.
import type { StoreCall } from './store-result.ts'
import type { TenantScope } from './tenant-scope.ts'

export interface StoredTsigKey {
  readonly id: string
  readonly tenantId: string
  /** Absolute, in lower case, with the final dot; unique among all tenants. */
  readonly name: string
  /** One of `tsigAlgorithmNames`. */
  readonly algorithm: string
  /** Name at and below which the key may write; null: wherever its tenant may. */
  readonly scope: string | null
  /** Sealed under GSLB_SECRET_KEY: base64 of the secret. */
  readonly secretCiphertext: string
  readonly createdAtMs: number
}

/**
 * The types of records that may be written at run time, by name. Addresses and services of
 * machines, and what DHCP servers note beside them (DHCID, RFC 4701); never what a zone is made of.
 */
export const writtenTypes = Object.freeze({
  A: 1,
  CNAME: 5,
  PTR: 12,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  DHCID: 49,
})

/**
 * Why a record is not answered: the record at or above its name that hides it; `declared`: the
 * configuration says what records of its type the name has.
 */
export type HiddenBy = 'alias' | 'declared' | 'delegation' | 'dname'

export interface StoredRecord {
  readonly id: string
  readonly tenantId: string
  /** Absolute, in lower case, with the final dot. */
  readonly name: string
  /** One of `writtenTypes`. */
  readonly type: number
  /** Base64 of the data on the wire; names in it are whole, and in lower case. */
  readonly rdata: string
  readonly ttlSeconds: number
  readonly createdAtMs: number
  /**
   * `key:` and the name of a TSIG key, `kerberos:` and a principal, or the actor of an API call;
   * '': unknown.
   */
  readonly writtenBy: string
}

/** A change by a DNS client. RFC 2136 section 2.5. */
export type RecordChange =
  | {
      readonly verb: 'add'
      readonly name: string
      readonly type: number
      readonly rdata: string
      readonly ttlSeconds: number
    }
  | {
      readonly verb: 'delete'
      readonly name: string
      readonly type: number
      readonly rdata: string
    }
  | { readonly verb: 'delete-rrset'; readonly name: string; readonly type: number }
  | { readonly verb: 'delete-all'; readonly name: string }

/**
 * The maker of the changes of an update: the id of a TSIG key, which must still be there; or
 * somebody who is not in the store.
 */
export type RecordWriter = string | Pick<StoredRecord, 'tenantId' | 'writtenBy'>

/** Counters that rise with every change on any node; 0: no change yet. */
export interface DynamicRevisions {
  readonly keys: number
  readonly records: number
}

export interface DynamicDnsState {
  readonly revisions: DynamicRevisions
  readonly keys: readonly StoredTsigKey[]
  readonly records: readonly StoredRecord[]
}

/** The effect of a write of records, for nodes at the previous revision. */
export interface RecordDelta {
  /** The revision after the write; unchanged if the write changed nothing. */
  readonly revision: number
  readonly added: readonly StoredRecord[]
  /** Ids. */
  readonly removed: readonly string[]
}

export const tsigAlgorithmNames = [
  'hmac-sha256.',
  'hmac-sha384.',
  'hmac-sha512.',
  'hmac-sha224.',
  'hmac-sha1.',
] as const

export const dynamicDnsLimits = {
  keysPerTenantMax: 100,
  /** Keys of all tenants. */
  keysMax: 10_000,
  recordsPerTenantMax: 10_000,
  /** Records of all tenants, all of which each node holds in memory. */
  recordsMax: 50_000,
  recordsPerNameMax: 64,
  /** Data of one record: a text of 4 000 octets in 16 strings. */
  rdataBytesMax: 4_016,
  /** Data of all records of one name, so that they fit in one message. */
  rdataBytesPerNameMax: 32_768,
  changesMax: 500,
} as const

/** What was at some names when changes were decided on. */
export interface SeenRecords {
  readonly names: readonly string[]
  /** The ids of all records there, in any order. */
  readonly ids: readonly string[]
}

export type RecordFault = 'too-many-records' | 'too-many-changes'

export interface DynamicDnsStore {
  readonly createKey: (
    key: StoredTsigKey,
  ) => StoreCall<DynamicRevisions['keys'], 'name-taken' | 'too-many-keys'>
  /** Oldest first. */
  readonly listKeys: (scope: TenantScope) => StoreCall<readonly StoredTsigKey[]>
  /** @returns the new revision; null: no such key in the scope */
  readonly deleteKey: (scope: TenantScope, id: string) => StoreCall<number | null>
  readonly createRecord: (
    record: StoredRecord,
  ) => StoreCall<RecordDelta, RecordFault | 'record-exists' | 'is-alias'>
  /** Oldest first. */
  readonly listRecords: (scope: TenantScope) => StoreCall<readonly StoredRecord[]>
  /** @returns null: no such record in the scope */
  readonly deleteRecord: (scope: TenantScope, id: string) => StoreCall<RecordDelta | null>
  /**
   * Applies all changes of one update in order, or none: see `changedRecords`. `key-gone`: the key
   * was deleted, possibly on another node. `changed-meanwhile`: other records are there than those
   * that were seen, by which nothing can be decided.
   */
  readonly applyChanges: (
    writer: RecordWriter,
    changes: readonly RecordChange[],
    nowMs: number,
    seen?: SeenRecords,
  ) => StoreCall<RecordDelta, RecordFault | 'key-gone' | 'changed-meanwhile'>
  readonly revisions: () => StoreCall<DynamicRevisions>
  /** Loads everything in one consistent snapshot. */
  readonly load: () => StoreCall<DynamicDnsState>
}

/** The calls that the API needs. */
export type DynamicDnsAdmin = Pick<
  DynamicDnsStore,
  'createKey' | 'listKeys' | 'deleteKey' | 'createRecord' | 'listRecords' | 'deleteRecord'
>
