// Makes the names at which zones tell the keys of others, once for all threads and as long as they
// stay the same, and says where there are too many. RFC 9615.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { Log } from '#lib/log.ts'
import { packSignals, signalNamesMax } from '#answer/signing/signal-names.ts'

export class SignalTable {
  readonly #log: Log
  #digest = ''
  #rows = ''
  #memory: SharedArrayBuffer | null = null
  #leftOut = 0

  constructor(log: Log) {
    this.#log = log
  }

  /**
   * @param withKeys rows of zones whose keys are here
   * @returns null: there are none
   */
  of(bundle: Bundle, withKeys: ReadonlySet<number>): SharedArrayBuffer | null {
    const rows = [...withKeys].join()
    if (bundle.digest === this.#digest && rows === this.#rows) return this.#memory
    const { memory, leftOut } = packSignals(bundle, (zone) => withKeys.has(zone))
    ;[this.#digest, this.#rows, this.#memory] = [bundle.digest, rows, memory]
    if (leftOut > 0 && leftOut !== this.#leftOut) {
      this.#log.warn({ leftOut, most: signalNamesMax }, tooMany)
    }
    this.#leftOut = leftOut
    return memory
  }
}

const tooMany =
  'parents cannot bootstrap all zones here: names below _signal are too many, and the last zones ' +
  'have none; take "signals" away from a zone, or give their DS records to the parents yourself'
