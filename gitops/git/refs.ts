// Reads and moves refs of a bare repository, with Git's own lock files.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { flushDirectory } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RefConflict } from '#gitops/git/objects/driver.ts'
import { gitLimits } from '#gitops/limits.ts'

const objectId = /^[0-9a-f]{40}$/

/** As git-check-ref-format(1), less what nobody uses: no spaces, no signs but `. _ - /`. */
export function isBranchName(name: string): boolean {
  if (!/^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$/.test(name) || name === 'HEAD') return false
  return name.split('/').every((part) => part !== '' && !/^[.-]|\.$|\.\.|\.lock$/.test(part))
}

/**
 * @returns null when the ref does not exist or is not an object id.
 * @throws the file system's error.
 */
export function readRef(gitdir: string, ref: string): string | null {
  const loose = readText(join(gitdir, ref))?.trim()
  if (loose !== undefined && objectId.test(loose)) return loose
  return packedRefs(gitdir).get(ref) ?? null
}

export function listRefs(gitdir: string, prefix: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [ref, oid] of packedRefs(gitdir)) {
    if (ref.startsWith(prefix)) found.set(ref.slice(prefix.length), oid)
  }
  for (const name of namesUnder(join(gitdir, prefix))) {
    const oid = readText(join(gitdir, prefix, name))?.trim() ?? ''
    if (objectId.test(oid)) found.set(name, oid)
  }
  return found
}

function namesUnder(directory: string): string[] {
  const names = orAbsent(() => readdirSync(directory)) ?? []
  return names.filter((name) => !name.endsWith('.lock'))
}

function packedRefs(gitdir: string): Map<string, string> {
  const refs = new Map<string, string>()
  for (const line of (readText(join(gitdir, 'packed-refs')) ?? '').split('\n')) {
    const oid = line.slice(0, 40)
    if (objectId.test(oid)) refs.set(line.slice(41).trim(), oid)
  }
  return refs
}

function readText(path: string): string | undefined {
  return orAbsent(() => readFileSync(path, 'utf8'))
}

const absent: readonly string[] = ['ENOENT', 'ENOTDIR', 'EISDIR']

/**
 * Returns undefined for an absent file. A ref that may not be read is an error, not absent.
 *
 * @throws the file system's error.
 */
function orAbsent<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (absent.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/**
 * Sets `ref` to `next` when it is still at `expected`. The lock is Git's: create `REF.lock`
 * exclusively, compare, write, rename over `REF`; so `git push` and this function exclude each
 * other.
 */
export async function moveRef(
  gitdir: string,
  ref: string,
  expected: string | null,
  next: string,
): Promise<Result<void, RefConflict>> {
  assert(objectId.test(next), 'a ref is moved to an object')
  const path = join(gitdir, ref)
  const lockPath = `${path}.lock`
  mkdirSync(dirname(path), { recursive: true })
  const mine = join(gitdir, `${ownLockPrefix}${process.pid}.${randomBytes(6).toString('hex')}`)
  const fd = await lock(lockPath, mine)
  if (fd === undefined) {
    const reason = `${lockPath} is held by another process; if none runs, delete the file`
    return err({ current: readRef(gitdir, ref), reason })
  }
  let isRenamed = false
  try {
    const current = readRef(gitdir, ref)
    if (current !== expected) {
      return err({ current, reason: `${ref} has moved to ${current ?? 'nothing'} meanwhile` })
    }
    writeSync(fd, `${next}\n`)
    fsyncSync(fd)
    renameSync(lockPath, path)
    isRenamed = true
    flushDirectory(dirname(path))
    return ok(undefined)
  } finally {
    closeSync(fd)
    if (!isRenamed) rmSync(lockPath, { force: true })
    rmSync(mine, { force: true })
  }
}

/**
 * Prefix of a second name of the lock file, beside the lock: it tells which process made the lock.
 */
const ownLockPrefix = 'gslbd-lock.'

/**
 * Removes locks of processes that were killed while they held them, a former run of this one among
 * them. Must not run while this process moves refs. A lock made by git has no second name and
 * stays.
 */
export function releaseDeadLocks(gitdir: string, refs: readonly string[]): void {
  for (const name of readdirSync(gitdir)) {
    if (!name.startsWith(ownLockPrefix)) continue
    const pid = Number(name.slice(ownLockPrefix.length).split('.', 1)[0])
    // In a container a process gets the same id at each start: its own id belongs to a dead one.
    if (pid !== process.pid && isAlive(pid)) continue
    const mine = join(gitdir, name)
    const inode = statSync(mine, { throwIfNoEntry: false })?.ino
    for (const ref of refs) {
      const lockPath = join(gitdir, `${ref}.lock`)
      const held = statSync(lockPath, { throwIfNoEntry: false })?.ino
      if (held !== undefined && held === inode) rmSync(lockPath, { force: true })
    }
    rmSync(mine, { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** @returns undefined when the lock could not be had in `lockWaitMs`. */
async function lock(path: string, mine: string): Promise<number | undefined> {
  const stepMs = 20
  const fd = openSync(mine, 'wx')
  for (let waitedMs = 0; waitedMs <= gitLimits.lockWaitMs; waitedMs += stepMs) {
    try {
      // A hard link fails where the file exists, so it is as exclusive as creating the file.
      linkSync(mine, path)
      return fd
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        giveUp(fd, mine)
        throw error
      }
    }
    removeStale(path)
    await sleep(stepMs)
  }
  giveUp(fd, mine)
  return undefined
}

function giveUp(fd: number, mine: string): void {
  closeSync(fd)
  rmSync(mine, { force: true })
}

/** Removes the lock of a dead process. It is renamed first, so that only one remover wins. */
function removeStale(path: string): void {
  const ageMs =
    systemClock.nowMs() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity)
  if (ageMs < gitLimits.staleLockMs) return
  const taken = `${path}.${process.pid}.stale`
  try {
    renameSync(path, taken)
    rmSync(taken, { force: true })
  } catch {
    // Another process removed it first.
  }
}
