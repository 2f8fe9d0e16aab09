// Schema 7: the place of a schema that is on its way; it has no statement of its own.
import type { Migration } from '#state/sql/database/migration.ts'

export const reserved: Migration = { version: 7, name: 'reserved', statements: [] }
