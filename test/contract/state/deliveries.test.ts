import { describe, expect, test } from 'vitest'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

describe.each(persistentAdapters)('the state of a delivery in %s', (_name, adapter) => {
  const state = useState(adapter)
  const read = async (channel = 'main') => valueOf(state().deliveries.read(channel))
  const replace = async (seen: number, decider: string, text: string, channel = 'main') =>
    valueOf(state().deliveries.replace(channel, seen, { decider, state: text }))

  test('is replaced by who has seen it as it is, and by nobody else', async () => {
    expect(await read()).toBeNull()
    expect(await replace(1, 'c1', 'x')).toBe(false)
    expect(await replace(0, 'c1', '{"é":"\'"}')).toBe(true)
    expect(await replace(0, 'c2', 'y')).toBe(false)
    expect(await read()).toEqual({ revision: 1, decider: 'c1', state: '{"é":"\'"}' })
    const both = await Promise.all([replace(1, 'c1', 'a'), replace(1, 'c2', 'b')])
    expect(both.toSorted()).toEqual([false, true])
    expect((await read())?.revision).toBe(2)
    expect(await read('other')).toBeNull()
  })
})
