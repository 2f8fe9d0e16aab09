// The questions of one check: bounded in number and time, and only to addresses that may be asked.
import { parseName } from '#dns/name.ts'
import type { Clock } from '#lib/clock.ts'
import { err } from '#lib/result.ts'
import { isLocal, whyUnusable } from '#runtime/resolve/usable-addresses.ts'
import { askServer } from './exchange.ts'
import type { Asked, Transport } from './exchange.ts'
import { delegationLimits } from './limits.ts'

export interface QuestionParts {
  /** Of all servers: 53. */
  readonly port: number
  /** Whether loopback and link-local addresses may be asked. */
  readonly allowLocal: boolean
  /** For one question to one server. */
  readonly askMs: number
  readonly clock: Clock
}

export class Questions {
  readonly #parts: QuestionParts
  readonly #endMs: number
  #left: number = delegationLimits.questionsMax

  constructor(parts: QuestionParts) {
    this.#parts = parts
    this.#endMs = parts.clock.monotonicMs() + delegationLimits.checkMs
  }

  /** @param name presentation form */
  async ask(address: string, name: string, type: number, transport?: Transport): Asked {
    const { allowLocal, port, askMs, clock } = this.#parts
    const odd = whyUnusable(address)
    if (odd !== undefined && !(allowLocal && isLocal(odd))) {
      const why = `has ${odd}, ${address}, which is not asked`
      return err({ code: 'address-refused', why })
    }
    const wire = parseName(name)
    if (!wire.ok) return err({ code: 'bad-answer', why: 'has a name that is none' })
    const leftMs = this.#endMs - clock.monotonicMs()
    if (leftMs <= 0)
      return err({ code: 'no-answer', why: 'was not asked: the check took too long' })
    if (this.#left === 0)
      return err({ code: 'no-answer', why: 'was not asked: too many questions' })
    this.#left--
    return askServer(
      { address, port },
      { name: wire.value, type },
      Math.min(leftMs, askMs),
      transport,
    )
  }
}
