// Holds the sources of bundles in their order: which one to ask now, and how long a failed one
// pauses.
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
  /** Ends with a slash. It may hold a password, and must not be logged. */
  readonly url: URL
  /** For people: without user, password and query. */
  readonly name: string
  /** Entity tag of the last record; undefined: the next one is sent whole. */
  tag: string | undefined
  failures: number
  /** By the monotonic clock. */
  restsUntilMs: number
  fault: SourceFault | null
  /** Code of the fault in the log; '': none. */
  logged: string
  /** By the monotonic clock: when it first and last had an older bundle than the active one. */
  behind: { readonly fromMs: number; readonly lastMs: number } | undefined
  /** True: what it gave was refused. */
  isRefused: boolean
  /** True: it takes a report with each request. */
  takesReports: boolean
  /** By the monotonic clock: no report is sent before, even if the source takes them. */
  reportsFromMs: number
  /** How many requests do not wait, since the source is busy. */
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

  /** The first source that does not pause; undefined: all do. */
  next(nowMs: number): Source | undefined {
    return this.all.find(({ restsUntilMs }) => restsUntilMs <= nowMs)
  }

  /** Time until a source may be asked again. */
  restMs(nowMs: number): number {
    return Math.max(0, Math.min(...this.all.map(({ restsUntilMs }) => restsUntilMs)) - nowMs)
  }

  /** Ends all pauses; a source that fails again is logged again. */
  wake(): void {
    for (const source of this.all) {
      if (source.fault === null) continue
      source.restsUntilMs = 0
      source.failures = 0
      source.logged = ''
    }
  }

  /** Longest time until a node sends its next report. */
  againMs({ waitSeconds, headPatienceMs, pollMs }: Waits): number {
    const failures = this.all.map((source) => source.failures)
    const waitMs = 1_000 * Math.min(waitSeconds, fleetLimits.reportWaitSeconds)
    const isBusy = this.all.some(({ plainAsks }) => plainAsks > 0)
    const askMs = isBusy ? 1.5 * pollMs : this.#rest.firstMs
    // Earlier sources are tried as well; when none is of use, the next one after its pause.
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
    // Half of it is random, so that nodes that lost a source together return one by one.
    source.restsUntilMs = nowMs + fullMs / 2 + this.#random.below(Math.ceil(fullMs / 2) + 1)
  }

  /** Pauses a working source with too many requests: nodes return after one to two `restMs`. */
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
