// Checks an export request of OTLP in JSON against the published messages, field by field: unknown
// fields, missing ones and wrong forms are faults. The peers lane has another judge of the same.
// https://github.com/open-telemetry/opentelemetry-proto/blob/v1.5.0/opentelemetry/proto/trace/v1/trace.proto
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding

type Check = (value: unknown) => boolean
type Form = Check | readonly [Message] | Message
interface Message {
  readonly [field: string]: { readonly form: Form; readonly isNeeded?: true }
}

const text: Check = (value) => typeof value === 'string' && value.isWellFormed()
const named: Check = (value) => typeof value === 'string' && value !== ''
const traceId: Check = (value) => /^(?!0+$)[0-9a-f]{32}$/.test(String(value))
const spanId: Check = (value) => /^(?!0+$)[0-9a-f]{16}$/.test(String(value))
/** Integers of 64 bits are texts. */
const int64: Check = (value) => typeof value === 'string' && /^-?[0-9]{1,19}$/.test(value)
const nanoseconds: Check = (value) => typeof value === 'string' && /^[0-9]{19}$/.test(value)
const float: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const count: Check = (value) => Number.isInteger(value) && Number(value) >= 0
/** Names of enumerations are not permitted. */
const oneOf =
  (most: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most

const anyValue: Message = {
  stringValue: { form: text },
  boolValue: { form: (value) => typeof value === 'boolean' },
  intValue: { form: int64 },
  doubleValue: { form: float },
}
const keyValue: Message = {
  key: { form: named, isNeeded: true },
  value: { form: anyValue, isNeeded: true },
}
const link: Message = {
  traceId: { form: traceId, isNeeded: true },
  spanId: { form: spanId, isNeeded: true },
  traceState: { form: text },
  attributes: { form: [keyValue] },
  droppedAttributesCount: { form: count },
  flags: { form: count },
}
const event: Message = {
  timeUnixNano: { form: nanoseconds, isNeeded: true },
  name: { form: named, isNeeded: true },
  attributes: { form: [keyValue] },
  droppedAttributesCount: { form: count },
}
const span: Message = {
  traceId: { form: traceId, isNeeded: true },
  spanId: { form: spanId, isNeeded: true },
  parentSpanId: { form: spanId },
  name: { form: named, isNeeded: true },
  kind: { form: oneOf(5), isNeeded: true },
  startTimeUnixNano: { form: nanoseconds, isNeeded: true },
  endTimeUnixNano: { form: nanoseconds, isNeeded: true },
  attributes: { form: [keyValue] },
  droppedAttributesCount: { form: count },
  events: { form: [event] },
  droppedEventsCount: { form: count },
  links: { form: [link] },
  droppedLinksCount: { form: count },
  flags: { form: count },
  status: { form: { message: { form: text }, code: { form: oneOf(2) } } },
}
const exportTraces: Message = {
  resourceSpans: {
    isNeeded: true,
    form: [
      {
        resource: {
          form: { attributes: { form: [keyValue] }, droppedAttributesCount: { form: count } },
        },
        schemaUrl: { form: text },
        scopeSpans: {
          isNeeded: true,
          form: [
            {
              scope: { form: { name: { form: text }, version: { form: text } } },
              spans: { form: [span], isNeeded: true },
              schemaUrl: { form: text },
            },
          ],
        },
      },
    ],
  },
}

/** Paths of what is wrong in the body of a request. */
export const otlpFaults = (body: unknown): string[] => faultsIn(body, exportTraces, '')

function faultsIn(value: unknown, form: Form, path: string): string[] {
  if (typeof form === 'function') return form(value) ? [] : [`${path} is ${JSON.stringify(value)}`]
  if (Array.isArray(form)) {
    if (!Array.isArray(value)) return [`${path} is no list`]
    const [item] = form as readonly [Message]
    return value.flatMap((one, i) => faultsIn(one, item, `${path}.${i}`))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [`${path} is no object`]
  }
  const message = form as Message
  const fields = Object.entries(value).flatMap(([key, one]) => {
    const known = Object.hasOwn(message, key) ? message[key] : undefined
    return known === undefined
      ? [`${path}.${key} is unknown`]
      : faultsIn(one, known.form, `${path}.${key}`)
  })
  const missing = Object.keys(message).filter(
    (key) => message[key]?.isNeeded === true && !Object.hasOwn(value, key),
  )
  const several = message === anyValue && Object.keys(value).length !== 1
  return [
    ...fields,
    ...missing.map((key) => `${path}.${key} is missing`),
    ...(several ? [`${path} has not one value`] : []),
  ]
}

export interface SeenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code?: number; readonly message?: string }
}

/** Spans of a request without faults. */
export function spansIn(body: unknown): readonly SeenSpan[] {
  const faults = otlpFaults(body)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  const { resourceSpans } = body as {
    resourceSpans: { scopeSpans: { spans: SeenSpan[] }[] }[]
  }
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

/** Attributes as plain values. */
export const attributesOf = ({ attributes }: SeenSpan): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]))
