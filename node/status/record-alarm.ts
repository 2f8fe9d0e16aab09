// Raises an alarm when the channel record expires, and clears it when the record is renewed.
import type { Log } from '#lib/log.ts'
import type { NodeStatus } from '#server/node/node-status.ts'

export class RecordAlarm {
  readonly #log: Log
  #isRaised = false

  constructor(log: Log) {
    this.#log = log
  }

  /** To be called now and then. The node serves on whatever this finds. */
  check({ expired, active }: Pick<NodeStatus, 'expired' | 'active'>): void {
    if (expired === this.#isRaised) return
    this.#isRaised = expired
    const fields = { seq: active?.seq, expiresAtMs: active?.expiresAtMs }
    if (expired) {
      this.#log.error(
        fields,
        'the channel record is past its expiry: answers go on, but nobody has confirmed them; ' +
          'see whether the clock is right and the Git side works (GET /api/v1/gitops/status)',
      )
    } else this.#log.info(fields, 'the channel record is valid again')
  }
}
