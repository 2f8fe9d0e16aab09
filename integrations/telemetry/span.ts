// Defines a span as gslbd makes it, and its ids, which follow from the commit.
import { hash } from 'node:crypto'

export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** '': it is the root of its trace. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: SpanKind
  /** Unix epoch, with fractions. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number>>
  /** The reason of a failure; left out: it did not fail. */
  readonly fault?: string
  /** The span of the client that asked, in a trace of its own. */
  readonly link?: TraceContext
}

/** As in opentelemetry/proto/trace/v1/trace.proto. */
export const SpanKind = { internal: 1, server: 2 } as const
export type SpanKind = (typeof SpanKind)[keyof typeof SpanKind]

export interface TraceContext {
  readonly traceId: string
  readonly spanId: string
}

/** The first 16 octets of the id of the commit: the trace is found without a look-up. */
export const traceIdOf = (commit: string): string => commit.slice(0, 32)

/** @param what tells the span from the others of its trace */
export const spanIdOf = (commit: string, what: string): string =>
  hash('sha256', `${commit} ${what}`).slice(0, 16)

const traceparentForm = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/

/**
 * Reads the header `traceparent` of W3C Trace Context.
 *
 * @returns undefined: there is none, or it is not valid
 */
export function traceContextIn(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length > 512) return undefined
  const [whole, traceId = '', spanId = '', rest] = traceparentForm.exec(header) ?? []
  if (whole === undefined || (whole.startsWith('00') && rest !== undefined)) return undefined
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId }
}
