// The type of a schema migration.

export interface Migration {
  /** 1, 2, 3 … */
  readonly version: number
  readonly name: string
  /**
   * They only add: tables, columns with a default or without "not null", indexes, rows. So a node
   * that is one version behind goes on working while the others are upgraded.
   */
  readonly statements: readonly string[]
}
