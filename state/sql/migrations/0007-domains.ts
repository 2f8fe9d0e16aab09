// Schema 7: results of the last check of each delegated domain.
import type { Migration } from '#state/sql/database/migration.ts'

export const domains: Migration = {
  version: 7,
  name: 'domains',
  statements: [
    `create table domain_checks (
      uid text primary key,
      domain text not null,
      verified_at_ms bigint,
      result text,
      claimed_until_ms bigint not null
    )`,
    'create index domain_checks_by_time on domain_checks (verified_at_ms)',
  ],
}
