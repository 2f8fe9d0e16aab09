// The settings of telemetry: headers, and what does not go together.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { faultsOfTelemetry, otlpHeadersIn, tracesUrlOf } from '#settings/sections/telemetry.ts'
import { laneCount } from '#test/support/lane.ts'
import { testSeed } from '#test/support/random.ts'

describe('headers', () => {
  test.each([
    ['', {}],
    ['api-key=k1', { 'api-key': 'k1' }],
    [' Api-Key = a b ,x=%E4%B8', 'entry 2, x, has a value that is not ASCII text, percent-encoded'],
    ['a=1=2, b=%2C%20c,', { a: '1=2', b: ', c' }],
    ['a=1,a=2', 'entry 2 sets a once more'],
    ['Host=x', 'entry 1 sets host, which gslbd sets itself'],
    ['secret', 'entry 1 is not NAME=VALUE'],
    ['a b=1', 'entry 1 is not NAME=VALUE'],
    ['a=%0d%0ax: y', 'entry 1, a, has a value that is not ASCII text, percent-encoded'],
    ['__proto__=1', { ['__proto__']: '1' }],
  ])('%j', (written, read) => {
    const headers = otlpHeadersIn(written)
    expect(headers.ok ? headers.value : headers.error).toEqual(read)
  })

  test('what was written is read, and whatever is read is a header', () => {
    const name = fc.stringMatching(/^x-[a-z0-9-]{1,20}$/)
    const value = fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/)
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 8 }), (headers) => {
        const pairs = Object.entries(headers).map(
          ([key, one]) => `${key}=${encodeURIComponent(one)}`,
        )
        const read = otlpHeadersIn(pairs.join(','))
        expect(read.ok && { ...read.value }).toEqual({ ...headers })
      }),
      { seed: testSeed, numRuns: laneCount(2_000, 100) },
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (written) => {
        const read = otlpHeadersIn(written)
        if (read.ok) expect(() => new Headers(Object.entries(read.value))).not.toThrow()
      }),
      { seed: testSeed, numRuns: laneCount(2_000, 100) },
    )
  })
})

const otlp = (url: string, headers = '') => ({ otlp: { url, headers, timeoutMs: 10_000 } })

test.each([
  ['', '', ''],
  ['http://127.0.0.1:4318', 'a=b', ''],
  ['http://[::1]:4318', 'a=b', ''],
  ['http://collector:4318', '', ''],
  ['https://collector', 'a=b', ''],
  ['http://collector:4318', 'a=b', 'telemetry.otlp.headers would be readable on the way'],
  ['https://collector', 'a', 'telemetry.otlp.headers: entry 1 is not NAME=VALUE'],
  ['http://a:b:c', '', 'telemetry.otlp.url is no address'],
])('%j with %j: %j', (url, headers, fault) => {
  const faults = faultsOfTelemetry(otlp(url, headers))
  expect(faults).toHaveLength(fault === '' ? 0 : 1)
  expect(faults.join()).toContain(fault)
})

test.each([
  ['http://a:4318', 'http://a:4318/v1/traces'],
  ['http://a:4318/', 'http://a:4318/v1/traces'],
  ['https://a/otlp/', 'https://a/otlp/v1/traces'],
  ['https://a/otlp/v1/traces', 'https://a/otlp/v1/traces'],
])('%s is asked at %s', (url, asked) => {
  expect(tracesUrlOf({ url })).toBe(asked)
})
