// Runs git's repacking when many objects are loose, alongside readers and writers.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'
import { gitLimits } from '#gitops/limits.ts'

interface RepackerParts {
  readonly gitdir: string
  /** How many loose objects start a packing. 0: none does; they are counted all the same. */
  readonly afterObjects: number
  /** The PATH on which git is looked for. */
  readonly searchPath: string
  readonly clock: Clock
  readonly after: After
  readonly log: Log
}

export interface RepackerStatus {
  /** An estimate, as of the last look. null: there was no look yet. */
  readonly looseObjects: number | null
  readonly packings: Readonly<Record<PackingOutcome, number>>
}

/** `no-git`: there is no git on the PATH; counted once. */
type PackingOutcome = 'done' | 'failed' | 'no-git'

interface Failure {
  readonly outcome: 'failed' | 'no-git'
  readonly reason: string
}

/**
 * Folders that are counted, as by git's own `gc --auto`: ids are spread evenly, so 16 of 256
 * folders tell of all.
 */
const sampled = Array.from({ length: 16 }, (_, i) => `${i.toString(16)}7`)
const folderCount = 256

/**
 * Packs are merged so that each has at most half of the next one's objects: there are few, and no
 * object is packed anew often. Nothing is thrown away, whatever refs say; no ref is touched.
 */
const repack = ['repack', '--geometric=2', '-d', '-l', '-n', '-q']
/** Packing uses one core, at the lowest priority, and little memory. */
const modestly = ['-c', 'pack.threads=1', '-c', 'pack.windowMemory=128m']

export class Repacker {
  readonly #parts: RepackerParts
  #looseObjects: number | null = null
  readonly #packings = { done: 0, failed: 0, 'no-git': 0 }
  #child: ChildProcess | undefined
  #packing: Promise<void> | undefined
  #isStopped = false
  #notBeforeMs = -Infinity
  #logged = ''

  constructor(parts: RepackerParts) {
    this.#parts = parts
  }

