// Schema 16: the certificate that an ACME server gives.
import type { Migration } from '#state/sql/database/migration.ts'

export const certificates: Migration = {
  version: 16,
  name: 'certificates',
  statements: [
    `create table acme_state (
      id smallint primary key check (id = 1),
      version bigint not null,
      sealed text not null,
      updated_at_ms bigint not null
    )`,
  ],
}
