// Schema 5: TSIG keys and TXT records written at run time, and their revisions.
import type { Migration } from '#state/sql/database/migration.ts'

export const dynamicDns: Migration = {
  version: 5,
  name: 'dynamic-dns',
  statements: [
    `create table tsig_keys (
      id text primary key,
      tenant_id text not null,
      name text not null unique,
      algorithm text not null,
      scope text,
      secret_ciphertext text not null,
      created_at_ms bigint not null
    )`,
    'create index tsig_keys_of_tenant on tsig_keys (tenant_id, created_at_ms, id)',
    `create table txt_records (
      id text primary key,
      tenant_id text not null,
      name text not null,
      rdata text not null,
      ttl_seconds bigint not null,
      created_at_ms bigint not null
    )`,
    'create index txt_records_of_name on txt_records (name)',
    'create index txt_records_of_tenant on txt_records (tenant_id, created_at_ms, id)',
    `create table dynamic_dns (
      id smallint primary key check (id = 1),
      keys_revision bigint not null,
      records_revision bigint not null
    )`,
  ],
}
