// Tests the faults of nodes as a fleet: silent, behind, split, refusing, with a wrong clock.
import { expect, test } from 'vitest'
import { DriftWatch, driftLimits } from '#fleet/drift.ts'
import { createNodeInventory, inventoryLimits, missingAfterMs } from '#fleet/node-inventory.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { reportOf } from '#test/support/node-reports.ts'

const publisher = 'cd'.repeat(8)
const current = 'a'.repeat(64)

function scene() {
  const time = new FakeTime(1_000_000)
  const inventory = createNodeInventory(time.clock)
  let given = { publisher, seq: 7, digest: 'd'.repeat(64) }
  const watch = new DriftWatch(time.clock, () => given)
  const tell = (name: string, parts: Partial<NodeReport> = {}): void => {
    inventory.report(reportOf(name, { sentAtMs: time.clock.nowMs(), ...parts }))
  }
  const drift = (): readonly string[] =>
    watch
      .look(inventory.all())
      .map(({ report: { name }, drift: kinds }) => [name, ...kinds].join(' '))
  const give = (seq: number, digest: string): void => void (given = { publisher, seq, digest })
  return { time, tell, drift, give }
}

test('nodes that serve what is given have no drift', () => {
  const { tell, drift } = scene()
  tell('a')
  tell('b', { seq: 7 })
  expect(drift()).toEqual(['a', 'b'])
})

test('a node is behind when a change is older than a change takes', () => {
  const { time, tell, drift, give } = scene()
  tell('a')
  give(8, current)
  expect(drift()).toEqual(['a'])
  time.pass(driftLimits.behindMs + 1)
  tell('a')
  tell('b', { seq: 8, digest: current })
  // Each publisher counts for itself: 3 of another one is not older.
  tell('c', { seq: 3, publisher: 'ef'.repeat(8) })
  expect(drift()).toEqual(['a behind', 'b', 'c'])
})

test('a control node is not behind what waves have given', () => {
  const { time, tell, drift, give } = scene()
  tell('a', { role: 'control' })
  give(1_000_000_009, current)
  drift()
  time.pass(driftLimits.behindMs + 1)
  tell('a', { role: 'control' })
  expect(drift()).toEqual(['a'])
})

test('a node is not behind when it has what is given under an older seq', () => {
  const { time, tell, drift, give } = scene()
  tell('a')
  drift()
  give(9, 'd'.repeat(64))
  time.pass(driftLimits.behindMs + 1)
  tell('a')
  expect(drift()).toEqual(['a'])
})

test('two digests under one seq of one publisher are told of both nodes', () => {
  const { tell, drift } = scene()
  tell('a', { seq: 9 })
  tell('b', { seq: 9, digest: current })
  tell('c', { seq: 9, digest: current, publisher: 'ef'.repeat(8) })
  tell('d', { seq: 0, digest: null })
  expect(drift()).toEqual(['a split-seq', 'b split-seq', 'c', 'd'])
})

test.each([
  ['a second', { a: 1_000 }, ['a', 'self']],
  ['more, ahead', { a: 1_001 }, ['a clock', 'self']],
  ['more, behind', { a: -1_001 }, ['a clock', 'self']],
  ['of one that is not the others', { a: 0, b: -600_000 }, ['a', 'b clock', 'self']],
  ['here: it is not that of all others', { a: -6e5, b: -6e5 }, ['a', 'b', 'self clock']],
])('a clock that is off by %s', (_how, offsetsMs: Record<string, number>, expected) => {
  const { time, tell, drift } = scene()
  for (const [name, offMs] of Object.entries({ ...offsetsMs, self: 0 }))
    tell(name, { sentAtMs: time.clock.nowMs() + offMs })
  expect(drift()).toEqual(expected)
})

