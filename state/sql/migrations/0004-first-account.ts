// Schema 4: the mark that an account existed once, for databases that have accounts already.
import type { Migration } from '#state/sql/database/migration.ts'

export const firstAccount: Migration = {
  version: 4,
  name: 'first-account',
  statements: [
    `insert into settings (key, value, updated_at_ms)
      select 'accounts.begun', 'true', min(created_at_ms) from users having count(*) > 0
      on conflict (key) do nothing`,
  ],
}
