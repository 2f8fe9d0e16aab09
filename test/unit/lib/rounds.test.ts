// Work in rounds: none at once with another, and none that was asked for is left out.
import { expect, test } from 'vitest'
import { Rounds } from '#lib/rounds.ts'

/** Rounds of which each ends when it is let go. */
function heldRounds() {
  const held: (() => void)[] = []
  const rounds = new Rounds(() => new Promise<void>((resolve) => held.push(resolve)))
  const end = async (): Promise<void> => {
    held.at(-1)!()
    await new Promise(setImmediate)
  }
  return { rounds, begun: () => held.length, end }
}

test('what is asked for during a round leads to one more, never to two at once', async () => {
  const { rounds, begun, end } = heldRounds()
  for (let i = 0; i < 5; i++) rounds.ask()
  expect([begun(), rounds.isUnderWay]).toEqual([1, true])
  await end()
  expect([begun(), rounds.isUnderWay]).toEqual([2, true])
  await end()
  await rounds.settled()
  expect([begun(), rounds.isUnderWay]).toEqual([2, false])
})

test('what is asked for at any moment around the end of a round begins one', async () => {
  for (let moment = 0; moment < 10; moment++) {
    let begun = 0
    const rounds = new Rounds(() => Promise.resolve(void begun++))
    rounds.ask()
    for (let i = 0; i < moment; i++) await Promise.resolve()
    rounds.ask()
    await new Promise(setImmediate)
    expect([moment, begun]).toEqual([moment, 2])
  }
})

test('a round that asks for another one is followed by it, and not joined', async () => {
  let [begun, now, most] = [0, 0, 0]
  const rounds: Rounds = new Rounds(async () => {
    most = Math.max(most, ++now)
    if (++begun < 3) rounds.ask()
    await new Promise(setImmediate)
    now--
  })
  rounds.ask()
  await rounds.settled()
  expect([begun, most, rounds.isUnderWay]).toEqual([3, 1, false])
})

test('no round begins after a stop, which waits for the one under way', async () => {
  const { rounds, begun, end } = heldRounds()
  rounds.ask()
  rounds.ask()
  let isStopped = false
  const stopped = rounds.stop().then(() => (isStopped = true))
  await new Promise(setImmediate)
  expect(isStopped).toBe(false)
  await end()
  await stopped
  rounds.ask()
  expect([begun(), rounds.isStopped, rounds.isUnderWay]).toEqual([1, true, false])
})
