// A setting that is a mapping of mappings: the fault names the entry and the key.
import { describe, expect, test } from 'vitest'
import { settingRows } from '#settings/schema.ts'
import { problemOf } from '#settings/value.ts'

describe('a source of discovery that has another form', () => {
  const row = settingRows.find(({ key }) => key === 'discovery.sources')!
  const fine = { type: 'file', path: '/a' }
  const rows: readonly (readonly [sources: unknown, fault: string | undefined])[] = [
    [{ fine }, undefined],
    [
      { fine, inv: { type: 'http', timeout: 3 } },
      'discovery.sources.inv.timeout is the number 3, write ',
    ],
    [{ fine, inv: 'http' }, 'discovery.sources.inv is "http", write '],
    [{ fine, INV: fine }, 'discovery.sources.INV is a mapping, write names in small letters'],
    [{ inv: { ...fine, 'a b': 'x' } }, 'discovery.sources.inv.a b is "x", write '],
    [7, 'discovery.sources is the number 7, write '],
  ]
  test.each(rows)('%j: %s', (sources, fault) => {
    const problem = problemOf(row, sources, 'file')
    if (fault === undefined) expect(problem).toBeUndefined()
    else expect(problem).toContain(fault)
  })
})
