// `gslbd restore`: restores a backup into the empty data directory of a stopped node.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import { statePathOf } from '#gitops/thread/options.ts'
import { sealedText } from '#access/auth/secret-key.ts'
import { checkBackup, restoreBackup } from '#state/backup/restore-backup.ts'
import type { CheckedBackup } from '#state/backup/restore-backup.ts'
import {
  CommandFault,
  commandLine,
  Exit,
  needed,
  UsageError,
  variable,
} from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { checkNodeKey, checkOwner, holding } from '#cli/files/data-dir.ts'
import { withLoneState } from '#node/stores/stopped-state.ts'
import { askNodes, isSeq, leapSince } from '#node/stores/next-seq.ts'
import { continueAbove, restoreNode, rowTeller } from '#node/stores/restore-node.ts'
import type { Restored } from '#node/stores/restore-node.ts'
import { settingsFor } from '#cli/files/settings-file.ts'
import type { Settings } from '#settings/settings.ts'

const usage = `Usage: gslbd restore FILE [--settings FILE] [--data-dir DIR] [--seq-after N]
                     [--ask URL]… [--force | --only-database]
       gslbd restore --seq-after N | --ask URL… [--data-dir DIR]

Reads a backup into the data directory of a node that does not run: its database (accounts, roles,
tenant keys, licence, usage, audit log, TSIG keys, TXT records), its key, the signers that it
trusts, what it has accepted, the nodes that it lists, and its repository. All is restored or
nothing. Nodes that pull refuse a seq that they have passed, so the restored node goes on above what
was published since the backup was made. Without FILE, only that: for a data directory that was
brought back otherwise.

  --settings FILE   gslbd.yaml; its database.url says where the database is restored to
  --data-dir DIR    the data directory (GSLB_DATA_DIR; default ./data); stop the node first
  --seq-after N     go on above N in any case
  --ask URL         go on above what this node that pulls has seen, as it says at
                    URL/api/v1/health; may be repeated
  --force           move what is in the data directory into a folder in it; without it nothing is
                    replaced. A database of database.url must be empty in any case
  --only-database   restore the database alone; the rest of the node is as it was

Exit codes: 0 restored; 1 not restored, and nothing was changed; 2 wrong call.`

interface Options {
  readonly seqAfter: number | undefined
  readonly ask: readonly string[]
  readonly isForced: boolean
  readonly isDatabaseAlone: boolean
}

export const restore: Command = {
  name: 'restore',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      settings: { type: 'string' },
      'data-dir': { type: 'string' },
      'seq-after': { type: 'string' },
      ask: { type: 'string', multiple: true },
      force: { type: 'boolean' },
      'only-database': { type: 'boolean' },
    })
    const [file, ...others] = positionals
    const { settings: settingsFile, 'data-dir': dataDir, ...rest } = values
    const options: Options = {
      seqAfter: rest['seq-after'] === undefined ? undefined : seqOf(rest['seq-after']),
      ask: rest.ask ?? [],
      isForced: rest.force === true,
      isDatabaseAlone: rest['only-database'] === true,
    }
    const isSeqAlone = options.seqAfter !== undefined || options.ask.length > 0
    if (others.length > 0 || (file === undefined && !isSeqAlone)) {
      throw new UsageError('name one backup')
    }
    if (options.isDatabaseAlone && (options.isForced || isSeqAlone)) {
      throw new UsageError('--only-database goes with none of --force, --seq-after and --ask')
    }
    const settings = settingsFor(io, settingsFile, { 'data-dir': dataDir })
    const lines = await (file === undefined
      ? renumber(settings, options, io)
      : restoreFile(settings, resolve(file), options, io))
    io.out(`${lines.join('\n')}\n`)
    return Exit.Ok
  },
}

function seqOf(text: string): number {
  const seq = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  if (isSeq(seq)) return seq
  throw new UsageError(`--seq-after is "${text}", write a whole number from 0 to 2^52`)
}

