// Defines the port to the settings of this node's process, which are in no repository, and their
// JSON.
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'

export const NodeSetting = Type.Object({
  key: Type.String({ description: 'Such as `dns.port`' }),
  value: Type.Unknown({
    description: 'In effect, as the file takes it; `***` stands for a secret, null for no value',
  }),
  source: Type.Enum(['file', 'environment', 'command line', 'default']),
  origin: Type.String({ description: 'The file, variable or option; empty: the default' }),
  isSecret: Type.Boolean(),
  needsRestart: Type.Boolean({ description: 'false: SIGHUP applies a change' }),
  isPending: Type.Boolean({
    description: 'The file says something else, which a restart of the node applies',
  }),
})
export type NodeSetting = Shown<typeof NodeSetting>

export interface NodeSettings {
  readonly list: () => readonly NodeSetting[]
}
