// Schema 10: the progress of a new bundle in the fleet, one row per channel.
import type { Migration } from '#state/sql/database/migration.ts'

export const deliveries: Migration = {
  version: 10,
  name: 'deliveries',
  statements: [
    `create table deliveries (
      channel text primary key,
      revision bigint not null,
      decider text not null,
      state text not null
    )`,
  ],
}