  status(): RepackerStatus {
    return { looseObjects: this.#looseObjects, packings: { ...this.#packings } }
  }

  /**
   * Counts the loose objects; starts a packing when there are too many, and does not wait for its
   * end. Never throws.
   */
  async look(): Promise<void> {
    const { gitdir, afterObjects, clock } = this.#parts
    const looseObjects = await countLoose(gitdir)
    this.#looseObjects = looseObjects
    if (afterObjects === 0 || looseObjects < afterObjects) return
    if (clock.monotonicMs() < this.#notBeforeMs) return
    if (this.#isStopped || this.#packing !== undefined) return
    this.#packing = this.#pack(looseObjects)
      .catch((error: Error) => {
        // Handled here: nobody awaits the promise, and an unhandled error would end the node.
        this.#fail({ outcome: 'failed', reason: error.message }, looseObjects)
      })
      .finally(() => {
        this.#packing = undefined
      })
  }

  /** Resolves when no packing is under way. */
  async idle(): Promise<void> {
    await this.#packing
  }

  /** Ends a packing under way; git leaves the repository as it was. */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#child !== undefined) this.#end(this.#child)
    await this.#packing
  }

  async #pack(before: number): Promise<void> {
    assert(this.#packing === undefined, 'one packing is under way at a time')
    const { gitdir, clock, log } = this.#parts
    const beganMs = clock.monotonicMs()
    await removeLeftovers(gitdir, clock)
    if (this.#isStopped) return
    const failure = await this.#runGit()
    if (this.#isStopped) return
    if (failure !== undefined) {
      this.#fail(failure, before)
      return
    }
    this.#logged = ''
    this.#packings.done++
    const after = await countLoose(gitdir)
    this.#looseObjects = after
    const ms = Math.round(clock.monotonicMs() - beganMs)
    log.info({ gitdir, before, after, ms }, 'the repository was packed')
    // Packing did not help: git would leave the same objects loose the next time.
    if (after >= before) this.#notBeforeMs = clock.monotonicMs() + gitLimits.repackPauseMs
  }

  #fail({ outcome, reason }: Failure, looseObjects: number): void {
    const { gitdir, clock, log } = this.#parts
    this.#notBeforeMs = clock.monotonicMs() + gitLimits.repackPauseMs
    // Logged once where git is missing: that is not a packing that fails again and again.
    if (outcome === 'failed' || this.#packings[outcome] === 0) this.#packings[outcome]++
    if (reason === this.#logged) return
    this.#logged = reason
    const advice = 'writes go on; see "The size of the repository" in docs/operations/backups.md'
    log.warn({ gitdir, looseObjects }, `the repository is not packed: ${reason}; ${advice}`)
  }

  /** @returns why git failed; undefined when it did not */
  #runGit(): Promise<Failure | undefined> {
    assert(this.#child === undefined, 'one git packs at a time')
    let child: ChildProcess
    try {
      child = this.#spawnGit()
    } catch (error) {
      // spawn throws some errors, and emits others.
      return Promise.resolve(couldNotStart(error))
    }
    this.#child = child
    const { promise, resolve } = Promise.withResolvers<Failure | undefined>()
    giveWay(child)
    let said = ''
    // Without free descriptors there is no stderr; the error event follows.
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(0, gitLimits.repackMessageMax)
    })
    let isLate = false
    const callOff = this.#parts.after(gitLimits.repackMs, () => {
      isLate = true
      this.#end(child)
    })
    child.once('error', (error) => {
      // The event also comes when a signal cannot be delivered: the process then still runs.
      if (child.pid === undefined) resolve(couldNotStart(error))
    })
    child.once('close', (code, signal) => {
      const late = `git was not ready after ${gitLimits.repackMs / 60_000} minutes`
      const how = signal === null ? `git says ${code}` : `git was killed by ${signal}`
      const reason = isLate ? late : `${how}: ${said.trim().split('\n', 1)[0]}`
      resolve(code === 0 ? undefined : { outcome: 'failed', reason })
    })
    return promise.finally(() => {
      callOff()
      this.#child = undefined
    })
  }

  /** @throws the system's error for lack of memory or rights, or Node's for bad arguments */
  #spawnGit(): ChildProcess {
    const { gitdir, searchPath } = this.#parts
    return spawn('git', ['--git-dir', gitdir, ...modestly, ...repack], {
      // A process group of its own, so that helpers of git end with it.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      // Only settings of the repository count, not those of the machine or a person.
      env: {
        PATH: searchPath,
        LC_ALL: 'C',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
      },
    })
  }

  /** Asks git to end: it removes its unfinished files where it can. */
  #end(child: ChildProcess): void {
    signalGroup(child, 'SIGTERM')
    const kill = (): void => signalGroup(child, 'SIGKILL')
    child.once('close', this.#parts.after(gitLimits.repackEndMs, kill))
  }
}

function couldNotStart(error: unknown): Failure {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') {
    const reason = 'there is no git on this machine (PATH); install git 2.33 or newer'
    return { outcome: 'no-git', reason }
  }
  return { outcome: 'failed', reason: `git cannot be started (${code === '' ? message : code})` }
}

/** Lowers the priority of git, so that responders and writes go first. */
function giveWay({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
    // Linux may share the processor among groups of processes: then the group's priority counts.
    const group = `/proc/${pid}/autogroup`
    if (existsSync(group)) writeFileSync(group, `${constants.priority.PRIORITY_LOW}`)
  } catch {
    // The process has ended, or this system does not permit it.
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // No process of the group is left.
  }
}

async function countLoose(gitdir: string): Promise<number> {
  const counts = sampled.map(async (folder) => {
    // A folder that does not exist has no objects.
    const names = await readdir(join(gitdir, 'objects', folder)).catch(() => [])
    return names.length
  })
  const seen = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  return Math.round((seen * folderCount) / sampled.length)
}

/**
 * Removes unfinished packs of a git that was killed. Git itself removes some of them, after weeks.
 */
async function removeLeftovers(gitdir: string, clock: Clock): Promise<void> {
  const folder = join(gitdir, 'objects', 'pack')
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    if (!/^(\.tmp-|tmp_)/.test(name)) continue
    const path = join(folder, name)
    try {
      const { mtimeMs } = await stat(path)
      if (clock.nowMs() - mtimeMs > gitLimits.leftoverMs) await rm(path, { force: true })
    } catch {
      // The file is gone already, or may not be removed: it only uses disk space.
    }
  }
}
