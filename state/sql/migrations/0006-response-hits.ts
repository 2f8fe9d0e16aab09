// Schema 6: hits of response rules, summed over all nodes.
import type { Migration } from '#state/sql/database/migration.ts'

export const responseHits: Migration = {
  version: 6,
  name: 'response-hits',
  statements: [
    `create table response_hits (
      rule_uid text primary key,
      hits bigint not null,
      at_ms bigint not null
    )`,
    'create index response_hits_by_time on response_hits (at_ms)',
    'create table response_hit_batches (id text primary key, at_ms bigint not null)',
    'create index response_hit_batches_by_time on response_hit_batches (at_ms)',
  ],
}
