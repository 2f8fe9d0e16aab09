// Makes an answering thread adopt published generations, and rehearses adoption between queries.
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import type { ScriptClient } from '#answer/script/client.ts'
import { SigningMemory } from '#answer/signing/signing-memory.ts'
import { createServingView } from '#answer/serving-view.ts'
import type { Generation, ServingView } from '#answer/serving-view.ts'
import { ChoiceMemory } from '#routing/choose/choice-memory.ts'
import { TableCollector } from '#system/worker/table-collector.ts'
import { JitWarmUp } from './jit-warm-up.ts'
import { acknowledge } from './responder-control.ts'

interface AdoptingThread {
  readonly index: number
  /** See responder-control.ts. */
  readonly control: Int32Array
  readonly scripts: ScriptClient
  /** Passes the view to all parts that answer from it. */
  readonly adopt: (view: ServingView) => void
}

export class Adoption {
  readonly #thread: AdoptingThread
  readonly #collector = new TableCollector()
  readonly #choices = new ChoiceMemory()
  readonly #signing = new SigningMemory()
  #newest: Generation | undefined
  /** undefined: before the first adoption, or when the rehearsals are over. */
  #warmUp: JitWarmUp | undefined

  constructor(thread: AdoptingThread) {
    this.#thread = thread
  }

  /**
   * Adopts a generation and acknowledges it.
   *
   * @param startedMs since when queries wait
   * @returns true at the first time: rehearsals should follow
   */
  takeOver(generation: Generation, startedMs = systemClock.monotonicMs()): boolean {
    const before = this.#newest
    assert(generation.number > (before?.number ?? 0), 'no thread is sent back to a generation')
    this.#newest = generation
    if (before === undefined) {
      this.#warmUp = new JitWarmUp(
        () => this.#adopt(this.#newest ?? generation),
        () => {
          this.#warmUp = undefined
          this.#collector.started()
        },
      )
    }
    this.#adopt(generation)
    const { control, index } = this.#thread
    acknowledge(control, index, generation.number, systemClock.monotonicMs() - startedMs)
    return before === undefined
  }

  /** @returns false when no rehearsal is left */
  rehearse(count: number): boolean {
    this.#warmUp?.step(count)
    return this.#warmUp !== undefined
  }

  #adopt(generation: Generation): void {
    const { index, scripts, adopt } = this.#thread
    scripts.adopt(generation.number, generation.scripts ?? null)
    const memories = { choices: this.#choices, signing: this.#signing }
    const owner = { thread: index, scripts, ...memories }
    adopt(createServingView(generation, owner))
    this.#collector.takenOver(generation.tablesNumber ?? 0)
  }
}
