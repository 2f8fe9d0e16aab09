// The check of a schema finds the faults that a library finds, in its order, and fills in the same.
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkOf } from '#lib/schema/check.ts'
import type { JsonSchema } from '#lib/schema/check.ts'
import { jsonSchemaOf } from '#schemas/json-schema.ts'
import { kindNames } from '#schemas/kinds.ts'

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  verbose: true,
  strict: false,
  strictNumbers: true,
})

const texts = ['', 'a', 'example.com.', '/x', '192.0.2.1', '𝒳', 'é', 'x'.repeat(300), '__proto__']
const leaf = fc.oneof(
  fc.constantFrom<unknown>(...texts, null, true, NaN, Infinity, 0, 1, -1, 1.5, 1e12),
  fc.string(),
  fc.integer(),
)
const wild = fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(fc.string(), leaf))

/** Values that nearly fit: each part is of its schema, at a bound, or something else. */
function nearly(schema: JsonSchema): fc.Arbitrary<unknown> {
  const of = (part: unknown) => nearly(part as JsonSchema)
  const parts: fc.Arbitrary<unknown>[] = []
  const numbers = ['minimum', 'maximum'].flatMap((bound) => {
    const at = schema[bound]
    return typeof at === 'number' ? [at - 1, at, at + 1, at + 0.5] : []
  })
  const lengths = ['minLength', 'maxLength'].flatMap((bound) => {
    const at = Math.min(Number(schema[bound] ?? 0), 70_000)
    return ['a'.repeat(at), 'a'.repeat(at + 1), '𝒳'.repeat(at), '𝒳'.repeat(at + 1)]
  })
  const said = [schema['const'], schema['enum'], schema['default']].flat()
  parts.push(fc.constantFrom<unknown>(...numbers, ...lengths, ...said, 'A').map(structuredClone))
  if (schema['items'] !== undefined) parts.push(fc.array(of(schema['items']), { maxLength: 3 }))
  for (const branch of (schema['anyOf'] ?? []) as JsonSchema[]) parts.push(of(branch))
  const properties = Object.entries((schema['properties'] ?? {}) as JsonSchema)
  const maps = Object.entries((schema['patternProperties'] ?? {}) as JsonSchema)
  const more = [...maps.map(([, part]) => part), schema['additionalProperties']]
  const additional = more.find((part) => typeof part === 'object')
  if (schema['type'] === 'object') {
    const known = fc.record(
      Object.fromEntries(properties.map(([name, part]) => [name, of(part)])),
      { requiredKeys: [] },
    )
    const other = additional === undefined ? leaf : fc.oneof(of(additional), leaf)
    const others = fc.dictionary(fc.constantFrom(...texts, 'toString'), other, { maxKeys: 2 })
    const isClosed = properties.length > 0
    const extra = isClosed ? fc.option(others, { nil: {}, freq: 6 }) : others
    parts.push(fc.tuple(known, extra).map(([one, two]) => ({ ...one, ...(two as object) })))
  }
  return fc.oneof({ weight: 8, arbitrary: parts.at(-1)! }, ...parts, wild)
}

test.each(kindNames)('a %s has the same faults and defaults', (kind) => {
  const schema = jsonSchemaOf(kind)
  const [check, reference] = [checkOf(schema, 'fill'), ajv.compile(schema)]
  fc.assert(
    fc.property(nearly(schema), (value) => {
      const [ours, theirs] = [structuredClone(value), structuredClone(value)]
      const faults = check(ours)
      reference(theirs)
      expect(
        faults.map(({ keyword, path, name, schema, value }) => [
          ...[keyword, path.map((step) => `/${step}`).join(''), name, schema, value],
        ]),
      ).toEqual(
        (reference.errors ?? []).map(({ keyword, instancePath, params, ...error }): unknown[] => [
          keyword,
          instancePath.replaceAll('~1', '/').replaceAll('~0', '~'),
          params['missingProperty'] ?? params['additionalProperty'],
          error.parentSchema,
          error.data,
        ]),
      )
      expect(ours).toEqual(theirs)
    }),
    { numRuns: 300 },
  )
})

test('a keyword that no check knows is not passed over', () => {
  expect(() => checkOf({ type: 'array', uniqueItems: true }, 'leave')).toThrow('uniqueItems')
})
