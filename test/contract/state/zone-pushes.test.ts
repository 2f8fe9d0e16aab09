import { describe, expect, test } from 'vitest'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

describe.each(persistentAdapters)('zone pushes in %s', (_name, adapter) => {
  const state = useState(adapter)
  const read = async (target: string) => valueOf(state().zonePushes.read(target))
  const replace = async (seen: number, text: string) =>
    valueOf(state().zonePushes.replace('aws', seen, text))
  const change = async (target: string, removed: string[], added: string[]) =>
    valueOf(state().zonePushes.change(target, removed, added))
  const records = async (target: string) =>
    [...(await valueOf(state().zonePushes.records(target)))].sort()

  test('the state is replaced by who has seen it as it is, and by nobody else', async () => {
    expect(await read('aws')).toBeNull()
    expect(await replace(1, 'x')).toBe(false)
    expect(await replace(0, '{"é":"\'"}')).toBe(true)
    expect(await replace(0, 'y')).toBe(false)
    expect(await read('aws')).toEqual({ revision: 1, state: '{"é":"\'"}' })
    const both = await Promise.all([replace(1, 'a'), replace(1, 'b')])
    expect(both.toSorted()).toEqual([false, true])
    expect(await read('other')).toBeNull()
  })

  test('records of a target are added and taken away, each once, in any number', async () => {
    const many = Array.from({ length: 2_500 }, (_, i) => `${i}`.padStart(32, '0'))
    await change('aws', [], many)
    await change('aws', many.slice(1_200), ['f'.repeat(32), many[0]!])
    await change('lab', ['none'], [many[0]!])
    expect(await records('aws')).toEqual([...many.slice(0, 1_200), 'f'.repeat(32)])
    expect(await records('lab')).toEqual([many[0]])
    expect(await records('other')).toEqual([])
  })
})
