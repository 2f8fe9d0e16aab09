import { describe, expect, test } from 'vitest'
import { acmeStateLimits, emptyState } from '#integrations/acme/acme-state.ts'
import type { AcmePause } from '#integrations/acme/acme-state.ts'
import { pausesAfterFailure, wishMark } from '#integrations/acme/pauses.ts'
import { chainMark } from '#integrations/acme/renewal-window.ts'
import { renewAtMs, whyNow } from '#integrations/acme/renewal.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const nowMs = Date.UTC(2026, 10, 30)
const wish = { directory: 'https://ca.test/dir', names: ['a.example.com', 'b.example.com'] }
const certificate = {
  ...{ ...wish, chain: 'chain', key: 'key', notBeforeMs: nowMs, notAfterMs: nowMs + 90 * dayMs },
  ...{ issuedAtMs: nowMs, renewAtMs: nowMs + 60 * dayMs },
}
const pause: AcmePause = {
  ...{ wish: wishMark(wish), directory: wish.directory, why: 'failed', count: 1 },
  ...{ atMs: nowMs, nextMs: nowMs + hourMs },
}
const wanted = (days: number) => ({
  certificate,
  renewal: {
    ...{ mark: chainMark(certificate), atMs: nowMs + days * dayMs, nextMs: 0 },
    window: null,
  },
})
const others = Array.from({ length: acmeStateLimits.pausesMax }, (_, i) => ({
  ...pause,
  wish: `${i}`,
}))

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
    ['when the CA says', wanted(30), nowMs + 30 * dayMs, 'the CA says that it is time'],
    ['not before the CA says', wanted(65), nowMs + 65 * dayMs - 1, null],
    [
      'before its last sixth, whatever the CA says',
      wanted(89),
      nowMs + 75 * dayMs,
      'two thirds of its time are over',
    ],
    ['not in its first day, whatever the CA says', wanted(-1), nowMs + dayMs - 1, null],
    [
      'after a day, where the CA says at once',
      wanted(-1),
      nowMs + dayMs,
      'the CA says that it is time',
    ],
    [
      'not by what the CA said of another certificate',
      { ...wanted(30), certificate: { ...certificate, chain: 'other' } },
      nowMs + 30 * dayMs,
      null,
    ],
    ['not while the pause after a failure lasts', { pauses: [pause] }, nowMs + hourMs - 1, null],
    ['after the pause', { pauses: [pause] }, nowMs + hourMs, 'there is none'],
    [
      'at once with settings that have not failed yet',
      { pauses: others.slice(1) },
      nowMs,
      'there is none',
    ],
    [
      'in spite of a pause that a clock began that was a day ahead',
      { pauses: [{ ...pause, atMs: nowMs + dayMs, nextMs: nowMs + dayMs + hourMs }] },
      nowMs,
      'there is none',
    ],
    ['not where more have a pause than can be noted', { pauses: others }, nowMs, null],
    [
      'not for fewer names than it has',
      { certificate: { ...certificate, names: [...wish.names, 'c.example.com'] } },
      nowMs,
      null,
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

/** The pauses after so many failures in a row. */
function pausesOf(code: string, retryAfterMs: number | null, draw: number, count: number) {
  let pauses: readonly AcmePause[] = []
  return Array.from({ length: count }, () => {
    const problem = { code, retryAfterMs }
    const noted = pausesAfterFailure(pauses, wish, problem, nowMs, draw)
    pauses = noted.pauses
    return noted.pause.nextMs - nowMs
  })
}

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
  expect(pausesOf(code, retryAfterMs, 0, 3)).toEqual(pauses)
  expect(pausesOf(code, retryAfterMs, 1, 1)).toEqual([Math.ceil(pauses[0]! * 1.1)])
})

test('a pause is six hours at most, and a day where rates are limited', () => {
  expect(pausesOf('away', null, 0, 100).at(-1)).toBe(6 * hourMs)
  expect(pausesOf('rateLimited', null, 0, 100).at(-1)).toBe(24 * hourMs)
})
