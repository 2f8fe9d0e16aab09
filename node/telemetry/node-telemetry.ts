// Measures the writes of a node: their times, and their traces where there is a collector.
import type { ApiServerTimes } from '#api/server/ended-request.ts'
import type { CommitWriter } from '#config/operation.ts'
import { CommitTraces } from '#integrations/telemetry/commit-traces.ts'
import type { NodeState, OwnActivation } from '#integrations/telemetry/commit-traces.ts'
import { OtlpExporter } from '#integrations/telemetry/otlp-exporter.ts'
import type { SpanCounts } from '#integrations/telemetry/otlp-exporter.ts'
import { traceContextIn } from '#integrations/telemetry/span.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'
import type { WriteTimesSnapshot } from '#metrics/snapshot.ts'
import { otlpHeadersIn, tracesUrlOf } from '#settings/sections/telemetry.ts'
import type { TelemetrySection } from '#settings/sections/telemetry.ts'
import { WriteTimes } from './write-times.ts'

interface NodeTelemetryParts {
  readonly settings: TelemetrySection['otlp']
  /** Name of this node. */
  readonly node: string
  /** Other nodes that follow. */
  readonly nodes: () => readonly NodeState[]
  readonly clock: Clock
  readonly after: After
  readonly log: Log
}

/** Requests that have written and are not answered; those beyond are not timed. */
const requestsMax = 10_000

export class NodeTelemetry implements ApiServerTimes {
  readonly #clock: Clock
  /** null: there is no collector. */
  readonly #exporter: OtlpExporter | null
  readonly #traces: CommitTraces | null
  readonly #times = new WriteTimes()
  readonly #written = new Set<string>()
  /** When the last look began that was told of. */
  #lookedFromMs = 0
  /** The last held commit that was told of, with the reason: it may be judged again and again. */
  #held = ''

  constructor({ settings, node, nodes, clock, after, log }: NodeTelemetryParts) {
    this.#clock = clock
    if (settings.url === '') {
      this.#exporter = null
      this.#traces = null
      return
    }
    const headers = otlpHeadersIn(settings.headers)
    assert(headers.ok, 'settings with other headers are refused')
    const { timeoutMs } = settings
    const url = tracesUrlOf(settings)
    const exporter = new OtlpExporter({
      ...{ url, headers: headers.value, timeoutMs, node, after, log },
    })
    this.#exporter = exporter
    const add: OtlpExporter['add'] = (spans) => exporter.add(spans)
    this.#traces = new CommitTraces({ add, nodes, node, clock, after })
  }

  /** Makes commits by `writer`, and notes them. */
  noting(writer: CommitWriter): CommitWriter {
    return {
      write: async (request) => {
        const wants = this.#traces === null ? {} : ({ wantsStages: true } as const)
        const done = await writer.write({ ...request, ...wants })
        if (!done.ok || !done.value.isChanged || request.isDryRun === true) return done
        const { requestId } = request
        const { revision: commit, stages = [] } = done.value
        if (this.#written.size < requestsMax) this.#written.add(requestId)
        this.#traces?.wrote({ commit, requestId, stages })
        return done
      },
    }
  }

  /** To be called with each status of the branch. */
  looked({ head, sync, code, conditions }: GitopsStatus): void {
    const [first] = conditions
    if (this.#traces === null || head === null || first === undefined) return
    if (first.startMs === this.#lookedFromMs) return
    this.#lookedFromMs = first.startMs
    // A look that finds nothing new ends with its first step.
    const isJudged = conditions.length > 1 && (sync === 'synced' || sync === 'held')
    const held = sync === 'held' ? `${head.commit} ${code}` : ''
    if (!isJudged || (held !== '' && held === this.#held)) return
    this.#held = held
    const steps = conditions.map(({ step: name, ...period }) => ({ name, ...period }))
    this.#traces.looked({ commit: head.commit, steps, fault: code })
  }

  activated(activation: OwnActivation): void {
    this.#traces?.activated(activation)
  }

  heard(node: NodeState): void {
    this.#traces?.heard(node)
  }

  ended: ApiServerTimes['ended'] = ({
    requestId,
    method,
    route,
    status,
    elapsedMs,
    traceparent,
  }) => {
    if (!this.#written.delete(requestId)) return
    const endMs = this.#clock.nowMs()
    const client = traceContextIn(traceparent)
    const traceId = this.#traces?.ended({
      ...{ requestId, method, route, status, startMs: endMs - elapsedMs, endMs },
      ...(client && { client }),
    })
    this.#times.note(elapsedMs / 1_000, endMs, traceId)
  }

  times(): WriteTimesSnapshot {
    return this.#times.snapshot()
  }

  /** null: there is no collector. */
  counts(): SpanCounts | null {
    return this.#exporter?.counts() ?? null
  }

  async close(): Promise<void> {
    this.#traces?.close()
    await this.#exporter?.close()
  }
}
