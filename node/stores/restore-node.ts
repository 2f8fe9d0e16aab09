// Restores a backup into the data directory of a stopped node: its database, its files and its
// repository, all or nothing.
import {
  closeSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { assert } from '#lib/assert.ts'
import { openDataDir } from '#process/data/data-dir.ts'
import type { Tell } from '#lib/log.ts'
import type { Settings } from '#settings/settings.ts'
import { readRepositoryBundle } from '#gitops/source/repository-bundle.ts'
import { loadState, saveState } from '#gitops/sync/stored-state.ts'
import { originPath, statePathOf } from '#gitops/thread/options.ts'
import { flushDirectory } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { BackupFileName } from '#state/backup/format.ts'
import { filesOf, restoreBackup } from '#state/backup/restore-backup.ts'
import type { CheckedBackup } from '#state/backup/restore-backup.ts'
import { withState } from './stopped-state.ts'
import { smallFilesOf } from './node-files.ts'

interface RestoreOptions {
  /** True: existing data is moved aside. */
  readonly isForced: boolean
  /** The channel continues above this number. */
  readonly seqAfter: number
  /** How far the channel continues above the number of the backup, as well. */
  readonly leap: number
  readonly searchPath: string
  readonly nowMs: number
  readonly progress?: Tell | undefined
}

export interface Restored {
  readonly rows: number
  readonly seq: number
  /** Where the data before is now; null: there was none. */
  readonly movedTo: string | null
  /** True: the backup is too old to say which nodes its node listed, so that none is. */
  readonly isListClosed: boolean
}

/** Folders derived from what was accepted; a node makes them at its start. */
const derived = ['node', 'texts', 'delivery', 'gitops', 'resolved', 'health'] as const

/** Errors: a sentence; the data directory is unchanged then. */
export async function restoreNode(
  settings: Settings,
  backup: CheckedBackup,
  options: RestoreOptions,
): Promise<Result<Restored, string>> {
  const held = openDataDir(settings.dataDir)
  if (!held.ok) return held
  const undo: (() => void)[] = []
  let restored: Result<Restored, string> = err('Nothing was restored.')
  try {
    restored = await restoreInto(settings, backup, options, undo)
    return restored
  } catch (error) {
    return err(`${(error as Error).message}. Nothing was restored.`)
  } finally {
    if (restored.ok) held.value.release()
    else {
      for (const step of undo.reverse()) step()
      held.value.abandon()
    }
  }
}

async function restoreInto(
  settings: Settings,
  backup: CheckedBackup,
  options: RestoreOptions,
  undo: (() => void)[],
): Promise<Result<Restored, string>> {
  const { dataDir, gitops, database } = settings
  const { progress } = options
  const staged = join(dataDir, `restore-${process.pid}.tmp`)
  undo.push(() => rmSync(staged, { recursive: true, force: true }))
  progress?.('restoring files')
  await stageFiles(backup, staged)
  const seq = continueAbove(join(staged, 'gitops/state.json'), options.seqAfter, options.leap)
  if (!seq.ok) return seq
  const bundle = join(staged, 'config.bundle')
  const repository = join(staged, 'config.git')
  if (backup.files.has('config.bundle')) {
    progress?.('restoring the repository')
    const git = { searchPath: options.searchPath, stop: neverAborted }
    const read = await readRepositoryBundle(bundle, repository, gitops.branch, git)
    if (!read.ok) return err(`The repository cannot be restored: ${read.error.message}.`)
  }
  const isListClosed = !backup.hasNodeList && !hasContent(settings.node.listFile)
  if (isListClosed) writeFileSync(join(staged, 'nodes'), closedList)
  const places = placesOf(settings, new Set([...backup.files, ...(isListClosed ? [list] : [])]))
  assert(!isListClosed || places.has(list), 'a closed list is put in its place')
  const inTheWay = occupiedBy(settings, places)
  if (inTheWay.length > 0 && !options.isForced) return err(occupied(dataDir, inTheWay))
  const aside = join(dataDir, `before-restore-${stamp(options.nowMs)}`)
  undo.push(() => rmSync(aside, { recursive: true, force: true }))
  for (const path of inTheWay) move(path, join(aside, asideName(dataDir, path)), undo)
  progress?.('restoring the database')
  if (database.url === '') {
    const path = join(dataDir, 'database')
    undo.push(() => rmSync(path, { recursive: true, force: true }))
  }
  for (const [name, path] of places) move(join(staged, name), path, undo)
  // The last step, since rows of a database server cannot be taken back.
  const rows = await restoreRows(settings, backup, progress)
  if (!rows.ok) return rows
  rmSync(staged, { recursive: true, force: true })
  flushDirectory(dataDir)
  const movedTo = inTheWay.length === 0 ? null : aside
  return ok({ rows: rows.value, seq: seq.value, movedTo, isListClosed })
}

const list: BackupFileName = 'nodes'
/** With it no node counts, and none gets keys of zones, as without it all would. */
const closedList =
  '# Restored from a backup without a list of nodes: none counts, and none gets keys of zones.\n' +
  '# "gslbd node add" lists them. Where none was ever listed, remove this file.\n'

const neverAborted = new AbortController().signal

/** A node that had no database gets none. */
async function restoreRows(
  settings: Settings,
  backup: CheckedBackup,
  progress: RestoreOptions['progress'],
): Promise<Result<number, string>> {
  if (backup.rows === 0) return ok(0)
  const tell = rowTeller(backup, progress)
  return withState(settings, ({ sql }) => restoreBackup(sql, backup, tell))
}

/** Reports which rows of a backup are being restored. */
export function rowTeller(
  { rows }: Pick<CheckedBackup, 'rows'>,
  progress: RestoreOptions['progress'],
): (count: number) => void {
  return (count) => progress?.('restoring the database: row', count, rows)
}

/** Files for the owner alone; people who push may read the others. */
const secret: readonly BackupFileName[] = ['keys/node.pem', 'ssh_key', 'config.bundle']

/** @throws the file system's error */
async function stageFiles(backup: CheckedBackup, staged: string): Promise<void> {
  mkdirSync(staged, { mode: 0o700 })
  let open: { readonly name: BackupFileName; readonly fd: number } | undefined
  try {
    for await (const { name, octets } of filesOf(backup)) {
      if (open?.name !== name) {
        if (open !== undefined) closeSync(open.fd)
        open = undefined
        const path = join(staged, name)
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        open = { name, fd: openSync(path, 'wx', secret.includes(name) ? 0o600 : 0o644) }
      }
      for (let at = 0; at < octets.length;) at += writeSync(open.fd, octets, at)
    }
  } finally {
    if (open !== undefined) closeSync(open.fd)
  }
}

/** The place of each file. */
function placesOf(
  settings: Settings,
  files: ReadonlySet<BackupFileName>,
): ReadonlyMap<string, string> {
  const small = [...smallFilesOf(settings)].filter(([name]) => files.has(name))
  const places = new Map<string, string>(small)
  // A backup has this file only together with those that are needed to continue from it.
  places.set('gitops/state.json', statePathOf(settings.dataDir))
  if (files.has('config.bundle')) places.set('config.git', originPath(settings.dataDir))
  return places
}

/**
 * Makes the first publication get a number above `seqAfter`, even if its bundle was published
 * before.
 *
 * @returns the least number of the next record. Errors: a sentence
 */
export function continueAbove(
  statePath: string,
  seqAfter: number,
  leap = 0,
): Result<number, string> {
  const loaded = loadState(statePath)
  if (!loaded.ok) return loaded
  const state = loaded.value
  const seq = Math.max(state.seq + leap, seqAfter) + 1
  assert(seq > state.seq && seq > seqAfter, 'a restored channel goes on above what nodes have seen')
  // Before the first publication no bundle has the number, and the first one adds one to it.
  const stored = state.digest === '' ? seq - 1 : seq
  saveState(statePath, { ...state, seq: stored, previous: '' })
  return ok(seq)
}

/** Lists existing files and folders that a restore would replace. */
function occupiedBy(
  { dataDir, database }: Settings,
  places: ReadonlyMap<string, string>,
): readonly string[] {
  const folders = [...derived, ...(database.url === '' ? ['database'] : [])]
  const whole = folders.map((name) => join(dataDir, name))
  const isInside = (path: string): boolean => whole.some((one) => path.startsWith(`${one}${sep}`))
  const files = [...places.values()].filter((path) => !isInside(path))
  return [...whole, ...files].filter(hasContent)
}

/** Folders alone do not count: opening a data directory makes them. */
function hasContent(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined || !stat.isDirectory()) return stat !== undefined
  return readdirSync(path).some((name) => hasContent(join(path, name)))
}

function move(from: string, to: string, undo: (() => void)[]): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  rename(from, to)
  undo.push(() => rename(to, from))
}

/** @throws the file system's error */
function rename(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    // A setting may name a file on another disk.
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    copyFileSync(from, to)
    rmSync(from)
  }
}

const stamp = (nowMs: number): string =>
  new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')

/** Files outside of the data directory may have equal names. */
function asideName(dataDir: string, path: string): string {
  const inside = relative(dataDir, path)
  return inside.startsWith('..') ? path.replaceAll('/', '_') : inside
}

function occupied(dataDir: string, paths: readonly string[]): string {
  return (
    `${dataDir} is that of a node already: ${paths.join(', ')}. Restore into another one, or say ` +
    '--force: what is there is moved to a folder in it and stays. Nothing was restored.'
  )
}
