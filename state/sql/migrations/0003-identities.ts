// Schema 3: the provider identity of an account.
import type { Migration } from '#state/sql/database/migration.ts'

export const identities: Migration = {
  version: 3,
  name: 'identities',
  statements: ['alter table users add column oidc_identity text'],
}
