// A world for the prober: a clock moved by its timers, backends that are functions of time.
import type { Clock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import type {
  Measure,
  MonitoredTarget,
  ResultsMessage,
  VerdictChange,
} from '#health/thread/messages.ts'
import { lastProbesFor } from '#health/thread/messages.ts'
import type { Outcome, Probe, ProbeTarget } from '#health/probes/probe.ts'
import type { ProbeTable } from '#health/probes/probes.ts'
import { probeTypeNames } from '#probes/probe-types.ts'
import { Prober } from '#health/thread/prober.ts'

interface Answer {
  readonly outcome: Outcome
  readonly afterMs: number
}

interface StartedProbe {
  readonly memberUid: string
  readonly atMs: number
}

interface Timer {
  readonly atMs: number
  readonly fn: () => void
}

export class Simulation {
  /** Monotonic time. */
  nowMs = 1_000_000
  /** Wall time less monotonic time; set it to let the wall clock jump. */
  wallOffsetMs = 1_700_000_000_000
  answer: (target: ProbeTarget, atMs: number) => Answer = () => ({ outcome: 'success', afterMs: 5 })
  readonly started: StartedProbe[] = []
  readonly messages: ResultsMessage[] = []
  onMessage: (message: ResultsMessage) => void = () => undefined
  readonly clock: Clock = {
    monotonicMs: () => this.nowMs,
    nowMs: () => this.nowMs + this.wallOffsetMs,
  }
  prober: Prober
  rttThresholdMs = 5
  running = 0
  runningMax = 0
  readonly #timers = new Set<Timer>()
  #generation = 0
  readonly #seed: number
  readonly #inFlightMax: number | undefined

  constructor(seed: number, inFlightMax?: number) {
    this.#seed = seed
    this.#inFlightMax = inFlightMax
    this.prober = this.#newProber()
  }

  /** The prober is gone with all it knew; a new one takes its place. */
  restart(): void {
    this.prober.stop()
    this.prober = this.#newProber()
  }

  #newProber(): Prober {
    const probes = probeTypeNames.map((type) => [type, { run: this.#run }])
    return new Prober({
      probes: Object.fromEntries(probes) as ProbeTable,
      clock: this.clock,
      random: new Random(this.#seed),
      after: this.after,
      publish: (message) => {
        this.messages.push(message)
        this.onMessage(message)
      },
      ...(this.#inFlightMax === undefined ? {} : { inFlightMax: this.#inFlightMax }),
    })
  }

  get changes(): VerdictChange[] {
    return this.messages.flatMap((message) => message.changes)
  }

  get measures(): Measure[] {
    return this.messages.flatMap((message) => message.measures)
  }

  setTargets(
    targets: readonly MonitoredTarget[],
    unhealthyKeys: readonly string[] = [],
    warmingKeys: readonly string[] = [],
  ): void {
    this.prober.setTargets({
      generation: ++this.#generation,
      targets,
      unhealthyKeys,
      warmingKeys,
      rttThresholdMs: this.rttThresholdMs,
      lastProbes: lastProbesFor(targets.length),
    })
  }

  /** Runs all timers of the next `durationMs`, in order. */
  walk(durationMs: number): void {
    const untilMs = this.nowMs + durationMs
    for (;;) {
      let next: Timer | undefined
      for (const timer of this.#timers)
        if (next === undefined || timer.atMs < next.atMs) next = timer
      if (next === undefined || next.atMs > untilMs) break
      this.#timers.delete(next)
      this.nowMs = Math.max(this.nowMs, next.atMs)
      next.fn()
    }
    this.nowMs = untilMs
  }

  readonly #run: Probe['run'] = (target, report) => {
    this.started.push({ memberUid: target.memberUid, atMs: this.nowMs })
    this.runningMax = Math.max(this.runningMax, ++this.running)
    const { outcome, afterMs } = this.answer(target, this.nowMs)
    const reason = outcome === 'success' ? '' : `simulated ${outcome}`
    const callOff = this.after(afterMs, () => {
      this.running--
      report({ outcome, rttMs: afterMs, reason })
    })
    return () => {
      this.running--
      callOff()
    }
  }

  /** Calls `fn` once when the walk has come so far. */
  readonly after = (delayMs: number, fn: () => void): (() => void) => {
    const timer: Timer = { atMs: this.nowMs + delayMs, fn }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }
}
