// Schema 15: keys of signed zones, and their revision.
import type { Migration } from '#state/sql/database/migration.ts'

export const zoneKeys: Migration = {
  version: 15,
  name: 'zone-keys',
  statements: [
    `create table zone_keys (
      zone text primary key,
      version bigint not null,
      keys text not null,
      updated_at_ms bigint not null
    )`,
    `create table zone_key_revision (
      id smallint primary key check (id = 1),
      revision bigint not null
    )`,
  ],
}
