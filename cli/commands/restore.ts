// `gslbd restore`: restores a backup into the empty database of a stopped node.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Result } from '#lib/result.ts'
import { checkBackup, restoreBackup } from '#state/backup/restore-backup.ts'
import { Exit, UsageError } from '#cli/terminal/command.ts'
import type { Command } from '#cli/terminal/command.ts'
import { withLoneState } from '#cli/stores/lone-state.ts'
import { loadSettings } from '#cli/settings/settings.ts'
import type { Settings } from '#cli/settings/settings.ts'

const usage = `Usage: gslbd restore FILE [--settings FILE] [--data-dir DIR]

Reads a backup into the database of this node: accounts, roles, tenant keys, licence, usage, audit
log. The database must be empty: nothing is ever replaced, so nothing is asked. All is restored or
nothing. The configuration is in Git and no part of a backup.

  --settings FILE   gslbd.yaml; its database.url says where to restore to
  --data-dir DIR    without a database.url, whose database (GSLB_DATA_DIR; default ./data); stop
                    the node first

Exit codes: 0 restored; 1 not restored; 2 wrong call.`

export const restore: Command = {
  name: 'restore',
  summary: 'read a backup into an empty database',
  usage,
  async run(args, io) {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { settings: { type: 'string' }, 'data-dir': { type: 'string' } },
    })
    const [file, ...others] = positionals
    if (file === undefined || others.length > 0) throw new UsageError('name one backup')
    const { settings: settingsFile, ...flags } = values
    const settings = loadSettings({ file: settingsFile, env: io.env, flags })
    if (!settings.ok) {
      io.err(`${settings.error.join('\n')}\n`)
      return Exit.ErrorsFound
    }
    const path = resolve(file)
    io.progress?.(`restoring ${path}`)
    const restored = await restoreInto(settings.value, path)
    if (restored.ok) io.out(`${restored.value} rows restored\n`)
    else io.err(`gslbd restore: ${restored.error}\n`)
    return restored.ok ? Exit.Ok : Exit.ErrorsFound
  },
}

/** Leaves nothing behind where it fails. Errors: a sentence. */
async function restoreInto(settings: Settings, path: string): Promise<Result<number, string>> {
  // Before a data directory is made for it.
  const checked = await checkBackup(path)
  if (!checked.ok) return checked
  return withLoneState(settings, ({ sql }) => restoreBackup(sql, checked.value))
}
