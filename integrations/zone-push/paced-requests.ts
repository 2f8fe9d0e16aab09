// Requests to an API with a limit of requests per second: spaced, and sent again where the server
// says that they come too fast. One for all targets that share the limit.
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { askAny, httpLimits, retryAfterMs } from '#integrations/http/json-client.ts'
import type { JsonRequest } from '#integrations/http/json-client.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { throttleLimits } from './limits.ts'

export interface TextAnswer {
  readonly status: number
  /** By name in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

interface Waits {
  /** Rejects when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>
}

export const realWaits = (clock: Waits['clock']): Waits => ({
  wait: async (ms, signal) => await sleep(ms, undefined, { signal }),
  clock,
})

export class PacedRequests {
  readonly #pauseMs: number
  readonly #waits: Waits
  #nextMs = 0

  constructor(pauseMs: number, waits: Waits) {
    this.#pauseMs = pauseMs
    this.#waits = waits
  }

  /**
   * @param make called for each try, when it is sent: signatures have a time
   * @param isThrottled whether an answer says that requests come too fast
   *
   * Errors: a sentence.
   */
  async ask(
    { url, signal }: Pick<JsonRequest, 'url' | 'signal'>,
    make: () => JsonRequest | Promise<JsonRequest>,
    isThrottled: (answer: TextAnswer) => boolean,
  ): Promise<Result<TextAnswer, string>> {
    const { tries, firstMs } = throttleLimits
    for (let tried = 1; ; tried++) {
      if (!(await this.#turn(signal))) {
        return err(`${new URL(url).host} took too long, all requests together`)
      }
      const asked = await askAny(await make(), httpLimits.timeoutMs)
      if (!asked.ok) return asked
      const { response, text } = asked.value
      const answer = { status: response.statusCode ?? 0, headers: response.headers, text }
      if (!isThrottled(answer) || tried === tries) return ok(answer)
      const askedMs = retryAfterMs(answer.headers, this.#waits.clock.nowMs())
      const pauseMs = askedMs ?? firstMs * 2 ** (tried - 1)
      if (pauseMs > throttleLimits.mostMs) return ok(answer)
      // All that share the limit wait.
      this.#nextMs = Math.max(this.#nextMs, this.#waits.clock.monotonicMs() + pauseMs)
    }
  }

  /** @returns false: there is no time left */
  async #turn(signal: AbortSignal): Promise<boolean> {
    const nowMs = this.#waits.clock.monotonicMs()
    const atMs = Math.max(nowMs, this.#nextMs)
    this.#nextMs = atMs + this.#pauseMs
    try {
      if (atMs > nowMs) await this.#waits.wait(atMs - nowMs, signal)
      return !signal.aborted
    } catch {
      return false
    }
  }
}
