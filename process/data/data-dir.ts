// Opens the data directory: creates it, checks that it can be written, and locks it for one
// process.
import { fileText } from '#lib/text/file-text.ts'
import { createHash } from 'node:crypto'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { assert } from '#lib/assert.ts'
import { sweepTemporary, writeDurably } from '#lib/durable-file.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface DataDir {
  readonly path: string
  /** Why nothing can be stored here; null: the directory is held and can be written. */
  readonly fault: () => string | null
  /**
   * Tries again to take a directory that had a fault.
   *
   * @returns the fault that remains
   */
  readonly retry: () => string | null
  readonly release: () => void
  /**
   * Closes as `close` does, and removes the folders that opening has made, where they are empty.
   */
  readonly abandon: () => void
}

/** Folders with durable files, where an interrupted write may have left a temporary file. */
const writtenFolders = ['.', 'node', 'node/bundles', 'gitops', 'keys']
/** How often a lock is looked at: others that start at the same moment may change it in between. */
const lockTries = 10
/**
 * Processes that may have died one after the other, each about to replace the lock of a dead one.
 */
const heirsMax = 16
/** States in /proc of a process that has ended: a zombie, and one that is being removed. */
const endedStates: readonly string[] = ['Z', 'X']
/** Errors of file systems without hard links. */
const withoutLinks: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

interface Refusal {
  readonly kind: 'not-made' | 'in-use' | 'not-writable'
  /** A sentence that says what to do. */
  readonly message: string
}

/** Opens and locks the directory. Errors: a sentence that says what to do. */
export function openDataDir(path: string): Result<DataDir, string> {
  const held = hold(path)
  return held.ok ? ok(new HeldDirectory(path, null, held.value)) : err(held.error.message)
}

/**
 * Opens the directory also when it cannot be written at the moment, if it holds a bundle to serve:
 * answers matter more than storing. The log names the directory, whose default depends on where the
 * node was started.
 */
export function openDataDirToServe(path: string, log: Log): Result<DataDir, string> {
  const held = hold(path)
  if (held.ok) {
    const isNew = held.value.includes(path)
    log.info({ dataDir: path }, `the data directory was ${isNew ? 'made' : 'opened'}`)
    return ok(new HeldDirectory(path, null, held.value))
  }
  const { kind, message } = held.error
  return kind === 'not-writable' && hasStoredBundle(path)
    ? ok(new HeldDirectory(path, message, []))
    : err(message)
}

/**
 * Opens a directory that another process still holds: nothing is written, and `retry` takes it when
 * the other one has let go.
 */
export function openDataDirLater(path: string): DataDir {
  return new HeldDirectory(path, 'the process before still holds the data directory', [])
}

class HeldDirectory implements DataDir {
  readonly path: string
  readonly #made: readonly string[]
  #fault: string | null

  constructor(path: string, fault: string | null, made: readonly string[]) {
    assert(fault === null || made.length === 0, 'a directory that is not held has no new folders')
    this.path = path
    this.#fault = fault
    this.#made = made
  }

  fault = (): string | null => this.#fault

  retry = (): string | null => {
    if (this.#fault === null) return null
    const held = hold(this.path)
    this.#fault = held.ok ? null : held.error.message
    return this.#fault
  }

  release = (): void => {
    if (this.#fault === null) rmSync(lockOf(this.path), { force: true })
  }

  abandon = (): void => {
    const isInside = (folder: string): boolean => folder.startsWith(join(this.path, '/'))
    // Removed while the lock is held: a process that comes later finds the whole directory, or
    // none.
    removeEmpty(this.#made.filter(isInside))
    this.release()
    removeEmpty(this.#made.filter((folder) => !isInside(folder)))
  }
}

function lockOf(path: string): string {
  return join(path, 'lock')
}

/** Only checks that a bundle exists; the node finds out whether it is valid. */
function hasStoredBundle(path: string): boolean {
  const has = (name: string): boolean => existsSync(join(path, name))
  const hasRecord = has('node/active.json') || has('node/previous.json')
  return hasRecord && has('node/bundles') && has('keys/node.pem')
}

/**
 * Makes the directory, takes its lock, and proves that it can be written.
 *
 * @returns the folders that were made, outermost first
 */
function hold(path: string): Result<readonly string[], Refusal> {
  const made: string[] = []
  try {
    makeFolders(path, 0o750, made)
  } catch (error) {
    removeEmpty(made)
    const remedy = 'name another with --data-dir'
    const message = `the data directory ${path} cannot be made: ${why(error)}; ${remedy}`
    return err({ kind: 'not-made', message })
  }
  const lock = lockOf(path)
  let isOurs = false
  try {
    const holder = takeLock(lock)
    if (holder !== undefined) return inUse(path, holder)
    isOurs = true
    for (const folder of writtenFolders) {
      makeFolders(join(path, folder), 0o700, made)
      sweepTemporary(join(path, folder))
    }
    sweepUnfinished(path)
    return ok(made)
  } catch (error) {
    if (isOurs) removeQuietly(lock)
    // The disk may be full because of the holder, which is named first.
    const holder = livingHolder(lock)
    if (holder !== undefined) return inUse(path, holder)
    const remedy = 'make it writable for this user, or name another with --data-dir'
    const message = `the data directory ${path} cannot be written: ${why(error)}; ${remedy}`
    return err({ kind: 'not-writable', message })
  }
}

function inUse(path: string, holder: number): Result<never, Refusal> {
  const remedy = 'stop that one, or name another directory with --data-dir'
  const message = `the data directory ${path} is in use by process ${holder}; ${remedy}`
  return err({ kind: 'in-use', message })
}

/** Removes innermost folders first; a folder with content stays. */
function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder)
    } catch {
      // The folder is in use.
    }
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // A lock of a dead process keeps nobody out.
  }
}

