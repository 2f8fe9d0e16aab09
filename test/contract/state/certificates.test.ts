import { describe, expect, test } from 'vitest'
import { certificateLimits } from '#state/ports/certificates.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

describe.each(persistentAdapters)('the certificate in %s', (_name, adapter) => {
  const state = useState(adapter)
  const store = () => state().certificates
  const codeOf = async (version: number, sealed: string) => {
    const done = await store().swap(version, sealed, 5_000)
    return done.ok ? done.value : done.error.code
  }

  test('is read back as it was stored last', async () => {
    const empty = await valueOf(store().load())
    expect(empty.stored).toBeNull()
    expect(Math.abs(empty.nowMs - Date.now())).toBeLessThan(60_000)
    const first = await valueOf(store().swap(0, 'v1.one', 5_000))
    const sealed = 'v1.'.padEnd(certificateLimits.sealedMax, 'x')
    const second = await valueOf(store().swap(first, sealed, 6_000))
    expect(second).toBeGreaterThan(first)
    const { stored } = await valueOf(store().load())
    expect(stored).toEqual({ version: second, sealed })
  })

  test('one of the nodes that begin at once is first', async () => {
    const tries = Array.from({ length: 6 }, (_, i) => codeOf(0, `v1.${i}`))
    expect((await Promise.all(tries)).toSorted()).toEqual([
      1,
      ...Array<string>(5).fill('changed-meanwhile'),
    ])
    const again = [codeOf(1, 'v1.a'), codeOf(1, 'v1.b')]
    expect((await Promise.all(again)).toSorted()).toEqual([2, 'changed-meanwhile'])
    expect(await codeOf(0, 'v1.c')).toBe('changed-meanwhile')
  })
})
