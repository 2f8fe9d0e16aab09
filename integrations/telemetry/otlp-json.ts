// Encodes spans as an export request of OTLP in JSON, and reads the response.
import { isFields } from '#lib/text/json.ts'
import { version } from '#lib/version.ts'
import type { Span } from './span.ts'

interface AnyValue {
  readonly stringValue?: string
  readonly intValue?: string
  readonly doubleValue?: number
}

const statusError = 2
/** Characters of a text in an attribute: a name in the configuration may be long. */
const textMax = 256

/**
 * Encodes an ExportTraceServiceRequest, version 1 of the protocol: ids in hexadecimal, integers of
 * 64 bits as texts.
 *
 * @param node name of the node that tells
 */
export function exportRequest(spans: readonly Span[], node: string): object {
  const resource = {
    'service.name': 'gslbd',
    'service.version': version,
    'service.instance.id': node,
  }
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'gslbd', version }, spans: spans.map(encoded) }],
      },
    ],
  }
}

function encoded(span: Span): object {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, fault, link } = span
  return {
    traceId,
    spanId,
    ...(parentSpanId === '' ? {} : { parentSpanId }),
    name,
    kind,
    startTimeUnixNano: nanoseconds(startMs),
    // A clock that was set back must not make a time below zero.
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributesOf(span.attributes),
    ...(link === undefined ? {} : { links: [link] }),
    status: fault === undefined ? {} : { code: statusError, message: cut(fault) },
  }
}

function attributesOf(attributes: Span['attributes']) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }))
}

function valueOf(value: string | number): AnyValue {
  if (typeof value === 'string') return { stringValue: cut(value) }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** A half of a character would make a collector refuse the whole request. */
const cut = (text: string): string =>
  (text.length <= textMax ? text : `${text.slice(0, textMax - 1)}…`).toWellFormed()

/** Microseconds: what is below is noise of the clocks. */
const nanoseconds = (ms: number): string => `${Math.max(0, Math.round(ms * 1_000))}000`

/** @returns how many spans the collector did not take, of a response that says so */
export function rejectedIn(response: unknown): number {
  const partial = isFields(response) ? response['partialSuccess'] : undefined
  const rejected = isFields(partial) ? Number(partial['rejectedSpans'] ?? 0) : 0
  return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0
}
