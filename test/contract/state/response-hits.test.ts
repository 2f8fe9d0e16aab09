import { describe, expect, test } from 'vitest'
import { responseHitLimits } from '#state/ports/response-hits.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

describe.each(persistentAdapters)('hits of response rules in %s', (_name, adapter) => {
  const state = useState(adapter)
  const add = (id: string, hits: Readonly<Record<string, number>>, nowMs = 1) =>
    state().responseHits.add({ id, nowMs, hits: new Map(Object.entries(hits)) })
  const totals = async () => Object.fromEntries(await valueOf(state().responseHits.totals()))

  test('add up over all nodes, and a batch counts once', async () => {
    expect(await totals()).toEqual({})
    await valueOf(add('b1', { a: 2 ** 40, b: 1 }))
    await valueOf(add('b1', { a: 2 ** 40, b: 1 }))
    await valueOf(add('b2', { b: 2, c: 3 }))
    expect(await totals()).toEqual({ a: 2 ** 40, b: 3, c: 3 })
  })

  test('are lost in no race of nodes that add the same rules', async () => {
    const rules = Array.from({ length: 600 }, (_, i) => `r${i}`)
    const batches = Array.from({ length: 8 }, (_, i) => {
      const order = i % 2 === 0 ? rules : rules.toReversed()
      return { id: `b${i}`, nowMs: 1, hits: new Map(order.map((rule) => [rule, 1])) }
    })
    await Promise.all(batches.map((batch) => valueOf(state().responseHits.add(batch))))
    expect(Object.entries(await totals())).toEqual(
      expect.arrayContaining(rules.map((rule) => [rule, 8])),
    )
  })

  test('go with their rules, and after a time in which nobody hit them', async () => {
    await valueOf(add('b1', { a: 1, b: 1, old: 1 }))
    await valueOf(state().responseHits.forget(['a', 'none']))
    expect(await totals()).toEqual({ b: 1, old: 1 })
    await valueOf(state().responseHits.forget([]))
    await valueOf(add('b2', { b: 1 }, responseHitLimits.countKeptMs + 2))
    expect(await totals()).toEqual({ b: 2 })
  })
})
