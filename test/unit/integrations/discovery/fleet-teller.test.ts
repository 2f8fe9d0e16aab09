import { expect, test } from 'vitest'
import { FleetTeller } from '#integrations/discovery/fleet-teller.ts'
import { keptLog } from '#test/support/certificates.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const target = { address: '192.0.2.1', port: 80, weight: 1, labels: new Map() }

function world() {
  const time = new FakeTime(Date.UTC(2026, 10, 30))
  const { log, lines } = keptLog()
  const told: (readonly [key: string, targets: number, keptMs: number])[] = []
  const state = { isAway: false }
  const sharing = new FleetTeller({
    store: {
      publish: async (key, text, keptMs) => {
        if (state.isAway) throw new Error('Redis is away.')
        const [, json = ''] = text.split('\n')
        told.push([key, (JSON.parse(json) as { targets: unknown[] }).targets.length, keptMs])
      },
    },
    ...{ sign: () => 'signed', clock: time.clock, log },
  })
  const tell = async (targets: readonly (typeof target)[], intervalMs = 30_000) => {
    sharing.tell('web/', targets, intervalMs)
    await new Promise(setImmediate)
  }
  return { time, lines, told, state, tell }
}

test('a change is told at once, and the same again after a minute', async () => {
  const { time, told, tell } = world()
  const one = [target]
  await tell(one)
  time.pass(59_999)
  await tell(one)
  expect(told).toHaveLength(1)
  time.pass(1)
  await tell(one)
  expect(told).toHaveLength(2)
  await tell([target, target])
  expect(told.map(([, targets]) => targets)).toEqual([1, 1, 2])
})

test('a source that is asked seldom is believed for three of its intervals', async () => {
  const { told, tell } = world()
  await tell([target], 3_600_000)
  await tell([], 30_000)
  expect(told.map(([, , keptMs]) => keptMs - 3_600_000)).toEqual([3 * 3_600_000, 600_000])
})

test('what cannot be told is told with the next answer, and said once', async () => {
  const { told, tell, state, lines } = world()
  state.isAway = true
  const one = [target]
  await tell(one)
  await tell(one)
  expect(lines).toEqual(['warn: discovered members cannot be shared; tried again'])
  state.isAway = false
  await tell(one)
  expect(told).toHaveLength(1)
  expect(lines.at(-1)).toBe('info: discovered members are shared again')
})

test('more than may be shared is said, and not told', async () => {
  const { told, tell, lines } = world()
  const labels = new Map([['a', ['x'.repeat(5_000_000)]]])
  await tell([{ ...target, labels }])
  expect([told.length, lines]).toEqual([0, ['warn: too many members to be shared']])
})
