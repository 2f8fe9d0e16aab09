// Forms of objects that have objects within: which become fields, and where a refusal stands.
import { describe, expect, test } from 'vitest'
import type { Schema } from '#dashboard/api/schema.ts'
import { innerKindOf, oneOf, refusalsWithin, withField } from '#dashboard/forms/inner-fields.ts'
import { rowsOf, withRow, withoutRow } from '#dashboard/forms/inner-fields.ts'
import { refusalsOf } from '#dashboard/yaml/refusal.ts'

const number: Schema = { type: 'integer' }
const step: Schema = { type: 'object', properties: { weightPct: number, holdSeconds: number } }
const wide: Schema = {
  type: 'object',
  properties: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, number])),
}

test.each<[string, Schema, string]>([
  ['an object whose fields are known', step, 'object'],
  ['an object of any fields', { type: 'object', additionalProperties: number }, 'other'],
  ['a list of objects', { type: 'array', items: step }, 'rows'],
  ['a list of words', { type: 'array', items: { type: 'string' } }, 'other'],
  ['a list of objects with lists', { type: 'array', items: listed() }, 'other'],
  ['a list of objects that are wide', { type: 'array', items: wide }, 'other'],
  ['a list of objects or nothing', { type: 'array', items: { anyOf: [step, none()] } }, 'rows'],
  ['a number', number, 'other'],
])('%s', (_case, schema, expected) => {
  expect(innerKindOf(schema)).toBe(expected)
})

function listed(): Schema {
  return { type: 'object', properties: { names: { type: 'array', items: { type: 'string' } } } }
}
function none(): Schema {
  return { type: 'null' }
}

describe('a list of rows', () => {
  const rows = [{ weightPct: 1 }, { weightPct: 2 }]

  test('keeps the others when one row is changed or removed', () => {
    expect(withRow(rows, 1, { weightPct: 3 })).toEqual([{ weightPct: 1 }, { weightPct: 3 }])
    expect(withoutRow(rows, 0)).toEqual([{ weightPct: 2 }])
    expect(rowsOf(undefined)).toEqual([])
    expect(oneOf('steps')).toBe('step')
  })

  test('a field that is emptied is left out', () => {
    expect(withField({ a: 1, b: 2 }, 'a', undefined)).toEqual({ b: 2 })
  })
})

test('a refusal stands at the field of the row that it is about', () => {
  const told = refusalsOf(
    'steps.1.weightPct: must be at most 100; name: is needed',
    (name) => name === 'steps' || name === 'name',
  )
  expect(refusalsWithin(told, 'name').sentence).toBe('name: is needed')
  const { sentence, inner } = refusalsWithin(told, 'steps')
  expect(sentence).toBe('')
  expect(refusalsWithin(refusalsWithin(inner, '0').inner, 'weightPct').sentence).toBe('')
  expect(refusalsWithin(refusalsWithin(inner, '1').inner, 'weightPct').sentence).toMatch(
    /at most 100/,
  )
})
