// The check of settings against their schema says what a library of JSON Schema says.
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitsSchema } from '#lib/schema/check.ts'
import type { Schema } from '#settings/forms/json-schema.ts'
import { SettingsFile, settingRows } from '#settings/schema.ts'

const ajv = new Ajv({ strict: false, strictNumbers: true, logger: false })

const word = fc.constantFrom(
  '',
  'a',
  'openid',
  'example.com',
  '/x',
  '30s',
  'https://x',
  'é',
  '𝒳'.repeat(3),
)
const leaf = fc.oneof(word, fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
const list = fc.array(leaf, { maxLength: 20 })
const names = fc.oneof(word, fc.constantFrom('cert', 'key', 'tenants', 'zoneId', 'domains'))
const value = fc.oneof(
  leaf,
  list,
  fc.dictionary(names, fc.oneof(leaf, list, fc.dictionary(names, leaf))),
  fc.array(fc.dictionary(names, fc.oneof(word, list)), { maxLength: 3 }),
)

test('file and schema agree for each setting and any value', () => {
  const row = fc.constantFrom(...settingRows)
  fc.assert(
    fc.property(row, value, ({ schema }, any) => {
      expect(fitsSchema(schema, any)).toBe(ajv.validate(schema, any))
    }),
    { numRuns: 3_000 },
  )
})

test.each<[string, Schema, unknown, boolean]>([
  ['the file', SettingsFile, { dns: { port: 53 }, roles: ['dns'] }, true],
  ['an unknown key', SettingsFile, { dns: { porrt: 53 } }, false],
  ['a key of every object', SettingsFile, { toString: 1 }, false],
  ['a list with the item', { type: 'array', contains: { const: 'x' } }, ['y', 'x'], true],
  ['a list without it', { type: 'array', contains: { const: 'x' } }, ['y'], false],
  ['what is needed', { type: 'object', required: ['a'] }, {}, false],
  ['too many names', { type: 'object', maxProperties: 1 }, { a: 1, b: 1 }, false],
  ['characters beyond 16 bits, each as one', { type: 'string', maxLength: 1 }, '𝒳', true],
])('%s', (_, schema, given, fits) => {
  expect(fitsSchema(schema, given)).toBe(fits)
  expect(ajv.validate(schema, given)).toBe(fits)
})
