// Response rules in a bundle: what comes back, and what the loader refuses.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { ResponseCell } from '#bundle/format/cells.ts'
import { ResponseBits, responseRuleAt } from '#bundle/format/response-rules.ts'
import { bundleOf, encode, smallModel } from '../../../support/bundle-models.ts'
import { withElement } from '../../../support/damaged-bundle.ts'
import { arbitraryRules, rule } from '../../../support/response-rules.ts'

const byUid = (a: ResponseRuleModel, b: ResponseRuleModel): number => (a.uid < b.uid ? -1 : 1)

test('rules come back from the bundle, in the order of their uids', () => {
  fc.assert(
    fc.property(arbitraryRules, (responseRules) => {
      const bundle = bundleOf({ ...smallModel, responseRules })
      const { counts, responseIndexMask } = bundle
      const found = Array.from({ length: counts.responseRules }, (_, i) =>
        responseRuleAt(bundle, i),
      )
      expect(found).toEqual(responseRules.toSorted(byUid))
      expect(responseIndexMask >= 0).toBe(responseRules.length > 0)
    }),
  )
})

test('the order of the rules in the model does not matter', () => {
  fc.assert(
    fc.property(arbitraryRules, (responseRules) => {
      const other = encode({ ...smallModel, responseRules: responseRules.toReversed() })
      expect(other.digest).toBe(encode({ ...smallModel, responseRules }).digest)
    }),
  )
})

test('ten thousand rules are in the index, each near its place', () => {
  const responseRules = Array.from({ length: 10_000 }, (_, i) =>
    rule(i, i % 2 === 0 ? 'exact' : 'domain', `h${i >> 1}.bad.example.`),
  )
  expect(bundleOf({ ...smallModel, responseRules }).counts.responseRules).toBe(10_000)
})

test('two rules of one kind for one name are a mistake of the compiler', () => {
  const twice = [rule(1, 'exact', 'a.example.'), rule(2, 'exact', 'a.example.')]
  expect(() => encode({ ...smallModel, responseRules: twice })).toThrow('there is one exact rule')
})

describe('columns are refused whose digests fit but', () => {
  const { bytes } = encode({
    ...smallModel,
    responseRules: [
      rule(1, 'exact', 'a.example.'),
      rule(2, 'domain', 'b.example.', { action: 'cname', target: 'c.example.' }),
    ],
  })
  const bitsOf = (row: number): number => row * ResponseCell.Words + ResponseCell.Bits
  const cell = (row: number, at: number): number => row * ResponseCell.Words + at
  const trigger = 'a.example.'.length + 1
  const rows: readonly [keyof BundleColumns, index: number, value: number, fault: string][] = [
    ['responseRow', cell(0, ResponseCell.Trigger), 2 ** 31, 'rule 0 has no trigger'],
    ['responseRow', cell(0, ResponseCell.Trigger), 2 ** 32 - 1, 'rule 0 has no trigger'],
    ['responseRow', cell(0, ResponseCell.Trigger), 1, 'rule 0 has no trigger'],
    ['responseRow', bitsOf(0), 0, 'rule 0 has no trigger'],
    ['responseRow', bitsOf(0), trigger - 1, 'rule 0 has no trigger'],
    ['responseRow', bitsOf(0), trigger | (3 << ResponseBits.ActionShift), 'no such action'],
    ['responseRow', bitsOf(0), 2 ** 32 - 1, 'no such action'],
    ['responseRow', bitsOf(0), trigger | (1 << ResponseBits.EndShift), 'no such action'],
    ['responseRow', bitsOf(0), trigger | (2 << ResponseBits.ActionShift), 'rule 0 has no target'],
    ['responseRow', cell(1, ResponseCell.Target), 2 ** 31, 'rule 1 has no target'],
    ['responseRow', cell(0, ResponseCell.Source), 2 ** 32 - 1, 'rule 0 has no source'],
    ['responseNames', 0, 64, 'rule 0 has no trigger'],
    ['responseNames', 0, 0, 'rule 0 has no trigger'],
    ['responseNames', 1, 0x41, 'rule 0 has no trigger'],
    ['responseNames', 1, 0x62, 'rule 0 has another hash'],
    ['responseNames', -1, 1, 'rule 1 has no'],
  ]
  test.each(rows)('%s %i is %i', (name, index, value, fault) => {
    const loaded = loadBundle(withElement(bytes, name, index, value))
    expect(loaded.ok ? 'loaded' : loaded.error.message).toContain(fault)
  })

  test('the index holds a rule twice, none, or one under another hash', () => {
    const loaded = loadBundle(bytes)
    if (!loaded.ok) throw new Error(loaded.error.message)
    const { responseIndex } = loaded.value
    const taken = responseIndex.findIndex((value, i) => i % 2 === 1 && value === 1)
    const refused = (index: number, value: number): string => {
      const other = loadBundle(withElement(bytes, 'responseIndex', index, value))
      return other.ok ? 'loaded' : other.error.message
    }
    expect(refused(taken, 2)).toContain('not in the index')
    expect(refused(taken, 0)).toContain('twice or not at all')
    expect(refused(taken, 3)).toContain('outside its table')
    expect(refused(taken - 1, 77)).toContain('has another hash')
  })
})
