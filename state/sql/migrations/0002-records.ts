// Schema 2: usage, the audit copy and health verdicts.
import type { Migration } from '#state/sql/database/migration.ts'

export const records: Migration = {
  version: 2,
  name: 'records',
  statements: [
    // Sorting octets sorts by time, whatever the collation of the database.
    `create table usage_hours (
      tenant_id text not null,
      period text collate "C" not null,
      dns_queries bigint not null default 0,
      api_calls bigint not null default 0,
      primary key (tenant_id, period)
    )`,
    'create table usage_batches (id text primary key, at_ms bigint not null)',
    'create index usage_batches_by_age on usage_batches (at_ms)',
    `create table audit_entries (
      id text collate "C" primary key,
      at_ms bigint not null,
      method text not null,
      path text not null,
      actor text not null,
      remote text not null,
      status integer not null,
      duration_ms double precision not null,
      tenant_id text not null,
      request_id text
    )`,
    'create index audit_entries_by_age on audit_entries (at_ms, id)',
    'create index audit_entries_of_tenant on audit_entries (tenant_id, at_ms, id)',
    `create table health_verdicts (
      node text not null,
      member_uid text not null,
      ip_address text not null,
      healthy boolean not null,
      warming boolean not null,
      at_ms bigint not null,
      primary key (node, member_uid, ip_address)
    )`,
  ],
}
