import { describe, expect, test } from 'vitest'
import type { AcmeRenewal } from '#integrations/acme/acme-state.ts'
import {
  askedAgainMs,
  chainMark,
  drawnIn,
  isAskDue,
  readWindow,
} from '#integrations/acme/renewal-window.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const nowMs = Date.UTC(2026, 10, 30)
const certificate = { chain: 'chain' }
const known: AcmeRenewal = {
  ...{ mark: chainMark(certificate), atMs: nowMs + dayMs, nextMs: nowMs + hourMs },
  window: { startMs: nowMs, endMs: nowMs + 3 * dayMs, why: null },
}

describe('a window', () => {
  const start = '2026-12-30T00:00:00Z'
  const end = '2026-12-30T02:00:00.5+01:00'
  const [startMs, endMs] = [Date.UTC(2026, 11, 30), Date.UTC(2026, 11, 30, 1) + 500]
  test.each([
    ['with two times', { suggestedWindow: { start, end } }, { startMs, endMs, why: null }],
    [
      'with a page',
      { suggestedWindow: { start, end }, explanationURL: 'https://ca.test/1' },
      { startMs, endMs, why: 'https://ca.test/1' },
    ],
    [
      'with a page of another form',
      { suggestedWindow: { start, end }, explanationURL: 'javascript:alert()' },
      { startMs, endMs, why: null },
    ],
    [
      'with a page that would colour a terminal',
      { suggestedWindow: { start, end }, explanationURL: 'https://ca.test/\u001b[31m' },
      { startMs, endMs, why: null },
    ],
    ['that ends before it begins', { suggestedWindow: { start: end, end: start } }, null],
    ['of no time', { suggestedWindow: { start, end: start } }, null],
    ['without an end', { suggestedWindow: { start } }, null],
    ['with a day alone', { suggestedWindow: { start: '2026-12-30', end } }, null],
    ['with numbers', { suggestedWindow: { start: 1, end: 2 } }, null],
    ['in a list', [{ start, end }], null],
    ['that is nothing', null, null],
  ])('%s', (_what, data, window) => {
    expect(readWindow(data)).toEqual(window)
  })
})

test('a moment is drawn over the whole window, and stays while the window does', () => {
  const window = { startMs: nowMs, endMs: nowMs + dayMs, why: null }
  const drawn = [0, 0.5, 1].map((draw) => drawnIn(window, null, draw).atMs! - nowMs)
  expect(drawn).toEqual([0, dayMs / 2, dayMs])
  const before = { ...known, window, atMs: nowMs + 7 }
  const byAnotherClock = { ...window, startMs: nowMs + 999 }
  expect(drawnIn(byAnotherClock, before, 0.5)).toEqual({ atMs: nowMs + 7, window })
  const moved = { ...window, endMs: nowMs + hourMs }
  expect(drawnIn(moved, before, 0.5)).toEqual({ atMs: nowMs + hourMs / 2, window: moved })
})

test.each([
  ['a certificate that was never asked about', null, nowMs, true],
  ['another certificate', { ...known, mark: 'other' }, nowMs, true],
  ['one whose time has not come', known, nowMs + hourMs - 1, false],
  ['one whose time has come', known, nowMs + hourMs, true],
  ['one with a time that a wrong clock noted', known, nowMs - 2 * dayMs, true],
])('the CA is asked about %s: %#', (_what, renewal, atMs, is) => {
  expect(isAskDue(renewal, certificate, atMs)).toBe(is)
})

test.each([
  ['as it says', 2 * hourMs, 2 * hourMs],
  ['after a minute where it says less', 0, 60_000],
  ['after a day where it says more', 9e12, dayMs],
  ['after six hours where it says nothing', null, 6 * hourMs],
])('the CA is asked again %s', (_what, said, wait) => {
  expect(askedAgainMs(said, 6 * hourMs)).toBe(wait)
})
