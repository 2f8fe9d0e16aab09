// The type of a schema migration.

export interface Migration {
  /** 1, 2, 3 … */
  readonly version: number
  readonly name: string
  /**
   * Statements only add: tables, columns with a default or without "not null", indexes, rows. So
   * nodes that are one version behind keep working during an upgrade.
   */
  readonly statements: readonly string[]
}
