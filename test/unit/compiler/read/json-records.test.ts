// Records in lines of JSON beside the same ones as YAML.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { readFile } from '#compiler/read/read-file.ts'
import { fullName, readRecords } from '#compiler/values/record-sets.ts'
import { jsonLines } from '#compiler/yaml/parse/json-lines.ts'
import { printYaml } from '#compiler/yaml/edit.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { placesOf, sourceFile } from '#test/unit/compiler/fixture.ts'
import { path, settings } from '#test/unit/compiler/record-files.ts'

interface Written {
  readonly name: string
  readonly type: string
  readonly values: string[]
}
const fileOf = (records: readonly Written[], zone = 'example.com.') => ({
  apiVersion: 'gslb/v1',
  kind: 'Records',
  metadata: { name: 'zone' },
  spec: { zone, ttl: 60, records: records.map((one) => ({ ...one })) },
})
const compiled = (text: string) =>
  createCompiler().compile([settings, sourceFile(path, text)], { commit: '' })
const some = [
  { name: 'a', type: 'A', values: ['192.0.2.1', '192.0.2.0'] },
  { name: 'a', type: 'TXT', values: ['"b c"'] },
  { name: 'm', type: 'MX', values: ['10 a'] },
]

const set = fc.record({
  name: fc.constantFrom(
    'a',
    'a.b',
    '*',
    '@',
    'A',
    'x.example.com.',
    'n.example.com',
    'a_1',
    '\\097',
  ),
  type: fc.constantFrom('A', 'TXT', 'CNAME', 'MX', 'NS', 'CAA', 'ALIAS', 'SPF1'),
  values: fc.array(
    fc.constantFrom('192.0.2.1', '192.0.2.2', 'a', '10 a.b', '"v=spf1 a"', 'b c', '0 issue "x"'),
    { minLength: 1, maxLength: 3 },
  ),
})

test('lines of JSON compile to what the same records compile to as YAML', () => {
  fc.assert(
    fc.property(fc.array(set, { maxLength: 6 }), (records) => {
      const file = fileOf(records)
      const [json, yaml] = [compiled(jsonLines(file)), compiled(printYaml(file))]
      const sayings = [json, yaml].map(({ diagnostics }) => diagnostics.map(messageOf).sort())
      expect(sayings[0]).toEqual(sayings[1])
      expect(json.ok && json.bundle.digest).toBe(yaml.ok && yaml.bundle.digest)
    }),
    { numRuns: 100 },
  )
})

test('a fault is told at its line and column', () => {
  const wrong = { name: 'w', type: 'A', values: ['192.0.2.x'] }
  expect(placesOf(compiled(jsonLines(fileOf([...some, wrong]))))).toEqual([
    `${path}:5:35 record-value-invalid`,
  ])
})

test('records can be read any number of times', () => {
  const file = fileOf(some)
  const { object, text } = readFile('', Buffer.from(jsonLines(file)))
  expect(text).toBe(jsonLines(file))
  expect(object).toMatchObject({ spec: file.spec })
  expect(structuredClone(object)).toEqual(object)
  expect({ ...object!.spec }).toEqual(file.spec)
})

test.each([
  ['lines of JSON are', jsonLines(fileOf(some)), true],
  ['YAML is not', printYaml(fileOf(some)), false],
])('%s kept as text alone', (_, text, isKept) => {
  const { spec } = readFile('', Buffer.from(text)).object!
  expect(Object.getOwnPropertyDescriptor(spec, 'records')).toHaveProperty(isKept ? 'get' : 'value')
})

test('a name that is written as usual is the same as by the reader of all names', () => {
  const label = fc.constantFrom(
    'a',
    'b-',
    '_x',
    '9',
    'com',
    'example',
    'l'.repeat(63),
    'l'.repeat(64),
  )
  const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'))
  const zone = fc.constantFrom('com.', 'example.com.', `${'z'.repeat(63)}.com.`)
  fc.assert(
    fc.property(name, zone, (text, of) => {
      const { spec } = fileOf([{ name: text, type: 'A', values: ['192.0.2.1'] }], of)
      expect(readRecords(spec).rrsets[0]?.name).toBe(fullName(of, text))
    }),
  )
})
