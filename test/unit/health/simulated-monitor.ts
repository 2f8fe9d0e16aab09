// A whole monitor under a clock moved by hand: its worker is a prober in a simulation.
import { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { vi } from 'vitest'
import type { Log } from '#lib/log.ts'
import type { ToWorker } from '#health/thread/messages.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import type { OwnMonitor } from '#health/view/monitor.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import type { HealthVerdicts } from '#state/ports/health-verdicts.ts'
import { Simulation } from './simulation.ts'

/** Messages of the monitor to a thread, copied as between threads, and delivered at once. */
class SimulatedWorker extends EventEmitter {
  readonly #world: Simulation

  constructor(world: Simulation) {
    super()
    this.#world = world
    world.onMessage = (message) => this.emit('message', structuredClone(message))
  }

  postMessage(message: ToWorker): void {
    const copy = structuredClone(message)
    if (copy.kind === 'targets') this.#world.prober.setTargets(copy)
    else {
      this.#world.prober.stop()
      this.emit('exit', 0)
    }
  }
}

export interface SimulatedMonitor {
  readonly world: Simulation
  /** Ends the worker as a fault would; resolves when another one probes. */
  readonly crash: () => Promise<void>
  readonly monitor: OwnMonitor
  readonly verdicts: HealthVerdicts
  readonly lines: string[]
}

/**
 * Started: what the store holds has been read.
 *
 * @param isStarted false: the caller starts it
 */
export async function simulatedMonitor(
  seed = 1,
  verdicts: HealthVerdicts = createMemoryHealthVerdicts(),
  isStarted = true,
): Promise<SimulatedMonitor> {
  const world = new Simulation(seed)
  const lines: string[] = []
  const note = (_fields: object, message: string): void => void lines.push(message)
  const log: Log = { info: note, warn: note, error: note }
  const workers: SimulatedWorker[] = []
  const spawn = (): Worker => {
    const worker = new SimulatedWorker(world)
    workers.push(worker)
    return worker as unknown as Worker
  }
  const monitor = createHealthMonitor({ verdicts, log, clock: world.clock, spawn })
  const crash = async (): Promise<void> => {
    const count = workers.length
    world.restart()
    workers.at(-1)!.emit('exit', 1)
    await vi.waitUntil(() => workers.length > count, { timeout: 45_000, interval: 5 })
  }
  if (isStarted) monitor.start()
  await new Promise((resolve) => setImmediate(resolve))
  return { world, crash, monitor, verdicts, lines }
}
