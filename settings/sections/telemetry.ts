// The section `telemetry` of gslbd.yaml: the collector that is sent traces.
import { unescapedPercent } from '#lib/text/percent.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { isLoopbackName } from '#lib/loopback.ts'
import { duration, section, text } from '#settings/forms/forms.ts'
import type { Static } from '#lib/schema/type.ts'

const otlp = section(
  'The collector that is sent traces of writes over OTLP/HTTP, in JSON. ' +
    '[More](../operations/traces.md).',
  {
    url: text(2_000, {
      default: '',
      pattern: '^(https?://[^@\\s?#]+)?$',
      'x-expected': 'an http:// or https:// address without a name, password or query',
      description:
        'Address of the collector, such as http://127.0.0.1:4318; `/v1/traces` is added to a ' +
        'path that does not end with it. Empty: there are no traces.',
    }),
    headers: text(8_192, {
      default: '',
      'x-secret': true,
      'x-expected': 'NAME=VALUE, separated by commas',
      description:
        'Headers of each request, as OTEL_EXPORTER_OTLP_HEADERS has them: `NAME=VALUE,…`, with ' +
        'values percent-encoded. They are mostly secrets: GSLB_OTLP_HEADERS goes before it.',
    }),
    timeout: duration({
      default: '10s',
      minimumMs: 100,
      maximumMs: 60_000,
      description: 'How long a response is waited for. No write waits for it.',
    }),
  },
)

export const telemetry = section('What others are told of the work of this node.', { otlp })
export type TelemetrySection = Static<typeof telemetry>

const nameForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
const valueForm = /^[\t\x20-\x7e]*$/
/** What the request has anyway. */
const taken: ReadonlySet<string> = new Set([
  ...['accept', 'connection', 'content-length', 'content-type', 'host', 'transfer-encoding'],
])

/**
 * Reads headers in the form of OTEL_EXPORTER_OTLP_HEADERS. Errors: a part of a sentence, without
 * the values.
 */
export function otlpHeadersIn(written: string): Result<Readonly<Record<string, string>>, string> {
  const headers = new Map<string, string>()
  for (const [i, part] of written.split(',').entries()) {
    if (part.trim() === '') continue
    const [name = '', ...rest] = part.split('=')
    const key = name.trim().toLowerCase()
    const place = `entry ${i + 1}`
    if (rest.length === 0 || !nameForm.test(key)) return err(`${place} is not NAME=VALUE`)
    if (taken.has(key)) return err(`${place} sets ${key}, which gslbd sets itself`)
    if (headers.has(key)) return err(`${place} sets ${key} once more`)
    const value = unescapedPercent(rest.join('=').trim())
    if (value === undefined || !valueForm.test(value)) {
      return err(`${place}, ${key}, has a value that is not ASCII text, percent-encoded`)
    }
    headers.set(key, value)
  }
  return ok(Object.fromEntries(headers))
}

/** Returns sentences for the operator about what does not go together. */
export function faultsOfTelemetry({ otlp: { url, headers } }: TelemetrySection): readonly string[] {
  const read = otlpHeadersIn(headers)
  if (!read.ok) return [`telemetry.otlp.headers: ${read.error}; write NAME=VALUE,NAME=VALUE`]
  if (url === '') return []
  const parsed = URL.parse(url)
  if (parsed === null) return ['telemetry.otlp.url is no address; write http://HOST:4318']
  const isOpen = parsed.protocol === 'http:' && !isLoopbackName(parsed.hostname)
  if (isOpen && Object.keys(read.value).length > 0) {
    return [
      'telemetry.otlp.url is http://, and telemetry.otlp.headers would be readable on the way; ' +
        'write an https:// address, or take the headers away',
    ]
  }
  return []
}

/** Where export requests go; with an address that is set. */
export function tracesUrlOf({ url }: Pick<TelemetrySection['otlp'], 'url'>): string {
  const base = url.replace(/\/+$/, '')
  return base.endsWith('/v1/traces') ? base : `${base}/v1/traces`
}
