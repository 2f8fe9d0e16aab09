// Parses external health signals: the native body, and the bodies of monitoring vendors.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { suggest } from '#lib/suggest.ts'
import { textPattern } from '#lib/text/patterns.ts'

interface SignalBody {
  readonly source: string
  readonly healthy: boolean
  /** From 0 to 1; null: not given. */
  readonly score: number | null
  readonly ttlSeconds: number
}

/** Bounds and defaults of a signal. */
export const signalBodyLimits = {
  ttlSecondsDefault: 300,
  ttlSecondsMax: 3_600,
  sourceLengthMax: 255,
} as const

type Body = Readonly<Record<string, unknown>>
type Reader = (body: Body) => Result<SignalBody, string>

/** Keys are values of `?format=`. */
const readers = {
  vendor_a: readVendorA,
  vendor_b: readVendorB,
  generic: (body) => readPlain(body, 'webhook'),
} as const satisfies Readonly<Record<string, Reader>>

type SignalFormat = keyof typeof readers
export const signalFormats = Object.freeze(Object.keys(readers)) as readonly SignalFormat[]

/**
 * Ignores fields that a format does not name: monitors send many.
 *
 * @param format value of `?format=`; null: the native body
 * @param body any JSON value. Errors: a sentence for the sender
 */
export function parseHealthSignal(
  format: string | null,
  body: unknown,
): Result<SignalBody, string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return err('the body is not a JSON object')
  }
  if (format === null) return readPlain(body as Body, null)
  if (!isFormat(format)) {
    const near = suggest(format, signalFormats)
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    return err(`there is no format ${JSON.stringify(format.slice(0, 40))}${hint}`)
  }
  return readers[format](body as Body)
}

function isFormat(format: string): format is SignalFormat {
  return Object.hasOwn(readers, format)
}

/** Own fields only: a value from a prototype was not sent. */
function fieldOf(body: Body, name: string): unknown {
  return Object.hasOwn(body, name) ? body[name] : undefined
}

/** @param otherwise source of a body that names none; null: the body must name one */
function readPlain(body: Body, otherwise: string | null): Result<SignalBody, string> {
  const healthy = fieldOf(body, 'healthy')
  const score = fieldOf(body, 'score') ?? null
  const ttlSeconds = fieldOf(body, 'ttl') ?? signalBodyLimits.ttlSecondsDefault
  if (typeof healthy !== 'boolean') return err('healthy must be true or false')
  if (score !== null && !isBetween(score, 0, 1)) return err('score must be a number from 0 to 1')
  const isTtl =
    Number.isInteger(ttlSeconds) && isBetween(ttlSeconds, 1, signalBodyLimits.ttlSecondsMax)
  if (!isTtl) {
    return err(`ttl must be a whole number of seconds from 1 to ${signalBodyLimits.ttlSecondsMax}`)
  }
  const source = fieldOf(body, 'source') ?? otherwise
  return withSource('source', source, (label) => ({
    source: label,
    healthy,
    score: score as number | null,
    ttlSeconds: ttlSeconds as number,
  }))
}

/** A cloud alarm. Every state but `OK` (alarm, too little data) means unhealthy. */
function readVendorA(body: Body): Result<SignalBody, string> {
  const state = fieldOf(body, 'NewStateValue')
  if (typeof state !== 'string') return err('NewStateValue must be a text')
  return withSource('AlarmName', fieldOf(body, 'AlarmName'), (name) => ({
    ...defaults,
    source: `vendor_a:${name}`,
    healthy: state === 'OK',
  }))
}

const recoveries: ReadonlySet<string> = new Set(['recovered', 'recovery'])

/** A monitoring webhook: healthy by a recovery transition or a success type. */
function readVendorB(body: Body): Result<SignalBody, string> {
  const [transition, type] = [fieldOf(body, 'alert_transition'), fieldOf(body, 'alert_type')]
  if (typeof transition !== 'string' && typeof type !== 'string') {
    return err('alert_transition or alert_type must be a text')
  }
  const isRecovery = typeof transition === 'string' && recoveries.has(transition.toLowerCase())
  return withSource('title', fieldOf(body, 'title'), (title) => ({
    ...defaults,
    source: `vendor_b:${title}`,
    healthy: isRecovery || type === 'success',
  }))
}

const defaults = { score: null, ttlSeconds: signalBodyLimits.ttlSecondsDefault } as const

const onOneLine = new RegExp(textPattern, 'u')

/**
 * A label identifies the signal that a later one replaces, so it is kept whole or refused, never
 * cut.
 */
function withSource(
  field: string,
  value: unknown,
  make: (text: string) => SignalBody,
): Result<SignalBody, string> {
  if (typeof value !== 'string' || value.trim() === '') return err(`${field} must be a text`)
  if (!value.isWellFormed() || !onOneLine.test(value))
    return err(`${field} must not hold control characters`)
  const signal = make(value)
  return signal.source.length > signalBodyLimits.sourceLengthMax
    ? err(
        `${field} must be shorter: a source has at most ${signalBodyLimits.sourceLengthMax} characters`,
      )
    : ok(signal)
}

function isBetween(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max
}
