// Sums up calls by pages of other sites: one line a minute in the audit log for each kind.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { isForPages } from '#http/origin.ts'
import { isAudited, pathOf } from './audit.ts'
import type { AuditSink } from './audit.ts'
import type { OnRoute } from '#http/origin.ts'

export const pageAuditMs = 60_000

/** Sums are written when the server closes, so nothing is scheduled. */
const withoutWaiting: After = (delayMs, fn) => {
  const timer = setTimeout(fn, delayMs).unref()
  return () => clearTimeout(timer)
}

interface Sum {
  readonly method: string
  readonly path: string
  readonly status: number
  requests: number
  durationMs: number
}

export class PageAudit {
  readonly #sink: AuditSink
  readonly #clock: Clock
  readonly #after: After
  /** By route and status, which are few. */
  readonly #sums = new Map<string, Sum>()
  #callOff: (() => void) | null = null

  constructor(sink: AuditSink, clock: Clock, after: After = withoutWaiting) {
    this.#sink = sink
    this.#clock = clock
    this.#after = after
  }

  note(
    request: OnRoute & Pick<FastifyRequest, 'method' | 'url'>,
    reply: Pick<FastifyReply, 'statusCode' | 'elapsedTime'>,
  ): void {
    if (!isAudited(request) || !isForPages(request)) return
    const { method } = request
    const { statusCode: status, elapsedTime } = reply
    const path = request.routeOptions.url ?? pathOf(request)
    const key = `${method} ${path} ${status}`
    const sum = this.#sums.get(key) ?? { method, path, status, requests: 0, durationMs: 0 }
    sum.requests++
    sum.durationMs += elapsedTime
    this.#sums.set(key, sum)
    this.#callOff ??= this.#after(pageAuditMs, () => this.flush())
  }

  /** Writes the sums. */
  flush(): void {
    this.#callOff?.()
    this.#callOff = null
    const atMs = this.#clock.nowMs()
    for (const { durationMs, ...sum } of this.#sums.values()) {
      this.#sink.write({
        id: uuidV7(atMs),
        atMs,
        ...sum,
        actor: 'anon',
        // The entry sums up many browsers.
        remote: '',
        durationMs: Math.round(durationMs),
        tenantId: defaultTenant,
        requestId: null,
      })
    }
    this.#sums.clear()
  }
}
