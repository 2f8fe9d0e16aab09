// A setting that is a mapping of mappings: the fault names the entry and the key.
import { describe, expect, test } from 'vitest'
import { settingRows } from '#settings/schema.ts'
import { problemsOf } from '#settings/value.ts'

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
    [{ fine, INV: fine }, 'discovery.sources has the key "INV", write names in small letters'],
    [{ inv: { ...fine, 'a b': 'x' } }, 'discovery.sources.inv has the key "a b", write '],
    [7, 'discovery.sources is the number 7, write '],
  ]
  test.each(rows)('%j: %s', (sources, fault) => {
    const sentences = problemsOf(row, sources, 'file').map(({ sentence }) => sentence)
    expect(sentences).toEqual(fault === undefined ? [] : [expect.stringContaining(fault)])
  })
})
