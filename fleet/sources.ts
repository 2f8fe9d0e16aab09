// The sources of bundles in their order: which one to ask now, and how long a failed one rests.
import { assert } from '#lib/assert.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Backoff } from '#lib/backoff.ts'
import type { Random } from '#lib/random.ts'
import { fleetLimits } from './limits.ts'
import { reportLimits } from '#fleet/nodes/node-report.ts'

/** Why a source gave nothing, or what is wrong with what it gave. */
export interface SourceFault {
  readonly code: string
  readonly message: string
}

export interface Source {
  /** Ends with a slash; it may hold a password: not for logs. */
  readonly url: URL
  /** For people: without name, password and query. */
  readonly name: string
  /** Entity tag of the record that was taken last; undefined: the next one is sent whole. */
  tag: string | undefined
  failures: number
  /** On the monotonic clock. */
  restsUntilMs: number
  fault: SourceFault | null
  /** Code of the fault that the log has; '': none. */
  logged: string
  /** On the monotonic clock: from when, and when last, it was older than what serves. */
  behind: { readonly fromMs: number; readonly lastMs: number } | undefined
  /** What it gave was refused. */
  isRefused: boolean
  /** It takes a report with each question. */
  takesReports: boolean
  /** On the monotonic clock: before that it is not sent any, whatever it says. */
  reportsFromMs: number
  /** So many questions do not wait: it has too many others. */
  plainAsks: number
}

interface Waits {
  readonly waitSeconds: number
  readonly headPatienceMs: number
  readonly pollMs: number
}

export class Sources {
  readonly all: readonly Source[]
  readonly #rest: Backoff
  readonly #random: Random

  constructor(urls: readonly string[], rest: Backoff, random: Random) {
    this.#rest = rest
    this.#random = random
    this.all = urls.map((text) => {
      const url = new URL(text.endsWith('/') ? text : `${text}/`)
      return {
        url,
        name: `${url.origin}${url.pathname}`,
        tag: undefined,
        failures: 0,
        restsUntilMs: 0,
        fault: null,
        logged: '',
        behind: undefined,
        isRefused: false,
        takesReports: false,
        reportsFromMs: 0,
        plainAsks: 0,
      }
    })
  }

  /** The first that does not rest; undefined: all do. */
  next(nowMs: number): Source | undefined {
    return this.all.find(({ restsUntilMs }) => restsUntilMs <= nowMs)
  }

  /** How long until one may be asked again. */
  restMs(nowMs: number): number {
    return Math.max(0, Math.min(...this.all.map(({ restsUntilMs }) => restsUntilMs)) - nowMs)
  }

  /** None rests any more; one that fails again is told of again. */
  wake(): void {
    for (const source of this.all) {
      if (source.fault === null) continue
      source.restsUntilMs = 0
      source.failures = 0
      source.logged = ''
    }
  }

  /** When a node that asks them tells the next of itself, at the latest. */
  againMs({ waitSeconds, headPatienceMs, pollMs }: Waits): number {
    const failures = this.all.map((source) => source.failures)
    const waitMs = 1_000 * Math.min(waitSeconds, fleetLimits.reportWaitSeconds)
    const isBusy = this.all.some(({ plainAsks }) => plainAsks > 0)
    const askMs = isBusy ? 1.5 * pollMs : this.#rest.firstMs
    // Earlier ones are tried as well; where none is of use, the next one after its rest.
    const failedMs = failures.every((count) => count === 0) ? 0 : headPatienceMs
    const least = Math.min(...failures)
    const restMs = least === 0 ? 0 : backoffMs(this.#rest, least + 1)
    return Math.min(reportLimits.againMsMax, Math.ceil(waitMs + askMs + failedMs + restMs))
  }

  failed(source: Source, fault: SourceFault, nowMs: number): void {
    assert(this.all.includes(source), 'a source that failed is one of those that are asked')
    const fullMs = backoffMs(this.#rest, ++source.failures)
    source.fault = fault
    source.tag = undefined
    // Half of it by chance: nodes that lost one source together come back apart.
    source.restsUntilMs = nowMs + fullMs / 2 + this.#random.below(Math.ceil(fullMs / 2) + 1)
  }

  /** For a source that works, and is asked by too many: they return after one to two `restMs`. */
  busy(source: Source, restMs: number, nowMs: number): void {
    source.restsUntilMs = nowMs + restMs + this.#random.below(Math.ceil(restMs) + 1)
    source.plainAsks = fleetLimits.plainAsksWhenBusy
  }

  worked(source: Source): void {
    source.failures = 0
    source.fault = null
    source.logged = ''
    source.behind = undefined
    source.isRefused = false
    source.restsUntilMs = 0
  }
}
