// The queue of writes: those that arrive during a commit become the next one.
import type { Clock } from '#lib/clock.ts'
import { err } from '#lib/result.ts'
import { Rounds } from '#lib/rounds.ts'
import { failed } from '#config/fault.ts'
import type { WriteFailure } from '#config/operation.ts'
import { gitLimits } from '../limits.ts'
import { late, stopping } from './failures.ts'
import type { Asked, Pending } from './select.ts'

interface WriteQueueParts {
  readonly clock: Clock
  /** Runs the work when nothing else uses the repository. */
  readonly takeTurn: (work: () => Promise<void>) => Promise<void>
  /** Writes a batch and settles each request of it. Must not throw. */
  readonly write: (batch: readonly Pending[]) => Promise<void>
}

export class WriteQueue {
  readonly #parts: WriteQueueParts
  #waiting: Pending[] = []
  readonly #rounds = new Rounds(() => this.#writeAll())

  constructor(parts: WriteQueueParts) {
    this.#parts = parts
  }

  add(asked: Asked): void {
    if (this.#rounds.isStopped) return refuse(asked, stopping)
    if (this.#waiting.length >= gitLimits.writeQueueMax) {
      return refuse(asked, tooMany('writes'))
    }
    const isDryRun = asked.request.isDryRun === true
    if (isDryRun && this.#dryRuns() >= gitLimits.dryRunQueueMax) {
      return refuse(asked, tooMany('dry runs'))
    }
    const sinceMs = this.#parts.clock.monotonicMs() - (asked.request.waitedMs ?? 0)
    this.#waiting.push({ ...asked, sinceMs })
    this.#rounds.ask()
  }

  /** Waits for the batch under way, and refuses the rest. */
  async stop(): Promise<void> {
    const stopped = this.#rounds.stop()
    for (const pending of this.#waiting.splice(0)) refuse(pending, stopping)
    await stopped
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Requests that arrived in the same turn of the event loop share a commit.
      await new Promise<void>((resolve) => void setImmediate(resolve))
      await this.#parts.takeTurn(async () => {
        const batch = this.#takeTimely()
        if (batch.length > 0) await this.#parts.write(batch)
      })
    }
  }

  #dryRuns(): number {
    return this.#waiting.filter(({ request }) => request.isDryRun === true).length
  }

  /**
   * Takes the next batch. Writes share a commit; dry runs share nothing, so a turn does few of
   * them, and no write waits for the others.
   */
  #takeTurn(): Pending[] {
    const turn: Pending[] = []
    const left: Pending[] = []
    let dryRuns = 0
    for (const waiting of this.#waiting) {
      const isDryRun = waiting.request.isDryRun === true
      const isLater = isDryRun && dryRuns >= gitLimits.dryRunsPerTurn
      if (isLater || turn.length >= gitLimits.writeBatchMax) left.push(waiting)
      else turn.push(waiting)
      if (isDryRun) dryRuns++
    }
    this.#waiting = left
    return turn
  }

  /** Drops writes whose clients have given up, or will have before the write is done. */
  #takeTimely(): Pending[] {
    const nowMs = this.#parts.clock.monotonicMs()
    const batch: Pending[] = []
    for (const pending of this.#takeTurn()) {
      if (nowMs - pending.sinceMs <= gitLimits.writeMs) batch.push(pending)
      else refuse(pending, late)
    }
    return batch
  }
}

const tooMany = (what: string): WriteFailure =>
  failed('busy', `Too many ${what} are waiting. Try again in a moment.`)

function refuse({ settle }: Asked, failure: WriteFailure): void {
  settle(err(failure))
}
