// Schema 13: the writer of a TXT record.
import type { Migration } from '#state/sql/database/migration.ts'

export const txtWriters: Migration = {
  version: 13,
  name: 'txt-writers',
  // Empty for earlier records, and for records that an older version writes.
  statements: ["alter table txt_records add column written_by text not null default ''"],
}
