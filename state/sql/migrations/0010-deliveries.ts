// Schema 10: how far a new bundle has come in the fleet, one row a channel.
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
