import { expect, test } from 'vitest'
import { canonicalJson } from '#lib/text/canonical-json.ts'
import type { Json } from '#lib/text/canonical-json.ts'

const rows: readonly [value: Json, text: string][] = [
  [null, 'null'],
  ['ä"\n', '"ä\\"\\n"'],
  [1e21, '1e+21'],
  [[3, [], {}], '[3,[],{}]'],
  [{ b: 1, a: { d: true, c: null } }, '{"a":{"c":null,"d":true},"b":1}'],
  [{ ﬀ: 1, '😀': 2, Z: 3, a: 4, '10': 5, '9': 6 }, '{"10":5,"9":6,"Z":3,"a":4,"😀":2,"ﬀ":1}'],
]
test.each(rows)('%j has one text', (value, text) => {
  expect(canonicalJson(value)).toBe(text)
})
