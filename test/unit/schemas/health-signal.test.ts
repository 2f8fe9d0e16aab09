import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseHealthSignal, signalBodyLimits, signalFormats } from '#schemas/health-signal.ts'
import { healthSignalLimits } from '#state/ports/health-signals.ts'

const base = { score: null, ttlSeconds: 300 }

describe('a signal that is taken', () => {
  const rows: readonly [format: string | null, body: object, signal: object][] = [
    [null, { source: 'a', healthy: true }, { ...base, source: 'a', healthy: true }],
    [
      null,
      { source: 'a', healthy: false, score: 0.25, ttl: 3_600, extra: 1 },
      { source: 'a', healthy: false, score: 0.25, ttlSeconds: 3_600 },
    ],
    ['generic', { healthy: false }, { ...base, source: 'webhook', healthy: false }],
    [
      'generic',
      { healthy: true, source: 'x', ttl: 1 },
      { ...base, source: 'x', healthy: true, ttlSeconds: 1 },
    ],
    [
      'vendor_a',
      { AlarmName: 'cpu', NewStateValue: 'OK' },
      { ...base, source: 'vendor_a:cpu', healthy: true },
    ],
    [
      'vendor_a',
      { AlarmName: 'cpu', NewStateValue: 'ALARM' },
      { ...base, source: 'vendor_a:cpu', healthy: false },
    ],
    [
      'vendor_a',
      { AlarmName: 'cpu', NewStateValue: 'ok' },
      { ...base, source: 'vendor_a:cpu', healthy: false },
    ],
    [
      'vendor_b',
      { alert_transition: 'Recovered', alert_type: 'error', title: 't' },
      { ...base, source: 'vendor_b:t', healthy: true },
    ],
    [
      'vendor_b',
      { alert_transition: 'recovery', title: 't' },
      { ...base, source: 'vendor_b:t', healthy: true },
    ],
    [
      'vendor_b',
      { alert_transition: 'Triggered', alert_type: 'success', title: 't' },
      { ...base, source: 'vendor_b:t', healthy: true },
    ],
    [
      'vendor_b',
      { alert_transition: 'Triggered', alert_type: 'error', title: 't' },
      { ...base, source: 'vendor_b:t', healthy: false },
    ],
    [
      'vendor_b',
      { alert_type: 'warning', title: 't' },
      { ...base, source: 'vendor_b:t', healthy: false },
    ],
  ]
  test.each(rows)('format %s: %j', (format, body, signal) => {
    expect(parseHealthSignal(format, body)).toEqual({ ok: true, value: signal })
  })
})

describe('a signal that is refused', () => {
  const long = 'x'.repeat(256)
  const rows: readonly [format: string | null, body: unknown, part: string][] = [
    [null, null, 'not a JSON object'],
    [null, [], 'not a JSON object'],
    [null, 'healthy', 'not a JSON object'],
    [null, { healthy: true }, 'source must be a text'],
    [null, { healthy: true, source: '' }, 'source must be a text'],
    [null, { healthy: true, source: ' \u00a0' }, 'source must be a text'],
    [null, { healthy: true, source: 'a\nb' }, 'control characters'],
    [null, { healthy: true, source: '\ud800' }, 'control characters'],
    [null, { healthy: true, source: long }, 'must be shorter'],
    [null, { healthy: 'yes', source: 'a' }, 'healthy must be true or false'],
    [null, { source: 'a' }, 'healthy must be true or false'],
    [null, { healthy: true, source: 'a', score: 1.01 }, 'score must be'],
    [null, { healthy: true, source: 'a', score: '1' }, 'score must be'],
    [null, { healthy: true, source: 'a', ttl: 3_601 }, 'from 1 to 3600'],
    [null, { healthy: true, source: 'a', ttl: 0 }, 'from 1 to 3600'],
    [null, { healthy: true, source: 'a', ttl: 1.5 }, 'from 1 to 3600'],
    ['vendor_a', { AlarmName: 'cpu' }, 'NewStateValue must be'],
    ['vendor_a', { NewStateValue: 'OK' }, 'AlarmName must be'],
    ['vendor_a', { AlarmName: long.slice(1), NewStateValue: 'OK' }, 'must be shorter'],
    ['vendor_b', { title: 't' }, 'alert_transition or alert_type'],
    ['vendor_b', { alert_type: 'success' }, 'title must be'],
    ['vendor_c', {}, 'did you mean vendor_a'],
    ['constructor', {}, 'no format "constructor"'],
    ['nonsense', {}, 'no format "nonsense"'],
  ]
  test.each(rows)('format %s: %j', (format, body, part) => {
    const parsed = parseHealthSignal(format, body)
    expect(parsed.ok ? 'taken' : parsed.error).toContain(part)
  })

  test('has its fields only in a prototype', () => {
    const body = Object.create({ source: 'a' }) as object
    expect(parseHealthSignal(null, Object.assign(body, { healthy: true })).ok).toBe(false)
  })
})

const formats = fc.constantFrom(null, ...signalFormats)

/**
 * Properties of any body: it gives a value or a sentence, inside the limits, the same each time.
 */
function complaintAbout(format: string | null, body: unknown): string | undefined {
  const parsed = parseHealthSignal(format, body)
  if (JSON.stringify(parseHealthSignal(format, body)) !== JSON.stringify(parsed))
    return 'it differs'
  if (!parsed.ok)
    return parsed.error === '' || parsed.error.length > 300 ? 'no sentence' : undefined
  const { source, score, ttlSeconds } = parsed.value
  if (source === '' || source.length > signalBodyLimits.sourceLengthMax) return 'the source'
  if (score !== null && !(score >= 0 && score <= 1)) return 'the score'
  return ttlSeconds >= 1 && ttlSeconds <= signalBodyLimits.ttlSecondsMax ? undefined : 'the ttl'
}

describe('any body at all', () => {
  test('is taken inside the limits, or refused with a sentence', () => {
    fc.assert(
      fc.property(formats, fc.jsonValue(), (format, body) => {
        expect(complaintAbout(format, body)).toBeUndefined()
      }),
    )
  })

  test('is judged where it has nearly the right shape, too', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc.constantFrom('OK', 'Recovered', 'success'),
    )
    const anything = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null), fc.jsonValue())
    const body = fc.record(
      {
        source: anything,
        healthy: anything,
        score: anything,
        ttl: anything,
        AlarmName: anything,
        NewStateValue: anything,
        alert_transition: anything,
        alert_type: anything,
        title: anything,
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(formats, body, (format, value) => {
        expect(complaintAbout(format, value)).toBeUndefined()
      }),
      { numRuns: 1_000 },
    )
  })

  const corpus = new URL('../../fuzz/corpus/health-signal/', import.meta.url)
  test.each(readdirSync(corpus))('as collected: %s', (file) => {
    const body: unknown = JSON.parse(readFileSync(new URL(file, corpus), 'utf8'))
    for (const format of [null, ...signalFormats]) {
      expect(complaintAbout(format, body)).toBeUndefined()
    }
  })
})

test('the limits are those of the store', () => {
  const { ttlSecondsDefault, ttlSecondsMax, sourceLengthMax } = healthSignalLimits
  expect(signalBodyLimits).toEqual({ ttlSecondsDefault, ttlSecondsMax, sourceLengthMax })
})
