// Ends all processes that a script check has started, in whatever process group or session they
// are.
import { fileText } from '#lib/text/file-text.ts'
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '#lib/clock.ts'
import { healthLimits } from '#health/limits.ts'

/** Environment variable that marks a script and its children. */
export const runVariable = 'SVC_HC_RUN'

/** A script that was started as the leader of a session. */
interface ScriptRun {
  readonly pid: number
  /** Value of `runVariable`: 32 hexadecimal digits. */
  readonly token: string
  /** As `ProcessStat.startTicks`; undefined: the system has no /proc of Linux. */
  readonly startTicks: number | undefined
}

export function runOf(pid: number, token: string): ScriptRun {
  return { pid, token, startTicks: statOf(pid)?.startTicks }
}

/**
 * Ends a script's process group at once, and the descendants of a script that still runs. Orphans
 * are looked for among all processes: by session, by token, and as children of those; this takes
 * several turns, and is done for many scripts at once. A program that leaves the session, drops the
 * environment and loses its parent escapes.
 */
export class ScriptSessions {
  #ended = new Map<string, ScriptRun>()
  #isSweeping = false
  #sweptMs = -Infinity

  end(run: ScriptRun): void {
    const isKnown = run.startTicks !== undefined
    if (isKnown && statOf(run.pid)?.startTicks === run.startTicks) {
      for (const pid of descendantsOf(run.pid)) kill(pid)
    }
    kill(-run.pid)
    if (!isKnown) return
    this.#ended.set(run.token, run)
    if (!this.#isSweeping) this.#schedule()
  }

  #schedule(): void {
    this.#isSweeping = true
    const sinceMs = systemClock.monotonicMs() - this.#sweptMs
    // Keeps a thread that is to stop until the sweep is done.
    setTimeout(() => void this.#sweep(), Math.max(0, healthLimits.scriptSweepEveryMs - sinceMs))
  }

  async #sweep(): Promise<void> {
    this.#sweptMs = systemClock.monotonicMs()
    const runs = this.#ended
    this.#ended = new Map()
    const untilMs = this.#sweptMs + healthLimits.scriptSweepMs
    // Processes may start others until they are ended, so there are several rounds.
    for (let round = 0; round < healthLimits.scriptSweepRoundsMax; round++) {
      const found = await survivorsOf(runs, untilMs)
      for (const { pid, startTicks } of found) {
        if (statOf(pid)?.startTicks === startTicks) kill(pid)
      }
      if (found.length === 0) break
    }
    this.#isSweeping = false
    if (this.#ended.size > 0) this.#schedule()
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process is gone, or belongs to another user.
  }
}

/** Fields of /proc/PID/stat, see proc(5). */
interface ProcessStat {
  readonly pid: number
  readonly isZombie: boolean
  readonly parent: number
  readonly session: number
  /** Start time since the boot of the machine. */
  readonly startTicks: number
}

/** @returns undefined: there is no such process, or no /proc */
function statOf(pid: number): ProcessStat | undefined {
  const text = fileText(`/proc/${pid}/stat`, 'latin1') ?? ''
  // The name before it may hold any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 20) return undefined
  const [state, parent, , session] = fields
  return {
    ...{ pid, isZombie: state === 'Z', parent: Number(parent), session: Number(session) },
    startTicks: Number(fields[19]),
  }
}

function numbersIn(path: string): number[] {
  try {
    return readdirSync(path).map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** By the kernel's lists of children, where it keeps them. */
function descendantsOf(pid: number): readonly number[] {
  const found = [pid]
  for (const parent of found) {
    for (const thread of numbersIn(`/proc/${parent}/task`)) {
      const children = (fileText(`/proc/${parent}/task/${thread}/children`) ?? '').split(' ')
      found.push(...children.filter((one) => one !== '').map(Number))
    }
    if (found.length >= healthLimits.scriptDescendantsMax) break
  }
  return found.slice(1)
}

/** Finds processes that are no older than the scripts, except zombies, which have ended. */
async function survivorsOf(
  runs: ReadonlyMap<string, ScriptRun>,
  untilMs: number,
): Promise<readonly ProcessStat[]> {
  const all = new Map<number, ProcessStat>()
  const own = new Set<number>()
  const sinceTicks = Math.min(...[...runs.values()].map(({ startTicks = 0 }) => startTicks))
  let count = 0
  for (const pid of pidsAfter(runs.values().next().value?.pid ?? 0)) {
    if (++count % healthLimits.scriptSweepPerTurn === 0) {
      await nextTurn()
      if (systemClock.monotonicMs() > untilMs) break
    }
    const stat = statOf(pid)
    if (stat === undefined || stat.startTicks < sinceTicks) continue
    all.set(pid, stat)
    if (runs.has(tokenOf(pid))) own.add(pid)
  }
  const sessions = new Set<number>()
  for (const { pid, startTicks } of runs.values()) {
    // Another process may have the number by now.
    if ((all.get(pid)?.startTicks ?? startTicks) === startTicks) sessions.add(pid)
  }
  const children = Map.groupBy(all.values(), ({ parent }) => parent)
  for (const { pid, session } of all.values()) if (sessions.has(session)) own.add(pid)
  // The set grows during the loop.
  for (const pid of own) for (const child of children.get(pid) ?? []) own.add(child.pid)
  return [...own].flatMap((pid) => all.get(pid) ?? []).filter(({ isZombie }) => !isZombie)
}

/** Numbers are assigned upwards: numbers of later processes come first, up to the wrap. */
function pidsAfter(first: number): readonly number[] {
  const all = numbersIn('/proc').sort((a, b) => a - b)
  const later = all.findIndex((pid) => pid >= first)
  return later < 0 ? all : [...all.slice(later), ...all.slice(0, later)]
}

const environ = Buffer.alloc(healthLimits.scriptEnvironBytesMax)
const assignment = Buffer.from(`${runVariable}=`)

/** @returns '': the process has no token, or belongs to another user */
function tokenOf(pid: number): string {
  let file: number
  try {
    file = openSync(`/proc/${pid}/environ`, 'r')
  } catch {
    return ''
  }
  try {
    const length = readSync(file, environ, 0, environ.length, 0)
    const place = environ.subarray(0, length).indexOf(assignment)
    if (place < 0) return ''
    const start = place + assignment.length
    return environ.toString('latin1', start, Math.min(start + 32, length))
  } catch {
    return ''
  } finally {
    closeSync(file)
  }
}
