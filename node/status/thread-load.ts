// Measures how busy each DNS thread is: its CPU time over wall time.
import { readFileSync } from 'node:fs'
import type { Clock } from '#lib/clock.ts'

interface Sample {
  readonly atMs: number
  readonly cpuMs: number
}

export class ThreadLoad {
  readonly #clock: Clock
  readonly #samples = new Map<number, Sample>()
  readonly #busy = new Map<number, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param threadIds ids of the system; 0 is skipped */
  sample(threadIds: readonly number[]): void {
    for (const id of threadIds) {
      const cpuMs = id === 0 ? undefined : cpuMsOf(id)
      if (cpuMs === undefined) continue
      const atMs = this.#clock.monotonicMs()
      const before = this.#samples.get(id)
      this.#samples.set(id, { atMs, cpuMs })
      if (before === undefined || atMs <= before.atMs) continue
      this.#busy.set(id, Math.min(1, (cpuMs - before.cpuMs) / (atMs - before.atMs)))
    }
  }

  /** From 0 to 1; 0 before there are two samples. */
  busyRatio(threadId: number): number {
    return this.#busy.get(threadId) ?? 0
  }
}

function cpuMsOf(threadId: number): number | undefined {
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(
      ' ',
    )
    return Number(nanoseconds) / 1e6
  } catch {
    return undefined
  }
}
