// `gslbd check-settings`: checks a node's settings before it is started with them.
import { commandLine, endWith, Exit, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { checkStart } from '#node/compose/start-checks.ts'
import { settingsFor } from '#cli/files/settings-file.ts'
import { placedSentences } from '#settings/settings.ts'

const usage = `Usage: gslbd check-settings FILE

Reads FILE as "gslbd serve --settings FILE" would, with the environment that it is called in, and
lists every mistake with its line, column, and what to write. Files that it names and that cannot
be used are warnings. Nothing is started or written.

Exit codes: 0 a node takes them; 1 mistakes were found; 2 wrong call.`

export const checkSettings: Command = {
  name: 'check-settings',
  usage,
  async run(args, io) {
    const { positionals } = commandLine(args, {})
    const [file, surplus] = positionals
    if (file === undefined) throw new UsageError('name the settings file')
    if (surplus !== undefined) throw new UsageError(`"${surplus}" is one too many: give one file`)
    const settings = settingsFor(io, file)
    const { errors, warnings } = await checkStart(settings, io.env)
    for (const warning of warnings) io.err(`${file}: warning: ${warning}\n`)
    if (errors.length > 0) {
      return endWith(io, Exit.ErrorsFound, placedSentences(file, errors).join('\n'))
    }
    io.out(`${file}: a node takes these settings; its data is in ${settings.dataDir}\n`)
    return Exit.Ok
  },
}
