// Schema 9: kept for the history of commits.
import type { Migration } from '#state/sql/database/migration.ts'

export const history: Migration = { version: 9, name: 'history', statements: [] }
