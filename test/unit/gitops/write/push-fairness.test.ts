// When a node that wins every race makes room for those that lose.
import { expect, test } from 'vitest'
import { gitLimits } from '#gitops/limits.ts'
import { PushFairness } from '#gitops/write/push-fairness.ts'

const { writeWinsMax, writeWinsAmongRivalsMax, writeRivalsMs, writeRoomMaxMs } = gitLimits
const roundMs = 100

/** Pushes back to back from `fromMs` on until it makes room. @returns pushes, and the room */
function pushUntilRoom(fairness: PushFairness, fromMs: number, roundMs: number) {
  let nowMs = fromMs
  for (let wins = 0; wins < 100; wins++) {
    const yieldMs = fairness.yieldMs(nowMs, 0.5)
    if (yieldMs > 0) return { wins, yieldMs, nowMs }
    fairness.win((nowMs += roundMs), roundMs)
  }
  throw new Error('it never makes room')
}

test('a node that pushes back to back makes room for a fetch and a push of others', () => {
  const fairness = new PushFairness()
  const { wins, yieldMs, nowMs } = pushUntilRoom(fairness, 0, roundMs)
  expect(wins).toBe(writeWinsMax)
  expect(yieldMs).toBeGreaterThan(3 * roundMs)
  expect(pushUntilRoom(fairness, nowMs + yieldMs, roundMs).wins).toBe(writeWinsMax)
})

test('where another one wrote lately it makes room sooner, and later no more', () => {
  const fairness = new PushFairness()
  fairness.meet(0)
  expect(pushUntilRoom(fairness, 0, roundMs).wins).toBe(writeWinsAmongRivalsMax)
  expect(pushUntilRoom(fairness, writeRivalsMs, roundMs).wins).toBe(writeWinsMax)
})

test('pauses between its writes are room enough', () => {
  const fairness = new PushFairness()
  for (let nowMs = 0; nowMs < 100 * 1_000; nowMs += 1_000) {
    expect(fairness.yieldMs(nowMs, 0.5)).toBe(0)
    fairness.win(nowMs, roundMs)
  }
})

test('pushes of seconds make room after a few, though nobody was met', () => {
  expect(pushUntilRoom(new PushFairness(), 0, 3_000).wins).toBe(writeWinsAmongRivalsMax)
})

test('a remote that takes a minute for a push does not make it wait for minutes', () => {
  const { yieldMs } = pushUntilRoom(new PushFairness(), 0, 60_000)
  expect(yieldMs).toBeLessThanOrEqual(writeRoomMaxMs)
})

test('where a fetch takes long, the room is long enough for one', () => {
  const fairness = new PushFairness()
  fairness.meet(0, 20 * roundMs)
  fairness.meet(0)
  expect(pushUntilRoom(fairness, 0, roundMs).yieldMs).toBeGreaterThan(22 * roundMs)
  const { yieldMs } = pushUntilRoom(fairness, writeRivalsMs, roundMs)
  expect(yieldMs, 'when the other one is gone').toBeLessThan(5 * roundMs)
})
