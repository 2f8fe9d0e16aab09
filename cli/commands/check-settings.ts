// `gslbd check-settings`: checks a node's settings before it is started with them.
import { endWith, commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { checkStart } from '#node/compose/start-checks.ts'
import { loadSettings, placedSentences } from '#settings/settings.ts'

const usage = `Usage: gslbd check-settings FILE

Reads FILE as "gslbd serve --settings FILE" would, with the environment that it is called in, and
lists every mistake with its line, column, and what to write. Files that it names and that cannot
be used are warnings. Nothing is started or written.

Exit codes: 0 a node takes them; 1 mistakes were found; 2 wrong call.`

export const checkSettings: Command = {
  name: 'check-settings',
  summary: 'check gslbd.yaml before a node is started with it',
  usage,
  async run(args, io) {
    const { positionals } = commandLine(args, {})
    const [file, surplus] = positionals
    if (file === undefined) throw new UsageError('name the settings file')
    if (surplus !== undefined) throw new UsageError(`"${surplus}" is one too many: give one file`)
    const settings = loadSettings({ file, env: io.env, flags: {} })
    if (!settings.ok) return endWith(io, Exit.ErrorsFound, settings.error.join('\n'))
    const { errors, warnings } = await checkStart(settings.value, io.env)
    for (const warning of warnings) io.err(`${file}: warning: ${warning}\n`)
    if (errors.length > 0) {
      io.err(
        placedSentences(file, errors)
          .map((error) => `${error}\n`)
          .join(''),
      )
      return Exit.ErrorsFound
    }
    io.out(`${file}: a node takes these settings; its data is in ${settings.value.dataDir}\n`)
    return Exit.Ok
  },
}
