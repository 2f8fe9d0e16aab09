// Loads the settings of a node for a command.
import { CommandFault, Exit } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'
import { loadSettings } from '#settings/settings.ts'
import type { Settings, SettingSources } from '#settings/settings.ts'

/** @throws CommandFault after it has printed each fault at its place */
export function settingsFor(
  io: Io,
  file: string | undefined,
  flags: SettingSources['flags'] = {},
): Settings {
  const settings = loadSettings({ file, env: io.env, flags })
  if (settings.ok) return settings.value
  io.err(`${settings.error.join('\n')}\n`)
  throw new CommandFault(Exit.ErrorsFound, '')
}
