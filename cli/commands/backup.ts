// `gslbd backup`: takes a backup of this machine's control node, which may run.
import { resolve } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { atMostOne, commandLine, Exit, needed } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { checkNodeKey, holding } from '#cli/files/data-dir.ts'
import { holderOf } from '#process/data/data-dir.ts'
import { askForBackup } from '#node/stores/backup-socket.ts'
import { Backups } from '#node/stores/backups.ts'
import type { AskedBackup } from '#node/stores/backups.ts'
import { createNodeState } from '#node/stores/state.ts'
import { settingsFor } from '#cli/files/settings-file.ts'
import type { Settings } from '#settings/settings.ts'

const usage = `Usage: gslbd backup [FILE] [--settings FILE] [--data-dir DIR]

Writes one file with all that a control node is made of: its database (TXT records written at run
time, too), its key, the signers that it trusts, what it has accepted and published, and its own
repository. A node that runs goes on meanwhile, and writes the file itself. "gslbd restore" reads
it. With backup.enabled a node writes one each backup.interval.

  FILE              a new file; without it one in backup.directory, named by the moment
  --settings FILE   gslbd.yaml
  --data-dir DIR    the data directory (GSLB_DATA_DIR; default ./data)

The file is not encrypted, and has private keys and password hashes: its owner alone may read it.
GSLB_SECRET_KEY, under which secrets of TOTP and TSIG are sealed, and gslbd.yaml are not in it.

Exit codes: 0 whole; 1 not taken, or without the repository; 2 wrong call.`

export const backup: Command = {
  name: 'backup',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      settings: { type: 'string' },
      'data-dir': { type: 'string' },
    })
    const file = atMostOne(positionals, 'name one file')
    const { settings: settingsFile, ...flags } = values
    const settings = settingsFor(io, settingsFile, flags)
    io.progress?.('taking a backup')
    const { path, rows, missing } = await take(settings, file === undefined ? '' : resolve(file))
    io.out(`${path}\n`)
    io.err(`${rows} rows; keep it where you keep secrets: it has private keys\n`)
    for (const sentence of missing) io.err(`gslbd backup: ${sentence}\n`)
    return missing.length === 0 ? Exit.Ok : Exit.ErrorsFound
  },
}

/** Asks the node if one runs. */
async function take(settings: Settings, path: string): Promise<AskedBackup> {
  const { dataDir } = settings
  const holder = holderOf(dataDir)
  if (holder !== undefined) {
    const asked = await askForBackup(dataDir, path)
    const silent =
      `process ${holder} has ${dataDir} and takes no backup: it is starting or no control node, ` +
      'or this is another user'
    return needed(asked ?? err(silent))
  }
  checkNodeKey(dataDir, Exit.ErrorsFound)
  return needed(await holding(dataDir, Exit.ErrorsFound, () => takeHere(settings, path)))
}

/** Backs up a node that does not run. */
async function takeHere(settings: Settings, path: string): Promise<Result<AskedBackup, string>> {
  const { dataDir, database } = settings
  const state = createNodeState({
    ...{ dataDir, databaseUrl: database.url, pool: database, clock: systemClock },
    prepare: async () => ok(undefined),
  })
  const ignore = (): void => undefined
  const log = { info: ignore, warn: ignore, error: ignore }
  const backups = new Backups({ settings, state, clock: systemClock, log })
  return backups.takeNow(path).finally(state.close)
}
