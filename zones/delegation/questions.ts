// Sends the questions of one check: bounded in number and time, only to permitted addresses.
import { parseAddress } from '#dns/address.ts'
import { parseName } from '#dns/name.ts'
import { isInternalAddress } from '#dns/network.ts'
import type { Clock } from '#lib/clock.ts'
import { err } from '#lib/result.ts'
import { isLocal, whyUnusable } from '#inputs/resolve/usable-addresses.ts'
import { askServer } from './exchange.ts'
import type { Asked, Transport } from './exchange.ts'
import { delegationLimits } from './limits.ts'

interface QuestionParts {
  /** Port of all servers: 53. */
  readonly port: number
  /** Permits loopback and link-local addresses. */
  readonly allowLocal: boolean
  /** Permits private addresses and others that no public server has. */
  readonly allowPrivate: boolean
  /** Private addresses that are permitted: those of our own name servers. */
  readonly own: readonly string[]
  /** Time for one question to one server. */
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
    const { port, askMs, clock } = this.#parts
    const odd = this.#whyNot(address)
    if (odd !== undefined) {
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

  /** Otherwise a parent could send queries to any address in the operator's network. */
  #whyNot(address: string): string | undefined {
    const { allowLocal, allowPrivate, own } = this.#parts
    const odd = whyUnusable(address)
    if (odd !== undefined) return allowLocal && isLocal(odd) ? undefined : odd
    if (allowPrivate || own.includes(address)) return undefined
    const octets = parseAddress(address)
    return octets.ok && isInternalAddress(octets.value) ? 'a private address' : undefined
  }
}