/** @returns lines for people */
async function restoreFile(
  settings: Settings,
  path: string,
  options: Options,
  io: Io,
): Promise<readonly string[]> {
  checkOwner(settings.dataDir, Exit.Usage)
  io.progress?.(`reading ${path}`)
  // Checked before a data directory is made for it.
  const backup = needed(await checkBackup(path))
  if (backup.files.size === 0 || options.isDatabaseAlone) {
    io.progress?.('restoring the database')
    const tell = rowTeller(backup, io.progress)
    const rows = await withLoneState(settings, ({ sql }) => restoreBackup(sql, backup, tell))
    return [
      `${needed(rows)} rows restored`,
      ...missingListLines(settings, backup),
      ...secretLines(backup, io),
    ]
  }
  const nowMs = systemClock.nowMs()
  const seqAfter = await knownSeq(options, io)
  const restored = await restoreNode(settings, backup, {
    ...{ isForced: options.isForced, seqAfter, nowMs },
    leap: leapSince(backup.createdAtMs, nowMs),
    searchPath: variable(io.env, 'PATH') ?? process.env['PATH'] ?? '',
    progress: io.progress,
  })
  return [...linesOf(settings, backup, needed(restored)), ...secretLines(backup, io)]
}

/** Where the node of the backup is gone, its start would be late to say it. */
const secretLines = ({ sealed }: CheckedBackup, { env }: Io): readonly string[] =>
  sealed === null ? [] : [sealedText(sealed, variable(env, 'GSLB_SECRET_KEY'))]

function linesOf(
  { node: { listFile } }: Settings,
  backup: CheckedBackup,
  { rows, seq, movedTo, isListClosed }: Restored,
): readonly string[] {
  const names = [...backup.files].map((name) => (name === 'config.bundle' ? 'config.git' : name))
  return [
    `${rows} rows restored`,
    `files restored: ${names.join(', ')}`,
    `the backup is of ${new Date(backup.createdAtMs).toISOString()}; nodes get seq ${seq} next`,
    ...(movedTo === null ? [] : [`what was there is in ${movedTo}`]),
    ...listLines(listFile, backup, isListClosed),
  ]
}

/** Without a list all nodes count that have the token of bundles, and get keys of zones. */
function listLines(
  listFile: string,
  { files }: CheckedBackup,
  isClosed: boolean,
): readonly string[] {
  if (files.has('nodes')) return []
  if (isClosed) {
    return [
      'the backup is of a version that kept no list of nodes: none counts, and none gets keys of ' +
        `zones, until it is listed in ${listFile} (copy it, or "gslbd node add"); ` +
        'where none was ever listed, remove that file',
    ]
  }
  if (existsSync(listFile)) return [`the list of nodes stays as it is: ${listFile}`]
  return ['no list of nodes was kept: all nodes count, and get keys of zones (node.unlisted: auto)']
}

/** A database alone has no list: into a new directory, nodes count that did not before. */
function missingListLines(
  { node: { listFile, unlisted } }: Settings,
  { files }: CheckedBackup,
): readonly string[] {
  if (unlisted !== 'auto' || existsSync(listFile)) return []
  const from = files.has('nodes')
    ? 'the backup has one, which --only-database leaves out: restore without it, or copy the ' +
      'list of another control node there'
    : 'copy that of another control node there, if nodes were listed'
  return [
    `there is no list of nodes at ${listFile}: all nodes count, and get keys of zones ` +
      `(node.unlisted: auto); ${from}`,
  ]
}

/** The highest seq that was given or asked for; 0: neither. Each silent node has a sentence. */
async function knownSeq({ ask, seqAfter = 0 }: Options, io: Io): Promise<number> {
  if (ask.length > 0) io.progress?.(`asking ${ask.join(', ')}`)
  const asked = await askNodes(ask)
  if (asked.ok) return Math.max(seqAfter, asked.value)
  const remedy = 'leave it out, or say --seq-after; nothing was restored'
  throw new CommandFault(Exit.ErrorsFound, `${asked.error.join('\n')}\n${remedy}`)
}

/** Renumbers an existing data directory. */
async function renumber(
  { dataDir }: Settings,
  options: Options,
  io: Io,
): Promise<readonly string[]> {
  checkNodeKey(dataDir, Exit.ErrorsFound)
  const seqAfter = await knownSeq(options, io)
  const path = statePathOf(dataDir)
  const seq = await holding(dataDir, Exit.ErrorsFound, () => continueAbove(path, seqAfter))
  return [`nodes get seq ${needed(seq)} next`]
}
