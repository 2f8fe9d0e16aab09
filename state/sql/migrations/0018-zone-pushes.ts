// Schema 18: zone pushes, and which records at their targets are ours.
import type { Migration } from '#state/sql/database/migration.ts'

export const zonePushes: Migration = {
  version: 18,
  name: 'zone-pushes',
  statements: [
    `create table zone_pushes (
      target text primary key,
      revision bigint not null,
      state text not null
    )`,
    `create table zone_push_records (
      target text not null,
      record text not null,
      primary key (target, record)
    )`,
  ],
}
