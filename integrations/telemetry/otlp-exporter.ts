// Sends spans to a collector over OTLP/HTTP: a bounded queue, one request at a time, and pauses
// that grow while the collector is away.
import { backoffMs } from '#lib/backoff.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'
import { noLongerThan } from '#lib/timer.ts'
import { askAny } from '#integrations/http/json-client.ts'
import { telemetryLimits } from './limits.ts'
import { exportRequest, rejectedIn } from './otlp-json.ts'
import type { Span } from './span.ts'
import { parseJson } from '#lib/text/json.ts'

interface OtlpExporterParts {
  /** Where export requests go, with its path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Name of this node. */
  readonly node: string
  readonly after: After
  readonly log: Log
}

export interface SpanCounts {
  readonly sent: number
  /** There was no room for them. */
  readonly dropped: number
  /** The collector did not take them. */
  readonly refused: number
  readonly waiting: number
}

/** What became of a request: `again` with the pause that the collector asks for, if it does. */
type Outcome =
  | { readonly kind: 'taken'; readonly rejected: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'again'; readonly reason: string; readonly pauseMs: number }

/** Statuses that are tried again: OTLP specification, "Failures" of OTLP/HTTP. */
const transient: ReadonlySet<number> = new Set([429, 502, 503, 504])

export class OtlpExporter {
  readonly #parts: OtlpExporterParts
  readonly #queue: Span[] = []
  readonly #stop = new AbortController()
  #counts = { sent: 0, dropped: 0, refused: 0 }
  #failures = 0
  #isLogged = false
  #timer: (() => void) | undefined
  #sending: Promise<void> | undefined

  constructor(parts: OtlpExporterParts) {
    this.#parts = parts
  }

  /** Never waits, and never throws. */
  add(spans: readonly Span[]): void {
    const room = Math.max(0, telemetryLimits.queueMax - this.#queue.length)
    this.#queue.push(...spans.slice(0, room))
    this.#counts.dropped += Math.max(0, spans.length - room)
    this.#later(telemetryLimits.gatherMs)
  }

  counts(): SpanCounts {
    return { ...this.#counts, waiting: this.#queue.length }
  }

  /** Sends what waits, once, and gives up after `stopPatienceMs`. */
  async close(): Promise<void> {
    this.#timer?.()
    const last = async (): Promise<void> => {
      await this.#sending
      while (this.#failures === 0 && this.#queue.length > 0) await this.#send()
    }
    await noLongerThan(telemetryLimits.stopPatienceMs, last())
    this.#stop.abort()
    this.#counts.dropped += this.#queue.splice(0).length
  }

  #later(ms: number): void {
    if (this.#timer !== undefined || this.#sending !== undefined || this.#stop.signal.aborted)
      return
    this.#timer = this.#parts.after(ms, () => {
      this.#timer = undefined
      this.#sending = this.#send().finally(() => {
        this.#sending = undefined
        if (this.#queue.length > 0) this.#later(this.#pauseMs)
      })
    })
  }

  #pauseMs: number = telemetryLimits.gatherMs

  /** Sends one batch, which stays in the queue until the collector has said what becomes of it. */
  async #send(): Promise<void> {
    const batch = this.#queue.slice(0, telemetryLimits.batchMax)
    if (batch.length === 0) return
    const outcome = await this.#ask(batch)
    if (this.#stop.signal.aborted) return
    if (outcome.kind === 'again') {
      this.#failures++
      this.#pauseMs = Math.max(outcome.pauseMs, backoffMs(telemetryLimits.retry, this.#failures))
      return this.#tell(outcome.reason)
    }
    this.#queue.splice(0, batch.length)
    this.#failures = 0
    this.#pauseMs = telemetryLimits.gatherMs
    const refused =
      outcome.kind === 'taken' ? Math.min(outcome.rejected, batch.length) : batch.length
    this.#counts.refused += refused
    this.#counts.sent += batch.length - refused
    if (outcome.kind === 'refused') this.#tell(outcome.reason)
    else this.#tellWell()
  }

  async #ask(batch: readonly Span[]): Promise<Outcome> {
    const { url, headers, timeoutMs, node } = this.#parts
    const body = exportRequest(batch, node)
    const { signal } = this.#stop
    const { answerBytesMax: bytesMax } = telemetryLimits
    const asked = { url, method: 'POST', headers, body, signal, bytesMax } as const
    const answer = await askAny(asked, timeoutMs)
    if (!answer.ok) return { kind: 'again', reason: answer.error, pauseMs: 0 }
    const { response, text } = answer.value
    const { statusCode: status = 0 } = response
    if (status >= 200 && status < 300)
      return { kind: 'taken', rejected: rejectedIn(parseJson(text)) }
    const reason = `${new URL(url).host} answered ${status}`
    if (!transient.has(status)) return { kind: 'refused', reason }
    const askedMs = Number(response.headers['retry-after']) * 1_000
    const isPause = Number.isFinite(askedMs) && askedMs > 0
    const pauseMs = isPause ? Math.min(askedMs, telemetryLimits.retry.mostMs) : 0
    return { kind: 'again', reason, pauseMs }
  }

  /** Logged when it begins: the metrics say how it goes on. */
  #tell(reason: string): void {
    if (!this.#isLogged) {
      this.#parts.log.warn(
        { reason },
        'traces are not taken; writes and answers go on without them',
      )
    }
    this.#isLogged = true
  }

  #tellWell(): void {
    if (this.#isLogged) this.#parts.log.info({}, 'traces are taken again')
    this.#isLogged = false
  }
}
