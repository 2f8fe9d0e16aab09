// The YAML of a form: what is read, what may be written at a place, where a refusal stands.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Schema } from '#dashboard/api/schema.ts'
import { yamlOf } from '#dashboard/parts/formats.ts'
import { offersAt } from '#dashboard/yaml/completions.ts'
import { read } from '#dashboard/yaml/parse-text.ts'
import { refusalsOf } from '#dashboard/yaml/refusal.ts'
import { anyText } from '#test/support/any-text.ts'

const step: Schema = {
  type: 'object',
  required: ['weightPct'],
  properties: { weightPct: { type: 'integer' }, holdSeconds: { type: 'integer' } },
}
const schema: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    ttl: { type: ['integer', 'null'], default: 60 },
    mode: { type: ['string', 'null'], enum: ['and', 'or', '', null] },
    isOn: { type: 'boolean' },
    poolId: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    filters: { type: 'array', items: { type: 'string' }, description: 'Of `geo-ip`, `asn`.' },
    conditions: { type: 'array', items: { enum: ['disk', 'licence'] } },
    steps: { type: 'array', items: step },
    policy: { type: 'object', properties: { least: { type: 'number' }, most: { type: 'number' } } },
  },
}
const things = (field: string) => (field === 'poolId' ? [{ id: 'p-1', words: 'pool web' }] : [])
const all = Object.keys(schema.properties!)
const without = (...names: string[]) => all.filter((name) => !names.includes(name))

describe('suggestions at the cursor', () => {
  test.each<[string, string, readonly string[] | null]>([
    ['in an empty text: each field, those that are needed first', '|', all],
    ['within a word', 'na|', all],
    ['below another field', 'name: a\n|', without('name')],
    ['above another field', '|\nname: a', without('name')],
    ['of an enum', 'mode: |', ['and', 'or']],
    ['of a switch', 'isOn: t|', ['true', 'false']],
    ['what it is when nothing is said', 'ttl: |', ['60']],
    ['the id of a pool', 'poolId: |', ['p-1']],
    ['in a list of words', 'conditions:\n  - |', ['disk', 'licence']],
    ['in a list that is not indented', 'conditions:\n- d|', ['disk', 'licence']],
    ['what a description names', 'filters:\n  - |', ['geo-ip', 'asn']],
    ['in an object', 'policy:\n  |', ['least', 'most']],
    ['in an object that has one', 'policy:\n  least: 1\n  |', ['most']],
    ['at the first field of an item', 'steps:\n  - |', ['weightPct', 'holdSeconds']],
    ['at the next field of an item', 'steps:\n  - weightPct: 1\n    |', ['holdSeconds']],
    [
      'in the item after',
      'steps:\n  - weightPct: 1\n    holdSeconds: 2\n  - |',
      ['weightPct', 'holdSeconds'],
    ],
    ['after an object', 'policy:\n  least: 1\n|', without('policy')],
    ['in an object that nobody knows', 'other:\n  |', null],
    ['within a sentence', 'name: a word and |', null],
  ])('%s', (_case, marked, expected) => {
    const at = marked.indexOf('|')
    const found = offersAt(marked.replace('|', ''), at, schema, things)
    expect(found?.offers.map(({ text }) => text.replace(/: ?$/, '')) ?? null).toEqual(expected)
  })
})

describe('parsed values', () => {
  test.each<[string, string, unknown]>([
    ['nothing', '', {}],
    ['a comment alone', '# nothing yet\n', {}],
    ['fields', 'a: 1\nb: [x, y]', { a: 1, b: ['x', 'y'] }],
    ['a word that is true in another YAML', 'a: yes', { a: 'yes' }],
  ])('%s', (_case, text, expected) => {
    expect(read(text)).toMatchObject({ value: expected, faults: [] })
  })

  test.each<[string, string, number, RegExp]>([
    ['a list', 'a: 1\nb: [1', 2, /^This is not YAML: /],
    ['a field twice', 'a: 1\nb: 2\na: 3', 3, /^This is not YAML: Map keys must be unique/],
    ['a word', 'hello', 1, /^Write fields, one a line/],
    ['an alias', 'a: &x 1\nb: *x', 1, /^Aliases/],
    ['two documents', 'a: 1\n---\nb: 1', 2, /^This is not YAML: /],
  ])('not %s, and it says in which line', (_case, text, line, sentence) => {
    const { value, faults } = read(text)
    expect(value).toBeNull()
    expect(faults[0]).toMatchObject({ line, sentence: expect.stringMatching(sentence) as string })
  })

  test('equal the object that they were printed from', () => {
    const word = fc.oneof(fc.string(), anyText(), fc.stringMatching(/^[a-z:# -]*$/))
    const value = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null), fc.array(word))
    const name = fc.stringMatching(/^[a-z]\w{0,8}$/)
    const object = fc.dictionary(name, fc.oneof(value, fc.dictionary(name, value)), { minKeys: 1 })
    fc.assert(
      fc.property(object, (one) => {
        const plain = JSON.parse(JSON.stringify(one)) as object
        expect(read(`${yamlOf(plain).trim()}\n`).value).toEqual(plain)
      }),
    )
  })
})

describe('the line of a fault', () => {
  const text = 'name: a\n# why\nsteps:\n  - weightPct: 1\n    holdSeconds: soon\nttl: 5\n'
  test.each<[string, string, number]>([
    ['a field', 'ttl', 6],
    ['a field of an item', 'steps.0.holdSeconds', 5],
    ['an item', 'steps.0', 4],
    ['what an item lacks', 'steps.0.nothing', 4],
    ['an item that is not there', 'steps.7', 3],
    ['what the object lacks', 'poolId', 1],
    ['the object', '', 1],
  ])('%s', (_case, path, line) => {
    expect(read(text).faultAt(path, 'so')).toMatchObject({ line, sentence: 'so' })
  })
})

describe('a refusal is taken apart', () => {
  const isField = (name: string): boolean => all.includes(name)
  test.each<[string, string, readonly (readonly [string, string])[]]>([
    ['nothing', '', []],
    ['without a field', 'the licence ends', [['', 'the licence ends']]],
    ['of one field', 'ttl: must be 1', [['ttl', 'ttl: must be 1']]],
    [
      'of several, by the schema',
      'ttl: must be 1, not 2; steps.0.weightPct: is required',
      [
        ['ttl', 'ttl: must be 1, not 2'],
        ['steps.0.weightPct', 'steps.0.weightPct: is required'],
      ],
    ],
    [
      'of several, by the compiler',
      'ttl: is long; make it less. name: is taken.',
      [
        ['ttl', 'ttl: is long; make it less.'],
        ['name', 'name: is taken.'],
      ],
    ],
    ['of the whole', 'body: is empty', [['', 'body: is empty']]],
    [
      'of a field that is none',
      'tttl: there is no such field; did you mean "ttl"?',
      [['tttl', 'tttl: there is no such field; did you mean "ttl"?']],
    ],
    ['with an address', 'see: https://a.example/', [['', 'see: https://a.example/']]],
  ])('%s', (_case, sentence, expected) => {
    const found = refusalsOf(sentence, isField).map(({ field, sentence: one }) => [field, one])
    expect(found).toEqual(expected)
  })
})
