// Where a text stops being JSON: what a client that sent it is told.
import { expect, test } from 'vitest'
import { jsonFaultPlace } from '#http/json-fault.ts'

const rows: readonly [text: string, place: string][] = [
  ['{"name": "web",}', 'line 1, column 16'],
  ['{"name": "web"\n "port": 1}', 'line 2, column 2'],
  ['{\n  "name": "web",\n  port: 1\n}', 'line 3, column 3'],
  ["{'name': 1}", 'line 1, column 2'],
  ['{"a": tru}', 'line 1, column 7'],
  ['{"a": 01}', 'line 1, column 8'],
  ['[1, 2,]', 'line 1, column 7'],
  ['[1 2]', 'line 1, column 4'],
  ['{"a" 1}', 'line 1, column 6'],
  ['{"a": {"b": [}', 'line 1, column 14'],
  ['{"a": 1}}', 'line 1, column 9'],
  ['{"a": 1} {"b": 2}', 'line 1, column 10'],
  ['{"a": "b\n"}', 'line 1, column 9'],
  ['{"a": "C:\\dir"}', 'line 1, column 10'],
  ['name=web', 'line 1, column 1'],
  ['\ufeff{}', 'line 1, column 1'],
]
test.each(rows)('%j is no JSON from %s on', (text, place) => {
  expect(jsonFaultPlace(text)).toBe(`see ${place}`)
})

test.each(['{', '{"a"', '{"a":', '[1, ', '[[', '{"a": "b', ' '])('%j ends too early', (text) => {
  expect(jsonFaultPlace(text)).toBe('it ends too early')
})
