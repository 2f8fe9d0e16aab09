// When rounds come, what is counted as drift, and what a failure costs.
import { expect, test } from 'vitest'
import { Reconciler, reconcilerLimits } from '#integrations/redirects/reconciler.ts'
import { pushedOf } from '#integrations/redirects/rule.ts'
import type { PushedRedirect } from '#integrations/redirects/rule.ts'
import { changesOf } from '#integrations/redirects/target.ts'
import { err, ok } from '#lib/result.ts'
import { redirect } from '#test/support/redirects.ts'

const many = (count: number) =>
  pushedOf(Array.from({ length: count }, (_, i) => redirect(i, `h${i}.test`, 'http://n.test')))

function scene() {
  const there = new Map<string, PushedRedirect>()
  const world = { wanted: undefined as readonly PushedRedirect[] | undefined, fault: '', nowMs: 0 }
  let rounds = 0
  const lines: string[] = []
  const note = (_fields: object, line: string): void => void lines.push(line)
  const reconciler = new Reconciler({
    target: {
      name: 'a server',
      look: async (wanted) => {
        rounds++
        if (world.fault !== '') return err(world.fault)
        const changes = changesOf(wanted, there, (one, found) => one === found)
        const apply = async () => {
          there.clear()
          for (const one of wanted) there.set(one.mark, one)
          return ok(null)
        }
        return ok({ changes, skipped: [], apply })
      },
    },
    wanted: () => world.wanted,
    intervalMs: 60_000,
    clock: { nowMs: () => world.nowMs, monotonicMs: () => world.nowMs },
    log: { info: note, warn: note, error: note },
  })
  const tick = async (laterMs = 0): Promise<void> => {
    world.nowMs += laterMs
    reconciler.tick()
    await reconciler.settled()
  }
  return { there, world, reconciler, tick, lines, rounds: () => rounds }
}

test('a change is written at once; the server is looked at again after the interval', async () => {
  const { there, world, reconciler, tick, rounds } = scene()
  await tick()
  expect([rounds(), reconciler.status().isUp]).toEqual([0, null])
  world.wanted = many(2)
  reconciler.changed()
  await reconciler.settled()
  expect([there.size, rounds()]).toEqual([2, 1])
  await tick(59_999)
  expect(rounds()).toBe(1)
  await tick(1)
  expect(rounds()).toBe(2)
  expect(reconciler.status()).toEqual({
    ...{ target: 'a server', isUp: true, rules: 2, drift: 0, mendedLately: 0, fault: '' },
  })
})

test('a foreign change is mended and counted; our own is not', async () => {
  const { there, world, reconciler, tick, lines } = scene()
  world.wanted = many(3)
  await tick()
  there.delete(world.wanted[0]!.mark)
  await tick(60_000)
  expect([there.size, reconciler.status().drift]).toEqual([3, 1])
  world.wanted = many(5)
  reconciler.changed()
  await reconciler.settled()
  expect([there.size, reconciler.status().drift]).toEqual([5, 1])
  expect(lines).toContain('redirects were changed there by somebody else, and are mended')
})

test('rounds that mended something are counted for an hour', async () => {
  const { there, world, reconciler, tick } = scene()
  world.wanted = many(3)
  await tick()
  for (let i = 0; i < 3; i++) {
    for (const { mark } of world.wanted.slice(0, 2)) there.delete(mark)
    await tick(60_000)
  }
  expect(reconciler.status()).toMatchObject({ drift: 6, mendedLately: 3 })
  await tick(reconcilerLimits.mendedWithinMs - 60_000)
  expect(reconciler.status().mendedLately).toBe(1)
  await tick(60_000)
  expect(reconciler.status()).toMatchObject({ drift: 6, mendedLately: 0 })
})

test('a failure is tried again soon and told once; what was missed is then there', async () => {
  const { there, world, reconciler, tick, lines, rounds } = scene()
  world.fault = 'it is away'
  world.wanted = many(3)
  await tick()
  expect(reconciler.status()).toMatchObject({ isUp: false, drift: 0, fault: 'it is away' })
  await tick(reconcilerLimits.retryMs - 1)
  expect(rounds()).toBe(1)
  await tick(1)
  await tick(reconcilerLimits.retryMs)
  expect([rounds(), lines]).toEqual([3, ['redirects are not written there yet']])
  world.fault = ''
  await tick(reconcilerLimits.retryMs)
  expect([there.size, lines.at(-1)]).toEqual([3, 'redirects are written there again'])
  expect(reconciler.status().fault).toBe('')
})

test('a change during a round is written by the next one; after a stop there is none', async () => {
  const { there, world, reconciler, rounds } = scene()
  world.wanted = many(1)
  reconciler.changed()
  world.wanted = many(4)
  reconciler.changed()
  await reconciler.settled()
  expect([there.size, rounds()]).toEqual([4, 2])
  await reconciler.stop()
  world.wanted = many(1)
  reconciler.changed()
  await reconciler.settled()
  expect(there.size).toBe(4)
})
