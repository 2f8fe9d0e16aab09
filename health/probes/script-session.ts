// Ends all that a script check has started, in whatever process group or session it is by now.
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '#lib/clock.ts'
import { healthLimits } from '#health/limits.ts'

/** Environment variable that tells a script, and what it starts, from all other processes. */
export const runVariable = 'SVC_HC_RUN'

/** A script that was started as the leader of a session. */
export interface ScriptRun {
  readonly pid: number
  /** Value of `runVariable`: 32 hexadecimal digits. */
  readonly token: string
  /** As `ProcessStat.startTicks`; undefined: this system has no /proc as Linux has it. */
  readonly startTicks: number | undefined
}

export function runOf(pid: number, token: string): ScriptRun {
  return { pid, token, startTicks: statOf(pid)?.startTicks }
}

/**
 * The group is ended at once, and so are the descendants of a script that still runs. What was
 * orphaned before is looked for among all processes: by its session, by its token, and as a child
 * of those. That takes several turns and is done for many scripts at once. A program that leaves
 * the session, drops the environment and loses its parent gets away.
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
    // A thread that is to stop waits for it.
    setTimeout(() => void this.#sweep(), Math.max(0, healthLimits.scriptSweepEveryMs - sinceMs))
  }

  async #sweep(): Promise<void> {
    this.#sweptMs = systemClock.monotonicMs()
    const runs = this.#ended
    this.#ended = new Map()
    const untilMs = this.#sweptMs + healthLimits.scriptSweepMs
    // What is found may start others until it is ended.
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
    // It is gone, or it is another user's.
  }
}

/** Fields of /proc/PID/stat, see proc(5). */
interface ProcessStat {
  readonly pid: number
  readonly isZombie: boolean
  readonly parent: number
  readonly session: number
  /** Since the boot of the machine. */
  readonly startTicks: number
}

/** undefined: there is no such process, or no /proc. */
function statOf(pid: number): ProcessStat | undefined {
  const text = textOf(`/proc/${pid}/stat`)
  // The name before it may have any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 20) return undefined
  const [state, parent, , session] = fields
  return {
    ...{ pid, isZombie: state === 'Z', parent: Number(parent), session: Number(session) },
    startTicks: Number(fields[19]),
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function numbersIn(path: string): number[] {
  try {
    return readdirSync(path).map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** By the lists that the kernel keeps, where it does. */
function descendantsOf(pid: number): readonly number[] {
  const found = [pid]
  for (const parent of found) {
    for (const thread of numbersIn(`/proc/${parent}/task`)) {
      const children = textOf(`/proc/${parent}/task/${thread}/children`).split(' ')
      found.push(...children.filter((one) => one !== '').map(Number))
    }
    if (found.length >= healthLimits.scriptDescendantsMax) break
  }
  return found.slice(1)
}

/** Finds processes no older than the scripts; no zombies, which have ended already. */
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
  // A set that grows while it is walked through.
  for (const pid of own) for (const child of children.get(pid) ?? []) own.add(child.pid)
  return [...own].flatMap((pid) => all.get(pid) ?? []).filter(({ isZombie }) => !isZombie)
}

/** Numbers are given upwards: those of later processes first, until they begin anew. */
function pidsAfter(first: number): readonly number[] {
  const all = numbersIn('/proc').sort((a, b) => a - b)
  const later = all.findIndex((pid) => pid >= first)
  return later < 0 ? all : [...all.slice(later), ...all.slice(0, later)]
}

const environ = Buffer.alloc(healthLimits.scriptEnvironBytesMax)
const assignment = Buffer.from(`${runVariable}=`)

/** '': it has none, or is another user's. */
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
