import { describe, expect, test } from 'vitest'
import { useLimits } from '#state/ports/object-use.ts'
import type { UseReport } from '#state/ports/object-use.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000

describe.each(persistentAdapters)('the use of objects, in %s', (_name, adapter) => {
  const state = useState(adapter)
  const report = (nowMs: number, more: Partial<UseReport> = {}) =>
    valueOf(
      state().objectUses.report({
        ...{ node: 'a', nowMs, used: [], seen: [], gone: [], changes: new Map(), isLast: false },
        ...more,
      }),
    )
  const read = async (fromMs = 0) => {
    const { nodes, objects, changes } = await valueOf(state().objectUses.read(fromMs))
    return { nodes, objects: Object.fromEntries(objects), changes: Object.fromEntries(changes) }
  }
  const sinceMs = async () => (await read()).nodes.map((one) => one.sinceMs)

  test('objects have when they came and when they were used last, over all nodes', async () => {
    await report(1, { seen: ['name a.', 'name b.'] })
    await report(2, { used: ['name a.', 'member m'], seen: ['name a.'], node: 'b' })
    await report(3, { used: ['name a.'] })
    expect((await read()).objects).toEqual({
      'name a.': { seenMs: 1, usedMs: 3 },
      'name b.': { seenMs: 1, usedMs: null },
      'member m': { seenMs: 2, usedMs: 2 },
    })
    expect((await valueOf(state().objectUses.keys())).toSorted()).toEqual([
      'member m',
      'name a.',
      'name b.',
    ])
  })

  test('is new for an object that was removed and added again', async () => {
    await report(1, { seen: ['name a.'], used: ['name a.'] })
    await report(2, { gone: ['name a.'] })
    await report(3, { seen: ['name a.'] })
    expect((await read()).objects).toEqual({ 'name a.': { seenMs: 3, usedMs: null } })
  })

  test('many objects at once, of nodes that race, are lost in no circle', async () => {
    const keys = Array.from({ length: 1_200 }, (_, i) => `name n${i}.`)
    await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        report(5, { node: `n${i}`, seen: keys, used: i % 2 === 0 ? keys : keys.toReversed() }),
      ),
    )
    expect(Object.keys((await read()).objects)).toHaveLength(keys.length)
  })

  test('a node counts on after a stop, however long it was', async () => {
    await report(10)
    await report(20, { isLast: true })
    await report(20 + 5 * dayMs)
    expect(await sinceMs()).toEqual([10])
  })

  test('a node that was silent without a stop counts anew', async () => {
    await report(10)
    await report(10 + useLimits.silentMsMax)
    expect(await sinceMs()).toEqual([10])
    await report(11 + 2 * useLimits.silentMsMax)
    expect(await sinceMs()).toEqual([11 + 2 * useLimits.silentMsMax])
  })

  test('changes of members: what one node has found at most, in the window', async () => {
    await report(dayMs, { changes: new Map([['m', 5]]) })
    await report(3 * dayMs, { changes: new Map([['m', 2]]) })
    await report(3 * dayMs + hourMs, { changes: new Map([['m', 1]]) })
    await report(3 * dayMs, { node: 'b', changes: new Map(Object.entries({ m: 4, n: 1 })) })
    expect((await read(2 * dayMs)).changes).toEqual({ m: 4, n: 1 })
    expect((await read(dayMs)).changes).toEqual({ m: 8, n: 1 })
    await report((useLimits.changesKeptDays + 2) * dayMs)
    expect((await read()).changes).toEqual({ m: 4, n: 1 })
  })
})
