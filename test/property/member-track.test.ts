// Compares a member's track over a row of probe results with the plain definitions.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemberTrack } from '#health/verdict/member-track.ts'
import type { Outcome } from '#health/probes/probe.ts'
import { healthCheck } from '../unit/health/check.ts'

interface Probe {
  readonly outcome: Outcome
  readonly rttMs: number
}

const probe: fc.Arbitrary<Probe> = fc.record({
  outcome: fc.constantFrom<Outcome>('success', 'success', 'failure', 'timeout', 'local-error'),
  rttMs: fc.integer({ min: 0, max: 400 }),
})

/** The rules of verdict and score, word by word, from the whole history each time. */
function expected(history: readonly Probe[], scoreWindow: number, threshold: number) {
  const results = history.filter(({ outcome }) => outcome !== 'local-error')
  const signs = results.map(({ outcome }) => outcome === 'success')
  const last = signs.slice(-scoreWindow)
  const score =
    scoreWindow === 0 || last.length === 0 ? 1 : last.filter(Boolean).length / last.length
  let passes = 0
  let isWarming = threshold > 0
  for (const sign of signs) {
    if (!isWarming) break
    passes = sign ? passes + 1 : 0
    isWarming = passes < threshold
  }
  const times = results.flatMap(({ outcome, rttMs }) =>
    outcome === 'success' && rttMs > 0 ? [rttMs] : [],
  )
  const five = times.slice(-5)
  const mean = five.length < 3 ? 0 : five.reduce((sum, time) => sum + time, 0) / five.length
  return { healthy: scoreWindow === 0 ? (signs.at(-1) ?? true) : score > 0, score, isWarming, mean }
}

test('score, verdict, gate and round trip time follow from the history', () => {
  const sizes = fc.constantFrom(0, 1, 2, 5, 33, 64)
  fc.assert(
    fc.property(
      fc.array(probe, { maxLength: 120 }),
      sizes,
      fc.integer({ min: 0, max: 6 }),
      (history, scoreWindow, threshold) => {
        const check = healthCheck({ scoreWindow })
        const track = new MemberTrack(check, { healthy: true, isWarming: threshold > 0 })
        const rule = { check, warmupThreshold: threshold, rttThresholdMs: 0 }
        for (const [i, { outcome, rttMs }] of history.entries()) {
          const before = { ...state(track), healthy: track.verdict.healthy }
          const change = track.take({ outcome, rttMs, reason: '' }, rule, i * 10_000)
          const now = expected(history.slice(0, i + 1), scoreWindow, threshold)
          expect(track.verdict.healthy).toBe(now.healthy)
          expect(track.score).toBe(now.score)
          expect(track.warmup.isWarming).toBe(now.isWarming)
          expect(track.rttMs).toBeCloseTo(now.mean, 9)
          expect(change.verdict).toBe(before.healthy !== now.healthy)
          expect(change.gate).toBe(before.isWarming && !now.isWarming)
          // `change.any` tells of every difference, so that a copy that follows it is never stale.
          const after = { ...state(track), healthy: track.verdict.healthy }
          expect(change.any).toBe(JSON.stringify(before) !== JSON.stringify(after))
        }
      },
    ),
  )
})

function state(track: MemberTrack) {
  const { score, rttMs, knowledge, warmup } = track
  return { score, rttMs, knowledge, ...warmup }
}

test('the told round trip time is never further from the mean than the threshold', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 60 }),
      fc.integer({ min: 0, max: 50 }),
      (times, rttThresholdMs) => {
        const check = healthCheck()
        const track = new MemberTrack(check, { healthy: true, isWarming: false })
        const rule = { check, warmupThreshold: 0, rttThresholdMs }
        for (const [i, rttMs] of times.entries()) {
          track.take({ outcome: 'success', rttMs, reason: '' }, rule, i)
          if (i < 2) continue
          const five = times.slice(Math.max(0, i - 4), i + 1)
          const mean = five.reduce((sum, time) => sum + time, 0) / five.length
          const awayMs = Math.abs(track.rttMs - mean)
          expect(awayMs < Math.max(rttThresholdMs, 1e-9)).toBe(true)
        }
      },
    ),
  )
})