/** Two control nodes, the first with its clock off, and nodes that pull from each. */
async function clocksBy(offMs: number, pulls: readonly [number, number]) {
  const time = new FakeTime(1_000_000_000)
  const words = new Map<string, { readonly key: string; text: string; atMs: number }>()
  const shared = {
    tell: async (word: { key: string; text: string; atMs: number }) => words.set(word.key, word),
    list: async () => [...words.values()],
  }
  const controls = ([offMs, 0] as const).map((off, at) => {
    const clock = { ...time.clock, nowMs: () => time.clock.nowMs() + off }
    const inventory = createNodeInventory(clock, shared)
    const watch = new DriftWatch(clock, () => undefined)
    const report = () => {
      const sentAtMs = clock.nowMs()
      inventory.report(reportOf(`control-${at}`, { role: 'control', sentAtMs }))
      for (let i = 0; i < pulls[at]!; i++) {
        const own = reportOf(`pulls-${at}${i}`, { sentAtMs: time.clock.nowMs() })
        inventory.report(own, own)
      }
    }
    const seen = () =>
      watch
        .look(inventory.all())
        .flatMap(({ report: { name }, drift }) => (drift.includes('clock') ? [name] : []))
    return { inventory, report, seen }
  })
  for (let round = 0; round < 4; round++) {
    for (const { report } of controls) report()
    time.pass(2_500)
    for (const { inventory } of controls) await inventory.refresh()
    time.pass(2_500)
  }
  return controls.map(({ seen }) => seen())
}

test.each([
  [10_000, [3, 0]],
  [10_000, [0, 3]],
  [10_000, [2, 2]],
  [10_000, [1, 0]],
  [-10_000, [3, 0]],
  [-10_000, [0, 3]],
  [-10_000, [2, 2]],
  [-600_000, [0, 1]],
] as const)(
  'a control node that is off by %i ms is told by both, and alone, with %j nodes',
  async (offMs, pulls) => {
    expect(await clocksBy(offMs, pulls)).toEqual([['control-0'], ['control-0']])
    expect(await clocksBy(0, pulls)).toEqual([[], []])
  },
)

test('a node that refuses, one that is silent and two of one name are told', () => {
  const { time, tell, drift } = scene()
  tell('silent')
  time.pass(inventoryLimits.missingMs + 1)
  tell('refuses', { isRefusing: true })
  tell('twin', { instance: '1'.repeat(16) })
  tell('twin', { instance: '2'.repeat(16) })
  time.pass(1)
  tell('twin', { instance: '1'.repeat(16) })
  expect(drift()).toEqual([
    'refuses refusing',
    'silent missing',
    'twin name-taken',
    'twin name-taken',
  ])
})

test.each([
  ['with Redis', 5_000, 20_000],
  ['without', 11_000, 30_000],
])('a node that says when it tells again is missing soon: %s', (_how, againMs, mostMs) => {
  const { time, tell, drift } = scene()
  tell('a', { againMs })
  time.pass(missingAfterMs({ againMs }))
  expect(drift()).toEqual(['a'])
  // The one who looks does so every five seconds.
  expect(missingAfterMs({ againMs }) + (againMs === 5_000 ? 5_000 : 0)).toBeLessThanOrEqual(mostMs)
  time.pass(1)
  expect(drift()).toEqual(['a missing'])
})

test('nobody is missed for the time in which the store of the control nodes was away', async () => {
  const time = new FakeTime(1_000_000)
  const { clock } = time
  const told: { readonly key: string; readonly text: string; readonly atMs: number }[] = []
  let isAway = false
  const shared = {
    tell: async () => undefined,
    list: async () => (isAway ? undefined : told),
  }
  const inventory = createNodeInventory(clock, shared)
  const missing = async (): Promise<string> => {
    await inventory.refresh()
    return inventory
      .all()
      .filter(({ isMissing }) => isMissing)
      .map(({ report: { name } }) => name)
      .join()
  }
  const report = (name: string) => reportOf(name, { sentAtMs: clock.nowMs() })
  const tellStore = (name: string): void =>
    void told.push({ key: name, text: JSON.stringify(report(name)), atMs: clock.nowMs() })
  tellStore('dead')
  await missing()
  time.pass(inventoryLimits.missingMs + 1)
  tellStore('far')
  inventory.report(report('near'))
  expect(await missing()).toBe('dead')
  expect(inventory.heardMs()).toBe(Infinity)
  isAway = true
  expect(await missing(), 'it is not back with that').toBe('dead')
  expect(inventory.heardMs()).toBe(0)
  time.pass(inventoryLimits.missingMs + 1)
  // The one that asks here is heard, or not, whatever the store does.
  expect(await missing()).toBe('dead,near')
  isAway = false
  expect(await missing()).toBe('dead,near')
  time.pass(inventoryLimits.missingMs + 1)
  expect(await missing()).toBe('dead,far,near')
  tellStore('dead')
  expect(await missing(), 'until it is heard').toBe('far,near')
})
