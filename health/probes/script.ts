// Implements the script probe: runs a program, which is healthy when it exits with 0.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { ChildProcess } from 'node:child_process'
import type { Log } from '#lib/log.ts'
import { systemClock } from '#lib/clock.ts'
import { Attempt } from './attempt.ts'
import { healthLimits } from '#health/limits.ts'
import type { Probe, ProbeTarget } from './probe.ts'
import { programOf } from './script-program.ts'
import type { Program } from './script-program.ts'
import { runOf, runVariable, ScriptSessions } from './script-session.ts'

type Environment = Readonly<Record<string, string | undefined>>

export function createScript(environment: Environment): Probe {
  const places = new Places(healthLimits.scriptsInFlightMax)
  const sessions = new ScriptSessions()
  return {
    run(target, report) {
      const attempt = new Attempt(target.check.timeoutMs, report)
      places.take(attempt, (leave) => {
        start(target, attempt, { environment, sessions, leave })
      })
      return attempt.cancel
    },
  }
}

/**
 * A guard: pools of such checks reach no prober (bundle/load/probed-pools.ts), and their members
 * count as healthy.
 */
export function createForbiddenScript(log: Log): Probe {
  let isLogged = false
  return {
    run({ pool }, report) {
      if (!isLogged) {
        log.warn(
          { pool },
          'a health check of type script is not run, and its members count as healthy: ' +
            'health.allowScriptChecks is false',
        )
      }
      isLogged = true
      const timer = setImmediate(() => {
        report({ outcome: 'success', rttMs: 0, reason: '' })
      })
      return () => {
        clearImmediate(timer)
      }
    },
  }
}

/** Limits the number of processes at the same time: further attempts wait. */
class Places {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** @param enter called once, with the function that frees the place */
  take(attempt: Attempt, enter: (leave: () => void) => void): void {
    const leave = (): void => {
      this.#free++
      // Attempts that have given up stay in the line, and take no place.
      while (this.#free > 0 && this.#waiting.length > 0) this.#waiting.shift()!()
    }
    if (this.#free > 0) {
      this.#free--
      enter(leave)
      return
    }
    const startedMs = systemClock.monotonicMs()
    attempt.excuse = 'this node runs too many scripts at once'
    this.#waiting.push(() => {
      if (attempt.isOver) return
      this.#free--
      // After a short wait the attempt has had its time: a timeout is the member's fault.
      if (systemClock.monotonicMs() - startedMs <= healthLimits.stallMs) attempt.excuse = ''
      enter(leave)
    })
  }
}

interface Surroundings {
  readonly environment: Environment
  readonly sessions: ScriptSessions
  readonly leave: () => void
}

function start(
  { ipAddress, check }: ProbeTarget,
  attempt: Attempt,
  { environment, sessions, leave }: Surroundings,
): void {
  let program: Program
  try {
    program = programOf(check)
  } catch {
    leave()
    // Deferred, since a report must not come before `run` has returned.
    setImmediate(() => {
      attempt.failLocally('this node cannot write the script to a temporary file')
    })
    return
  }
  const { file, args, remove } = program
  const end = (): void => {
    remove()
    leave()
  }
  let child: ChildProcess
  const token = randomBytes(16).toString('hex')
  try {
    child = spawn(file, args, {
      // A session of its own, so that its children can be ended with it.
      detached: true,
      stdio: 'ignore',
      env: {
        ...environment,
        ...{ SVC_HC_IP: ipAddress, SVC_HC_PORT: String(check.port), [runVariable]: token },
      },
    })
  } catch (error) {
    // Some errors are returned, others are emitted.
    end()
    setImmediate(fail, attempt, error as Error)
    return
  }
  child.once('exit', (code, signal) => {
    end()
    if (code === 0) attempt.succeed()
    else attempt.fail(signal === null ? `exit code ${code}` : `killed by ${signal}`)
  })
  child.once('error', (error) => {
    // The event also comes when a kill fails: the process still runs, and its exit follows.
    if (child.pid === undefined) end()
    fail(attempt, error)
  })
  if (child.pid === undefined) return
  const run = runOf(child.pid, token)
  attempt.onOver(() => {
    // Also after a success: background processes end with the script.
    sessions.end(run)
  })
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the script or its interpreter does not exist',
  EACCES: 'this node may not execute the script',
  ENOEXEC: 'the script is no program that this node can run',
}
const localCodes: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])

function fail(attempt: Attempt, error: NodeJS.ErrnoException): void {
  const { code = '' } = error
  if (localCodes.has(code)) attempt.failLocally(`this node cannot start a process (${code})`)
  else attempt.fail(reasons[code] ?? `the script cannot be started (${code})`)
}
