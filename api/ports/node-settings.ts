// The port to the settings of this node's process, which are in no repository.

export type SettingSource = 'file' | 'environment' | 'command line' | 'default'

export interface NodeSetting {
  /** `dns.port` */
  readonly key: string
  /** In effect, as the file would have it; of a secret, `***`; null: there is none. */
  readonly value: unknown
  readonly source: SettingSource
  /** The path of the file, or the name of the variable or option; '' of a default. */
  readonly origin: string
  readonly isSecret: boolean
  /** A change takes a restart; otherwise SIGHUP applies it. */
  readonly needsRestart: boolean
  /** It was changed in the file, and the value above holds until the restart. */
  readonly isPending: boolean
}

export interface NodeSettings {
  readonly list: () => readonly NodeSetting[]
}
