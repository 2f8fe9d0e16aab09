// Schema 17: records of other types than TXT that are written at run time.
import type { Migration } from '#state/sql/database/migration.ts'

export const writtenRecords: Migration = {
  version: 17,
  name: 'written-records',
  // A table of their own: a node of an older version takes all of `txt_records` for TXT.
  statements: [
    `create table written_records (
      id text primary key,
      tenant_id text not null,
      name text not null,
      type integer not null,
      rdata text not null,
      ttl_seconds bigint not null,
      created_at_ms bigint not null,
      written_by text not null
    )`,
    'create index written_records_of_name on written_records (name)',
    'create index written_records_of_tenant on written_records (tenant_id, created_at_ms, id)',
  ],
}
