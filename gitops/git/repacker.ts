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

export interface RepackerParts {
  readonly gitdir: string
  /** 0: never; they are counted all the same. */
  readonly afterObjects: number
  /** Where git is looked for: the PATH of this process. */
  readonly searchPath: string
  readonly clock: Clock
  readonly after: After
  readonly log: Log
}

export interface RepackerStatus {
  /** About; as of the last look. null: nobody has looked. */
  readonly looseObjects: number | null
  readonly packings: Readonly<Record<PackingOutcome, number>>
}

/** `no-git`: there is none on the PATH; counted once. */
export type PackingOutcome = 'done' | 'failed' | 'no-git'

interface Failure {
  readonly outcome: 'failed' | 'no-git'
  readonly reason: string
}

/** Like git's own `gc --auto`: ids are spread evenly, so a part of the folders tells of all. */
const sampled = Array.from({ length: 16 }, (_, i) => `${i.toString(16)}7`)
const folderCount = 256

/**
 * Packs are merged so that each has at most half of the next one's objects: there are few, and no
 * object is packed anew often. Nothing is thrown away, whatever refs say; no ref is touched.
 */
const repack = ['repack', '--geometric=2', '-d', '-l', '-n', '-q']
/** One core, at the lowest priority, and little memory. */
const modestly = ['-c', 'pack.threads=1', '-c', 'pack.windowMemory=128m']

export class Repacker {
  readonly #parts: RepackerParts
  #looseObjects: number | null = null
  readonly #packings = { done: 0, failed: 0, 'no-git': 0 }
  #child: ChildProcess | undefined
  #packing: Promise<void> | undefined
  #isStopped = false
  #notBeforeMs = -Infinity
  #told = ''

  constructor(parts: RepackerParts) {
    this.#parts = parts
  }

  status(): RepackerStatus {
    return { looseObjects: this.#looseObjects, packings: { ...this.#packings } }
  }

  /** Counts; begins to pack when it is time, and does not wait for the end. Never throws. */
  async look(): Promise<void> {
    const { gitdir, afterObjects, clock } = this.#parts
    const looseObjects = await countLoose(gitdir)
    this.#looseObjects = looseObjects
    if (afterObjects === 0 || looseObjects < afterObjects) return
    if (clock.monotonicMs() < this.#notBeforeMs) return
    if (this.#isStopped || this.#packing !== undefined) return
    this.#packing = this.#pack(looseObjects)
      .catch((error: Error) => {
        // Nobody waits for it who could handle an error: it would end the node.
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
    this.#told = ''
    this.#packings.done++
    const after = await countLoose(gitdir)
    this.#looseObjects = after
    const ms = Math.round(clock.monotonicMs() - beganMs)
    log.info({ gitdir, before, after, ms }, 'the repository was packed')
    // What git has left loose it would leave the next time as well.
    if (after >= before) this.#notBeforeMs = clock.monotonicMs() + gitLimits.repackPauseMs
  }

  #fail({ outcome, reason }: Failure, looseObjects: number): void {
    const { gitdir, clock, log } = this.#parts
    this.#notBeforeMs = clock.monotonicMs() + gitLimits.repackPauseMs
    // A node that has no git is not to look like one where packing fails again and again.
    if (outcome === 'failed' || this.#packings[outcome] === 0) this.#packings[outcome]++
    if (reason === this.#told) return
    this.#told = reason
    const advice = 'writes go on; see "The size of the repository" in docs/operations/backups.md'
    log.warn({ gitdir, looseObjects }, `the repository is not packed: ${reason}; ${advice}`)
  }

  /** @returns why it has failed */
  #runGit(): Promise<Failure | undefined> {
    assert(this.#child === undefined, 'one git packs at a time')
    let child: ChildProcess
    try {
      child = this.#spawnGit()
    } catch (error) {
      // Some errors are thrown, others told of later.
      return Promise.resolve(couldNotStart(error))
    }
    this.#child = child
    const { promise, resolve } = Promise.withResolvers<Failure | undefined>()
    giveWay(child)
    let said = ''
    // Without free descriptors there is none; the error follows.
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(0, gitLimits.repackMessageMax)
    })
    let isLate = false
    const callOff = this.#parts.after(gitLimits.repackMs, () => {
      isLate = true
      this.#end(child)
    })
    child.once('error', (error) => {
      // The event also comes when a signal cannot be delivered: then the process still runs.
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

  /** @throws the system's error, for want of memory or rights, and Node's, of arguments */
  #spawnGit(): ChildProcess {
    const { gitdir, searchPath } = this.#parts
    return spawn('git', ['--git-dir', gitdir, ...modestly, ...repack], {
      // A group of its own, so that what git starts ends with it.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      // Nobody's settings but the repository's.
      env: {
        PATH: searchPath,
        LC_ALL: 'C',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
      },
    })
  }

  /** Git takes away what it has begun, where it can. */
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
    // Where Linux shares the processor among groups of processes, it is the group's that counts.
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
    // Nobody of the group is left.
  }
}

async function countLoose(gitdir: string): Promise<number> {
  const counts = sampled.map(async (folder) => {
    // A folder that is not there has no objects.
    const names = await readdir(join(gitdir, 'objects', folder)).catch(() => [])
    return names.length
  })
  const seen = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  return Math.round((seen * folderCount) / sampled.length)
}

/** What a git that was killed has left of a pack; git itself takes some of it away, after weeks. */
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
      // Its owner took it away first, or it may not be removed: it is room on the disk, no more.
    }
  }
}
