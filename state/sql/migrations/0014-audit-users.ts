// Schema 14: the account behind a call of the audit copy, and the call's further effects.
import type { Migration } from '#state/sql/database/migration.ts'

export const auditUsers: Migration = {
  version: 14,
  name: 'audit-users',
  // Empty for earlier entries, and for entries that an older version writes.
  statements: ['user_id', 'user_email', 'note'].map(
    (column) => `alter table audit_entries add column ${column} text not null default ''`,
  ),
}
