import { describe, expect, test } from 'vitest'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { MemberExtraCell } from '#bundle/format/cells.ts'
import { memberExtraOf, membersWithExtra } from '#bundle/format/member-extra.ts'
import { bundleOf, encode, member, pool, smallModel } from '../../../support/bundle-models.ts'
import { withElement } from '../../../support/damaged-bundle.ts'

const model = {
  ...smallModel,
  pools: [
    pool(1, [
      '2001:db8::1',
      '192.0.2.1',
      member('192.0.2.2', { warmupThreshold: 3 }),
      member('192.0.2.3', { rumUrl: 'https://rum.example.org/', externalSignalMode: 'or' }),
      member('2001:db8::2', { externalSignalMode: 'override' }),
    ]),
    pool(2, ['198.51.100.1'], { minHealthy: 1 }),
  ],
}
const plain = { warmupThreshold: 0, rumUrl: '', externalSignalMode: 'and' }

describe('a rarely set field of a member', () => {
  const bundle = bundleOf(model)

  test('is read back for those who have it, and as the default for the others', () => {
    expect(memberExtraOf(bundle, 0)).toEqual(plain)
    expect(memberExtraOf(bundle, 1)).toEqual({ ...plain, warmupThreshold: 3 })
    expect(memberExtraOf(bundle, 2)).toEqual({
      ...plain,
      rumUrl: 'https://rum.example.org/',
      externalSignalMode: 'or',
    })
    expect(memberExtraOf(bundle, 3)).toEqual(plain)
    expect(memberExtraOf(bundle, 4)).toEqual({ ...plain, externalSignalMode: 'override' })
    expect(memberExtraOf(bundle, 5)).toEqual(plain)
    expect([...membersWithExtra(bundle)].map(([index]) => index)).toEqual([1, 2, 4])
  })

  test('costs nothing where nobody has it', () => {
    expect(bundleOf(smallModel).memberExtra).toHaveLength(0)
    expect([...bundle.poolMinHealthy]).toEqual([0, 1])
  })
})

describe('rows are refused whose digests fit but', () => {
  const { bytes } = encode(model)
  const { Words, Member, WarmupThreshold, RumUrl, Mode } = MemberExtraCell
  const rows: readonly [keyof BundleColumns, index: number, value: number, fault: string][] = [
    ['memberExtra', 2 * Words + Member, 99, 'extra row 2 has no member'],
    ['memberExtra', Words + Member, 1, 'extra rows are not in order'],
    ['memberExtra', WarmupThreshold, 1_001, 'warms up too long'],
    ['memberExtra', WarmupThreshold, 0, 'says nothing'],
    ['memberExtra', Words + RumUrl, 99, 'outside the texts'],
    ['memberExtra', Mode, 3, 'unknown signal mode'],
  ]
  test.each(rows)('%s %i is %i', (name, index, value, fault) => {
    const loaded = loadBundle(withElement(bytes, name, index, value))
    expect(loaded.ok ? 'loaded' : loaded.error.message).toContain(fault)
  })
})
