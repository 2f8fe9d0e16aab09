// What is stored of a certificate as text: whatever is printed is read back, and whatever is read
// does not throw.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printState, readState } from '#integrations/acme/acme-state.ts'

const time = fc.integer({ min: -1, max: 2 ** 45 })
const url = fc.webUrl()
const key = fc.constant('-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n')
const certificate = {
  certificate: fc.option(
    fc.record({
      ...{ directory: url, key, chain: fc.string(), names: fc.array(fc.domain()) },
      ...{ notBeforeMs: time, notAfterMs: time, issuedAtMs: time, renewAtMs: time },
    }),
  ),
  failure: fc.option(
    fc.record({
      ...{ code: fc.string({ maxLength: 60 }), message: fc.string(), count: fc.nat() },
      ...{ atMs: time, nextMs: time },
    }),
  ),
  beforeEndsMs: fc.option(time),
  renewal: fc.option(
    fc.record({
      ...{ mark: fc.string({ maxLength: 64 }), atMs: fc.option(time), nextMs: time },
      window: fc.option(
        fc.record({ startMs: time, endMs: time, why: fc.option(fc.string({ maxLength: 500 })) }),
      ),
    }),
  ),
}
const entry = fc.constantFrom('a', 'inner', 'constructor', 'x.y')
const state = fc.record({
  ...certificate,
  account: fc.option(fc.record({ directory: url, key })),
  holder: fc.option(fc.string({ maxLength: 300 })),
  pauses: fc.array(
    fc.record({
      ...{ wish: fc.string({ maxLength: 64 }), directory: url, count: fc.nat() },
      ...{ why: fc.constantFrom('failed', 'limited', 'replaced'), atMs: time, nextMs: time },
    }),
    { maxLength: 16 },
  ),
  challenges: fc.array(
    fc.record({ host: fc.domain(), token: fc.string({ maxLength: 90 }), answer: fc.string() }),
  ),
  more: fc.dictionary(entry, fc.record(certificate), { noNullPrototype: true }),
})

test('a printed state is read back', () => {
  fc.assert(
    fc.property(state, (one) => {
      expect(readState(printState(one))).toEqual({ ok: true, value: one })
    }),
    { numRuns: 200 },
  )
})

test('a text that was changed anywhere is refused or read, and never throws', () => {
  const [one] = fc.sample(state, { numRuns: 1, seed: 5 })
  const text = printState(one!)
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 4 }), (at, change) => {
      const read = readState(text.slice(0, at) + change + text.slice(at + change.length))
      if (!read.ok) expect(read.error).not.toContain('SECRET')
    }),
    { numRuns: 300 },
  )
})

const corpus = 'test/fuzz/corpus/acme-state'
test.each(readdirSync(corpus))('%s is refused', (file) => {
  expect(readState(readFileSync(`${corpus}/${file}`, 'utf8')).ok).toBe(false)
})
