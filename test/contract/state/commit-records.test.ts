import { describe, expect, test } from 'vitest'
import { commitRecordLimits } from '#state/ports/commit-records.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

describe.each(persistentAdapters)('the history of commits in %s', (_name, adapter) => {
  const state = useState(adapter)
  const records = () => state().commitRecords
  const at = (node: string, commit: string, atMs: number) => ({ node, commit, atMs })
  const held = (commit: string, heldAtMs: number, code = 'Unsigned') => ({
    ...{ commit, author: 'Ann <ann@example.org>', committedAtMs: heldAtMs - 5 },
    ...{ code, reason: `${code}.`, heldAtMs },
  })

  test('has the first time at which each node answered from a commit', async () => {
    await valueOf(records().activated([at('b', 'c1', 20), at('a', 'c1', 10), at('a', 'c2', 30)]))
    await valueOf(records().activated([at('a', 'c1', 40)]))
    await valueOf(records().activated([]))
    expect(await valueOf(records().activationsOf(['c1', 'none']))).toEqual([
      at('a', 'c1', 10),
      at('b', 'c1', 20),
    ])
    expect(await valueOf(records().activationsOf([]))).toEqual([])
  })

  test('keeps the newest commits of each node, and forgets nodes that are long gone', async () => {
    const most = commitRecordLimits.activationsPerNodeMax
    const many = Array.from({ length: most }, (_, i) => at('a', `c${i}`, i))
    await valueOf(records().activated([at('b', 'c0', 0)]))
    await valueOf(records().activated(many))
    await valueOf(records().activated([at('a', 'last', most)]))
    expect(await valueOf(records().activationsOf(['c0', 'c1', 'last']))).toEqual([
      at('b', 'c0', 0),
      at('a', 'c1', 1),
      at('a', 'last', most),
    ])
    const muchLater = commitRecordLimits.activationKeptMs + most + 1
    await valueOf(records().activated([at('c', 'c1', muchLater)]))
    expect(await valueOf(records().activationsOf(['c0', 'c1', 'last']))).toEqual([
      at('c', 'c1', muchLater),
    ])
  })

  test('has the newest held commits with their reason, until they pass', async () => {
    await valueOf(records().held([held('c1', 10), held('c2', 20)]))
    await valueOf(records().held([held('c1', 30, 'CompileFailed')]))
    // The first time counts, and the last reason.
    const first = { ...held('c1', 10), code: 'CompileFailed', reason: 'CompileFailed.' }
    expect(await valueOf(records().heldCommits())).toEqual([held('c2', 20), first])
    await valueOf(records().accepted(['c2', 'none']))
    expect(await valueOf(records().heldCommits())).toEqual([first])
    const { heldMax } = commitRecordLimits
    const many = Array.from({ length: heldMax }, (_, i) => held(`m${i}`, 100 + i))
    await valueOf(records().held(many))
    const left = await valueOf(records().heldCommits())
    expect([left.length, left.at(-1)!.commit]).toEqual([heldMax, 'm0'])
  })
})
