// Schedules reconciliations: on request, when a watched file changes, and periodically; one at a
// time.
import { backoffMs } from '#lib/backoff.ts'
import { Rounds } from '#lib/rounds.ts'

interface RunnerParts {
  /**
   * Performs one look. Must not throw.
   *
   * @returns whether the source could be asked
   */
  readonly look: () => Promise<'reached' | 'failed'>
  /** Pause after a look that succeeded; Infinity when only pokes count. */
  readonly pollMs: number
  /** Longest pause after a look that failed. */
  readonly retryMaxMs: number
  /** 0 up to, not including, 1. */
  readonly random: () => number
  /**
   * Called after each look with the pause before the next one; 0: the next look waits for a poke.
   */
  readonly onScheduled: (delayMs: number) => void
}

const firstRetryMs = 1_000

/**
 * The pause before the next look: ±20 %, so that the nodes of a fleet do not ask together; doubled
 * for each failure, since more requests do not help a forge that is down or counts them.
 */
export function pauseMs(
  pollMs: number,
  failures: number,
  random: number,
  retryMaxMs: number,
): number {
  const retries = { firstMs: Math.min(pollMs, firstRetryMs), mostMs: retryMaxMs }
  const base = failures === 0 ? pollMs : backoffMs(retries, failures)
  return base * (0.8 + 0.4 * random)
}

export class Runner {
  readonly #parts: RunnerParts
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  readonly #rounds = new Rounds(() => this.#look())

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  /** Looks now; or again after the look under way, which may have begun too early. */
  poke(): void {
    this.#rounds.ask()
  }

  /** Resolves when the look under way has ended. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#rounds.stop()
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer)
    const outcome = await this.#parts.look()
    this.#failures = outcome === 'failed' ? this.#failures + 1 : 0
    if (!this.#rounds.isStopped) this.#schedule()
  }

  #schedule(): void {
    const { pollMs, random, retryMaxMs } = this.#parts
    const delayMs = pauseMs(pollMs, this.#failures, random(), retryMaxMs)
    const isOnClock = Number.isFinite(delayMs)
    this.#parts.onScheduled(isOnClock ? delayMs : 0)
    if (isOnClock) this.#timer = setTimeout(() => this.poke(), delayMs)
  }
}
