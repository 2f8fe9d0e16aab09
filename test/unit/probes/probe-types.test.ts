// The table of types of probes: what a row says reaches the schema, the bundle and the words.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { probeDiagnostics, probeFields, probeTypes, typesWith } from '#probes/probe-types.ts'
import { HealthCheck } from '#schemas/objects/health-check.ts'

test('the tables of fields and of diagnostics have those of each type, once', () => {
  const fields = probeTypes.flatMap((type) => Object.keys(type.fields))
  expect(Object.keys(probeFields).toSorted()).toEqual(fields.toSorted())
  const codes = probeTypes.flatMap(({ diagnostics = {} }) => Object.keys(diagnostics))
  expect(Object.keys(probeDiagnostics).toSorted()).toEqual(codes.toSorted())
})

test.each(probeTypes)(
  'the fields of $name begin with its name, or other types have them, too',
  (type) => {
    for (const field of Object.keys(type.fields)) {
      expect(field.startsWith(type.name) || typesWith(field).length > 1, field).toBe(true)
    }
    for (const field of type.uses ?? []) expect(typesWith(field).at(-1)).toBe(type.name)
  },
)

test.each(Object.entries(probeFields))('a bundle may hold the default of %s', (name, field) => {
  const { schema, fits, lower } = field
  expect(fits(lower === undefined ? schema.default : lower(schema.default))).toBe(true)
  expect(HealthCheck.properties).toHaveProperty(name)
})

test('the schema tells what each type does, and what it does with the port', () => {
  const { type, port } = HealthCheck.properties as unknown as Record<
    string,
    { description: string }
  >
  for (const { name, does, port: use } of probeTypes) {
    expect(type!.description).toContain(`\`${name}\` ${does}`)
    if (typeof use === 'number') {
      expect(port!.description).toContain(`\`${name}\` mostly wants ${use}`)
    }
  }
  expect(port!.description).toContain('`icmp` ignores it; `script` and `webhook` pass it on; ')
})

test('the page for operators has a row for each type', () => {
  const page = readFileSync('docs/operations/health-checks.md', 'utf8')
  const named = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name)
  expect(named).toEqual(probeTypes.map(({ name }) => name))
})
