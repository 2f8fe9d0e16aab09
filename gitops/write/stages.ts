// Notes how long the stages of a write take, one after the other.
import type { WriteStage, WriteStageName } from '#config/operation.ts'
import type { Clock } from '#lib/clock.ts'

/** A write that is tried again and again would have any number. */
const stagesMax = 32

export class Stages {
  readonly #clock: Clock
  /** What turns the monotonic time into that of the day: a clock that is set splits no stage. */
  #offsetMs = 0
  #done: WriteStage[] = []
  #open: { readonly name: WriteStageName; readonly startMs: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Forgets all, and begins with the first stage.
   *
   * @param sinceMs when it began, by the monotonic clock
   */
  restart(name: WriteStageName, sinceMs: number): void {
    this.#offsetMs = this.#clock.nowMs() - this.#clock.monotonicMs()
    this.#done = []
    this.#open = { name, startMs: this.#offsetMs + sinceMs }
  }

  /** Ends the stage before. */
  begin(name: WriteStageName): void {
    this.end()
    if (this.#done.length < stagesMax) this.#open = { name, startMs: this.#nowMs() }
  }

  end(): readonly WriteStage[] {
    if (this.#open !== undefined) this.#done.push({ ...this.#open, endMs: this.#nowMs() })
    this.#open = undefined
    return this.#done
  }

  #nowMs(): number {
    return this.#offsetMs + this.#clock.monotonicMs()
  }
}
