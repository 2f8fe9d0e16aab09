// Rate limits, the side of the main thread: names some of the networks that are limited in the log,
// and keeps the table of buckets in order.
import { formatAddress } from '#dns/address.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'
import { answerClassNames, limitActions } from './limits.ts'
import { microsOf, ReportCell, reportOf, tableOf } from './rate-memory.ts'
import type { RateMemory } from './rate-memory.ts'

export const watchLimits = {
  everyMs: 1_000,
  /** Lines of one network, and of all, in a minute. */
  networkLinesPerMinute: 1,
  linesPerMinute: 10,
  /** Each is swept in its turn: all of them in 17 minutes. */
  sweptParts: 1_024,
} as const

const minuteMs = 60_000

interface RateWatchParts {
  readonly memory: RateMemory
  /** Answers beyond the limit since the start, of all threads. */
  readonly limited: () => number
  /** A machine clock (lib/clock.ts): that of the threads. */
  readonly nowMs: () => number
  readonly after: After
  readonly log: Log
}

export class RateWatch {
  readonly #parts: RateWatchParts
  readonly #named = new Set<string>()
  #lines = 0
  #minuteMs = -Infinity
  #limited = 0
  #part = 0
  #cancel: () => void = () => undefined

  constructor(parts: RateWatchParts) {
    this.#parts = parts
  }

  start(): void {
    const { everyMs } = watchLimits
    this.#cancel = this.#parts.after(everyMs, () => {
      this.look()
      this.start()
    })
  }

  stop(): void {
    this.#cancel()
  }

  look(): void {
    const { memory, nowMs } = this.#parts
    const now = nowMs()
    tableOf(memory).sweep(this.#part, watchLimits.sweptParts, microsOf(now))
    this.#part = (this.#part + 1) % watchLimits.sweptParts
    if (now - this.#minuteMs >= minuteMs) {
      this.#minuteMs = now
      this.#lines = 0
      this.#named.clear()
    }
    for (let thread = 0; thread < memory.threads; thread++) this.#take(reportOf(memory, thread))
  }

  #take(report: Int32Array): void {
    if (Atomics.load(report, ReportCell.IsThere) === 0) return
    const network = networkOf(this.#parts.memory, report)
    const of = answerClassNames[report[ReportCell.Class]!]
    const action = limitActions[report[ReportCell.Action]!]
    Atomics.store(report, ReportCell.IsThere, 0)
    if (this.#named.has(network) || this.#lines >= watchLimits.linesPerMinute) return
    this.#named.add(network)
    this.#lines++
    const before = this.#limited
    this.#limited = this.#parts.limited()
    const fields = { network, class: of, action, limited: this.#limited - before }
    this.#parts.log.warn(
      fields,
      action === 'would'
        ? 'answers to a network would be limited'
        : 'answers to a network are limited',
    )
  }
}

function networkOf({ ipv4Bits, ipv6Bits }: RateMemory, report: Int32Array): string {
  const isIpv6 = report[ReportCell.IsIpv6] === 1
  const octets = new Uint8Array(isIpv6 ? 16 : 4)
  const view = new DataView(octets.buffer)
  view.setInt32(0, report[ReportCell.Network]!)
  if (isIpv6) view.setInt32(4, report[ReportCell.Network + 1]!)
  return `${formatAddress(octets)}/${isIpv6 ? ipv6Bits : ipv4Bits}`
}
