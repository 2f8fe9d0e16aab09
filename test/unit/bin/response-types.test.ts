import { expect, test } from 'vitest'
import { responseTypes } from '#bin/response-types.ts'

type Schema = Parameters<typeof responseTypes>[0]['components']['schemas'][string]

test.each<[schema: Schema, type: string]>([
  [{}, 'unknown'],
  [{ type: 'integer' }, 'number'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ enum: ['a', 'b'] }, '"a" | "b"'],
  [{ const: true }, 'true'],
  [{ anyOf: [{ type: 'string' }, { type: 'boolean' }] }, 'string | boolean'],
  [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
  [{ $ref: '#/components/schemas/Error' }, 'Error'],
  [{ type: 'object' }, 'Record<string, unknown>'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
  [{ type: 'object', patternProperties: { '^x': { type: 'string' } } }, 'Record<string, string>'],
  [
    {
      ...{ type: 'object', required: ['a'], additionalProperties: false },
      properties: { a: { type: 'string' }, 'b-c': {}, d: { type: 'boolean', default: false } },
    },
    '{ "a": string; "b-c"?: unknown; "d": boolean }',
  ],
])('%j is %s', (schema, type) => {
  const text = responseTypes({ paths: {}, components: { schemas: { One: schema } } })
  expect(text).toBe(`export type One = ${type}\nexport interface paths {  }\n`)
})

test('answers are found by path, method, status and type; refusals are left out', () => {
  const content = { 'application/json': { schema: { type: 'string' } } }
  const responses = { '200': { content }, '204': {}, '404': { content } }
  const paths = { '/x/{id}': { get: { responses } } }
  const [, text] = responseTypes({ paths, components: { schemas: {} } }).split('paths ')
  expect(text).toBe(
    '{ "/x/{id}": { "get": { responses: { 200: { content: { "application/json": string } }; ' +
      '204: { content: {  } } } } } }\n',
  )
})