/**
 * Makes a directory and those above it, one by one: Node's `recursive` never returns where the file
 * system answers each attempt with "no such directory", as /proc does.
 *
 * @param made gets the folders that were made, outermost first
 * @throws the file system's error
 */
function makeFolders(path: string, mode: number, made: string[] = []): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return
  const parent = dirname(path)
  if (found === undefined && statSync(parent, { throwIfNoEntry: false }) === undefined)
    makeFolders(parent, mode, made)
  try {
    mkdirSync(path, { mode })
    made.push(path)
  } catch (error) {
    // Another process has made it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

/**
 * @returns the process that holds the lock; undefined: this one does now
 *
 * @throws the file system's error
 */
function takeLock(lock: string): number | undefined {
  const own = `${lock}.${process.pid}`
  const text = `${process.pid} ${startOf(process.pid) ?? ''}\n`
  try {
    for (let tries = 1; ; tries++) {
      // Written at each try: a winner removes the files of others.
      writeFileSync(own, text)
      try {
        // Starts at the same time: one finds the name taken; a link is never half written.
        linkSync(own, lock)
        return undefined
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        const found = fileText(lock)
        const holder = livingWriter(found)
        if (holder !== undefined) return holder
        if (withoutLinks.includes(code)) {
          renameSync(own, lock)
          return undefined
        }
        if (!['EEXIST', 'ENOENT'].includes(code) || tries === lockTries) throw error
        if (found === undefined) continue
        const heir = replaceDead(lock, found, own)
        if (heir !== 'nobody') return heir === 'us' ? undefined : heir
      }
    }
  } finally {
    rmSync(own, { force: true })
  }
}

/**
 * Replaces the lock of a dead holder in one step: the name is never free, so no other process gets
 * it. Only the heir may do so: of all processes that find the lock, the one that links the single
 * name for that holder's heir. A heir that died has a heir by the same rule.
 *
 * @param found content of the lock; its writer is dead
 * @returns the living heir; `nobody`: the content has changed, so look again
 */
function replaceDead(lock: string, found: string, own: string): 'us' | 'nobody' | number {
  let claim = heirOf(lock, found)
  for (let heirs = 1; ; heirs++) {
    const claimed = claimFor(own, claim)
    if (claimed === 'ours') break
    const dead = fileText(claim)
    if (dead === undefined) return 'nobody'
    const heir = livingWriter(dead)
    if (heir !== undefined) return heir
    // Locks of heirs that cannot be told apart belong to processes that no longer exist.
    if (heirs === heirsMax || heirOf(lock, dead) === claim) rmSync(claim, { force: true })
    if (heirs === heirsMax) return 'nobody'
    claim = heirOf(lock, dead)
  }
  try {
    // Another heir may have replaced the lock since, and have ended.
    if (fileText(lock) !== found) return 'nobody'
    renameSync(own, lock)
    return 'us'
  } finally {
    rmSync(claim, { force: true })
  }
}

/** The name to be linked by the heir of the process that wrote `text`. */
function heirOf(lock: string, text: string): string {
  return `${lock}.heir-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}

/** @throws the file system's error, except for a name that is taken */
function claimFor(own: string, claim: string): 'ours' | 'taken' {
  try {
    linkSync(own, claim)
    return 'ours'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // ENOENT: the winner has removed this process's own file.
    if (code === 'EEXIST' || code === 'ENOENT') return 'taken'
    throw error
  }
}

/** Removes what a killed start has left of its lock, or of the local origin. */
function sweepUnfinished(path: string): void {
  for (const name of readdirSync(path)) {
    if (/^(lock\.(\d+|heir-[0-9a-f]+)|config\.git\.\d+\.tmp)$/.test(name))
      rmSync(join(path, name), { recursive: true, force: true })
  }
}

/** @returns the process that holds a data directory; undefined: none that this user may see */
export const holderOf = (path: string): number | undefined => livingHolder(lockOf(path))

function livingHolder(lock: string): number | undefined {
  return livingWriter(fileText(lock))
}

/**
 * The process that wrote a lock, unless another one has its number now. The text is the one that
 * was read: a moment later the file may hold another.
 */
function livingWriter(text: string | undefined): number | undefined {
  const [pid = '', startedAt = ''] = (text ?? '').trim().split(' ')
  if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return undefined
  const livesSince = startOf(Number(pid))
  return livesSince !== undefined && livesSince === startedAt ? Number(pid) : undefined
}

/**
 * Start time of a process in the kernel's ticks; '': unknown; undefined: there is no such process,
 * or it has ended and its parent has not noticed.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold spaces, so fields are counted from its end: field 3 is the
    // state, field 22 the start time.
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return endedStates.includes(state) ? undefined : fields[18]
  } catch {
    return isAlive(pid) ? '' : undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const sentences: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'there is a file of that name',
  ENOENT: 'no directory can be made there',
}

function why(error: unknown): string {
  const { code, message, path } = error as NodeJS.ErrnoException
  const sentence = sentences[code ?? '']
  if (sentence === undefined) return message
  return path === undefined ? sentence : `${path}: ${sentence}`
}

/**
 * Writes a file that only its owner can read, whole or not at all.
 *
 * @throws the file system's error
 */
export function writeSecret(path: string, text: string): void {
  makeFolders(dirname(path), 0o700)
  writeDurably(path, text, 0o600)
}
