import { describe, expect, test } from 'vitest'
import { domainLimits } from '#state/ports/domains.ts'
import type { DomainResult } from '#state/ports/domains.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

const found: DomainResult = {
  ...{ domain: 'a.example.', nsOk: true, dsOk: false, dsExpected: false, error: 'é\n"\'' },
  checks: [
    {
      ...{ role: 'parent', server: 'ns.example.', address: '192.0.2.1', ns: ['ns1.example.'] },
      ...{ ds: ['1 13 2 ABCD'], code: 'ds-unexpected', error: 'a sentence', atMs: 2 ** 45 },
    },
  ],
  verifiedAtMs: 2 ** 45,
}

describe.each(persistentAdapters)('results of delegated domains in %s', (_name, adapter) => {
  const state = useState(adapter)
  const results = async (...uids: string[]) =>
    Object.fromEntries(await valueOf(state().domains.results(uids)))
  const claim = async (uids: readonly string[], nowMs: number, domain = 'a.example.') => {
    const times = { nowMs, dueBeforeMs: nowMs - 1_000, untilMs: nowMs + 100 }
    const candidates = uids.map((uid) => ({ uid, domain }))
    return [...(await valueOf(state().domains.claim(candidates, times)))].toSorted()
  }

  test('are read back as they were stored, and go with their domain', async () => {
    expect(await results('d1')).toEqual({})
    await valueOf(state().domains.put('d1', found))
    await valueOf(state().domains.put('d2', { ...found, nsOk: false }))
    expect(await results('d1', 'd2', 'none')).toEqual({ d1: found, d2: { ...found, nsOk: false } })
    await valueOf(state().domains.forget(['d1', 'none']))
    expect(Object.keys(await results('d1', 'd2'))).toEqual(['d2'])
  })

  test('a newer one takes the place of an older one, and never the other way', async () => {
    const at = (verifiedAtMs: number, error: string) => ({ ...found, verifiedAtMs, error })
    await valueOf(state().domains.put('d1', at(10, 'first')))
    await valueOf(state().domains.put('d1', at(20, 'second')))
    await valueOf(state().domains.put('d1', at(15, 'late')))
    expect((await results('d1'))['d1']?.error).toBe('second')
  })

  test('are claimed by one of several nodes, until its time is over', async () => {
    const uids = Array.from({ length: 40 }, (_, i) => `d${i}`)
    const nodes = await Promise.all(Array.from({ length: 6 }, () => claim(uids, 5_000)))
    expect(nodes.flat().toSorted()).toEqual(uids.toSorted())
    expect(await claim(['d1'], 5_099)).toEqual([])
    // The node that claimed it is gone.
    expect(await claim(['d1'], 5_100)).toEqual(['d1'])
    expect(await results('d1')).toEqual({})
  })

  test('a domain is due when its check is old, or when it is another one now', async () => {
    await valueOf(state().domains.put('d1', { ...found, verifiedAtMs: 5_000 }))
    expect(await claim(['d1'], 5_999)).toEqual([])
    expect(await claim(['d1'], 5_999, 'b.example.')).toEqual(['d1'])
    await valueOf(state().domains.put('d2', { ...found, verifiedAtMs: 5_000 }))
    expect(await claim(['d2'], 6_000)).toEqual(['d2'])
    await valueOf(state().domains.put('d2', { ...found, verifiedAtMs: 6_001 }))
    expect(await claim(['d2'], 6_100)).toEqual([])
    expect(await claim([], 7_000)).toEqual([])
  })

  test('are removed when they are not renewed', async () => {
    await valueOf(state().domains.put('old', { ...found, verifiedAtMs: 1 }))
    await valueOf(state().domains.put('d1', { ...found, verifiedAtMs: domainLimits.keptMs + 2 }))
    expect(Object.keys(await results('old', 'd1'))).toEqual(['d1'])
  })
})
