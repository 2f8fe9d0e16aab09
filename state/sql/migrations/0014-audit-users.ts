// Schema 14: which account made a call of the audit copy, and what else it did.
import type { Migration } from '#state/sql/database/migration.ts'

export const auditUsers: Migration = {
  version: 14,
  name: 'audit-users',
  // Empty for entries from before, and for entries that an older version writes.
  statements: ['user_id', 'user_email', 'note'].map(
    (column) => `alter table audit_entries add column ${column} text not null default ''`,
  ),
}
