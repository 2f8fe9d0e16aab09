// Schema 4: the mark that there was an account once, for databases that have accounts already.
import type { Migration } from '../migration.ts'
import { markFirstAccount } from '../first-account.ts'

export const firstAccount: Migration = {
  version: 4,
  name: 'first-account',
  statements: [markFirstAccount],
}
