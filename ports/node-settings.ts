// Defines the port to the settings of this node's process, which are in no repository.

type SettingSource = 'file' | 'environment' | 'command line' | 'default'

export interface NodeSetting {
  /** Name of the setting, such as `dns.port`. */
  readonly key: string
  /** Value in force, as in a file; `***` for a secret; null: there is none. */
  readonly value: unknown
  readonly source: SettingSource
  /** Path of the file, or name of the variable or option; '' for a default. */
  readonly origin: string
  readonly isSecret: boolean
  /** True: a change takes a restart; false: SIGHUP applies it. */
  readonly needsRestart: boolean
  /** True: the file has another value, which holds after a restart. */
  readonly isPending: boolean
}

export interface NodeSettings {
  readonly list: () => readonly NodeSetting[]
}
