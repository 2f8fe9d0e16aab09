import { describe, expect, test } from 'vitest'
import { emptyState } from '#integrations/acme/acme-state.ts'
import type { AcmeFailure } from '#integrations/acme/acme-state.ts'
import { pauseMs, renewAtMs, whyNow, wishText } from '#integrations/acme/renewal.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const nowMs = Date.UTC(2026, 10, 30)
const wish = { directory: 'https://ca.test/dir', names: ['a.example.com', 'b.example.com'] }
const certificate = {
  ...{ ...wish, chain: 'chain', key: 'key', notBeforeMs: nowMs, notAfterMs: nowMs + 90 * dayMs },
  ...{ issuedAtMs: nowMs, renewAtMs: nowMs + 60 * dayMs },
}
const failure: AcmeFailure = {
  ...{ code: 'away', message: 'gone', count: 1, atMs: nowMs, nextMs: nowMs + hourMs },
  wish: wishText(wish),
}

describe('a certificate is asked for', () => {
  test.each([
    ['where there is none', {}, nowMs, 'there is none'],
    ['not before two thirds of its time', { certificate }, nowMs + 60 * dayMs - 1, null],
    ['at two thirds of it', { certificate }, nowMs + 60 * dayMs, 'two thirds of its time are over'],
    [
      'at once where the settings have other names',
      { certificate: { ...certificate, names: ['a.example.com'] } },
      nowMs,
      'other names, or another directory',
    ],
    [
      'not for the same names in another order',
      { certificate: { ...certificate, names: wish.names.toReversed() } },
      nowMs,
      null,
    ],
    ['not while the pause after a failure lasts', { failure }, nowMs + hourMs - 1, null],
    ['after the pause', { failure }, nowMs + hourMs, 'there is none'],
    [
      'at once with settings that have not failed yet',
      { failure: { ...failure, wish: 'others' } },
      nowMs,
      'there is none',
    ],
    [
      'in spite of a pause that a clock began that was a day ahead',
      { failure: { ...failure, atMs: nowMs + dayMs, nextMs: nowMs + dayMs + hourMs } },
      nowMs,
      'there is none',
    ],
  ])('%s', (_what, state, atMs, why) => {
    expect(whyNow({ ...emptyState, ...state }, wish, atMs)).toBe(why)
  })
})

test('renewals spread over a twentieth of the time before two thirds of it', () => {
  expect(renewAtMs(certificate, nowMs, 0)).toBe(nowMs + 60 * dayMs)
  expect(renewAtMs(certificate, nowMs, 1)).toBe(nowMs + 55.5 * dayMs)
})

test('a clock that is a month ahead renews after two months all the same', () => {
  const issuedAtMs = nowMs + 30 * dayMs
  expect(renewAtMs(certificate, issuedAtMs, 0) - issuedAtMs).toBe(60 * dayMs)
})

test.each([
  ['doubles', 'away', null, [120_000, 240_000, 480_000]],
  ['waits as long as the CA says', 'away', 7 * hourMs, [7 * hourMs, 7 * hourMs, 7 * hourMs]],
  [
    'waits for an hour where rates are limited',
    'rateLimited',
    null,
    [hourMs, 2 * hourMs, 4 * hourMs],
  ],
  ['obeys the limit', 'rateLimited', 30 * hourMs, [30 * hourMs, 30 * hourMs, 30 * hourMs]],
  ['takes no wait of years', 'rateLimited', 9e12, [7 * dayMs, 7 * dayMs, 7 * dayMs]],
])('the pause after a failure %s', (_what, code, retryAfterMs, pauses) => {
  const said = { code, retryAfterMs }
  expect([1, 2, 3].map((count) => pauseMs(said, count, 0))).toEqual(pauses)
  expect(pauseMs(said, 1, 1)).toBe(Math.ceil(pauses[0]! * 1.1))
})

test('a pause is six hours at most, and a day where rates are limited', () => {
  expect(pauseMs({ code: 'away', retryAfterMs: null }, 1_000, 0)).toBe(6 * hourMs)
  expect(pauseMs({ code: 'rateLimited', retryAfterMs: null }, 1_000, 0)).toBe(24 * hourMs)
})
