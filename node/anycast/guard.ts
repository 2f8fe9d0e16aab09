// Starts a second process beside the node, which withdraws the node's routes when the node is
// killed.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { assert } from '#lib/assert.ts'
import type { Io } from '#system/process/command.ts'
import { systemClock } from '#lib/clock.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { noLongerThan, systemAfter } from '#lib/timer.ts'
import type { After } from '#lib/timer.ts'
import { RestartPause } from '#system/worker/restart-pause.ts'
import type { DriverSection } from './drivers.ts'
import { release } from './watch.ts'

/** A guard that ends is started again, after growing pauses. */
const restarts = { firstMs: 1_000, mostMs: 60_000, stableMs: 600_000 } as const
const endPatienceMs = 2_000
/** The guard only waits: V8 needs no helper threads for it, and little memory. */
const smallNode = ['--v8-pool-size=0', '--max-semi-space-size=1', '--max-old-space-size=64']

/** Surroundings that tests replace. */
interface GuardSurroundings {
  readonly clock: Clock
  readonly after: After
  readonly startProcess: (env: Io['env']) => ChildProcess
}

const system: GuardSurroundings = { clock: systemClock, after: systemAfter, startProcess }

export class Guard {
  readonly #section: DriverSection
  readonly #env: Io['env']
  readonly #log: Log
  #child: ChildProcess | undefined
  readonly #around: GuardSurroundings
  readonly #pause: RestartPause
  #isOver = false
  #callOff: () => void = () => undefined

  constructor(
    { driver, addresses, bird, exabgp }: DriverSection,
    env: Io['env'],
    log: Log,
    around: GuardSurroundings = system,
  ) {
    this.#around = around
    this.#pause = new RestartPause(restarts, around.clock)
    this.#section = { driver, addresses, bird, exabgp }
    this.#env = env
    this.#log = log
    this.#start()
  }

  get isWatching(): boolean {
    return this.#child !== undefined
  }

  /** Ends the guard without a withdrawal: the routes are gone, or another process's. */
  async end(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#callOff()
    const child = this.#child
    if (child === undefined) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.stdin?.end(release)
    await noLongerThan(endPatienceMs, ended)
  }

  #start(): void {
    assert(this.#child === undefined, 'a node has one guard')
    assert(!this.#isOver, 'a guard that has ended is not started again')
    const child = this.#around.startProcess(this.#env)
    let isOver = false
    const lost = (why: object): void => {
      if (isOver) return
      isOver = true
      this.#child = undefined
      if (!this.#isOver) this.#startLater(why)
    }
    this.#child = child
    child.once('error', (error) => lost({ err: error }))
    child.once('exit', (code, signal) => lost({ code, signal }))
    // stdin is missing where this process has no more file descriptors; `error` follows then.
    child.stdin?.on('error', () => undefined)
    child.stdin?.write(`${JSON.stringify(this.#section)}\n`)
    // The node does not wait for its guard to end.
    child.unref()
  }

  #startLater(why: object): void {
    const pauseMs = this.#pause.nextMs()
    const line = 'the guard of the announced addresses has ended: started again'
    this.#log.warn({ ...why, pauseMs }, line)
    this.#callOff = this.#around.after(pauseMs, () => this.#start())
  }
}

function startProcess(env: Io['env']): ChildProcess {
  const args = [...smallNode, process.argv[1] ?? '', 'anycast', 'guard']
  // A process group of its own: a Ctrl-C at the terminal is for the node alone.
  return spawn(process.execPath, args, {
    ...{ detached: true, env, stdio: ['pipe', 'ignore', 'inherit'] },
  })
}
