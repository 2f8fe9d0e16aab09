// Counts how often a commit crashed the thread or process that read it. After enough crashes the
// commit is held and not read again. The counts are stored, since a restart changes nothing about
// the commit.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeDurably } from '#lib/durable-file.ts'
import { short } from '#gitops/trust/accept.ts'
import type { Hold } from '#gitops/trust/accept.ts'
import { gitLimits } from '#gitops/limits.ts'

export interface TrialParts {
  /** `gitops/trials.json` in the data directory. */
  readonly path: string
  /** With more memory, or another version of the program, a commit is worth another try. */
  readonly heapMb: number
  readonly version: string
  /** True when the thread before this one died, but the process did not. */
  readonly isRestart: boolean
}

interface Trial {
  readonly commit: string
  /** True: read before without a crash, so the death of a process proves nothing. */
  readonly isAccepted: boolean
  /** True while the commit is being read. */
  readonly isUnderWay: boolean
  readonly threadDeaths: number
  /** Deaths that may have had another cause than the commit: more of them are needed. */
  readonly processDeaths: number
  readonly heapMb: number
  readonly version: string
}

export class CommitTrials {
  readonly #parts: TrialParts
  /** Trials of the accepted commit and of the head, at most. */
  #trials: readonly Trial[]

  constructor(parts: TrialParts) {
    this.#parts = parts
    const { heapMb, version, isRestart } = parts
    const read = load(parts.path)
    this.#trials = read
      .filter((trial) => trial.version === version && trial.heapMb >= heapMb)
      .map((trial) => (trial.isUnderWay ? afterDeath(trial, isRestart) : trial))
    if (read.length > 0) this.#save(writeDurably)
  }

  /** Why the commit must not be read; undefined: it may be read. */
  holdOf(commit: string): Hold | undefined {
    const trial = this.#trials.find((one) => one.commit === commit)
    if (trial === undefined || !isHeld(trial)) return undefined
    const { threadDeaths, processDeaths, heapMb } = trial
    const who =
      threadDeaths >= gitLimits.threadDeathsMax
        ? `the thread that compiles ended ${threadDeaths} times`
        : `gslbd ended ${threadDeaths + processDeaths} times`
    return {
      code: 'CommitFatal',
      reason:
        `While commit ${short(commit)} was read, ${who}, so it is not tried again. Most likely ` +
        `it needs more than the ${heapMb} MB of memory that compiling may use here. Push a new ` +
        `commit without its large files ("git show --stat ${short(commit)}" lists them), or ` +
        'give the node more memory and restart it; the commit accepted before goes on serving.',
    }
  }

  /** To be called before the commit is read; `end` is called when there is a verdict. */
  begin(commit: string, accepted: string | null): void {
    const before = this.#trials.find((one) => one.commit === commit)
    const { heapMb, version } = this.#parts
    const counts = { threadDeaths: 0, processDeaths: 0, ...before }
    const trial = { ...counts, commit, isAccepted: commit === accepted, heapMb, version }
    // A start reads the accepted commit first, which says nothing about the head.
    const others = this.#trials.filter((one) => one.commit !== commit)
    const kept = others.filter((one) => commit === accepted || one.commit === accepted)
    this.#trials = [...kept, { ...trial, isUnderWay: true }]
    // Not flushed: the file has to survive the death of the process, not of the machine.
    this.#save(writeQuickly)
  }

  end(commit: string): void {
    this.#trials = this.#trials.filter((one) => one.commit !== commit)
    this.#save(writeQuickly)
  }

  #save(write: (path: string, text: string) => void): void {
    const { path } = this.#parts
    try {
      if (this.#trials.length === 0) rmSync(path, { force: true })
      else write(path, `${JSON.stringify(this.#trials, null, 2)}\n`)
    } catch {
      // A disk that refuses is reported elsewhere; reading a commit needs no disk.
    }
  }
}

/**
 * Ends a trial that is under way, because the node stops the thread itself: its end says nothing
 * about the commit.
 */
export function excuseTrials(path: string): void {
  const trials = load(path)
  if (trials.length === 0) return
  try {
    const calm = trials.map((trial) => ({ ...trial, isUnderWay: false }))
    writeQuickly(path, `${JSON.stringify(calm, null, 2)}\n`)
  } catch {
    // A disk that refuses is reported elsewhere.
  }
}

function afterDeath(trial: Trial, isThread: boolean): Trial {
  const over = { ...trial, isUnderWay: false }
  if (isThread) return { ...over, threadDeaths: trial.threadDeaths + 1 }
  return trial.isAccepted ? over : { ...over, processDeaths: trial.processDeaths + 1 }
}

function isHeld({ threadDeaths, processDeaths }: Trial): boolean {
  if (threadDeaths >= gitLimits.threadDeathsMax) return true
  return threadDeaths + processDeaths >= gitLimits.processDeathsMax
}

function writeQuickly(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

/** Loads the trials. A file that is absent or unreadable means none: each commit is tried. */
function load(path: string): readonly Trial[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return Array.isArray(value) ? value.filter(isTrial) : []
  } catch {
    return []
  }
}

function isTrial(value: unknown): value is Trial {
  if (typeof value !== 'object' || value === null) return false
  const { commit, isAccepted, isUnderWay, threadDeaths, processDeaths, heapMb, version } =
    value as Trial
  const numbers: unknown[] = [threadDeaths, processDeaths, heapMb]
  return (
    typeof commit === 'string' &&
    typeof isAccepted === 'boolean' &&
    typeof isUnderWay === 'boolean' &&
    typeof version === 'string' &&
    numbers.every((one) => Number.isSafeInteger(one))
  )
}
