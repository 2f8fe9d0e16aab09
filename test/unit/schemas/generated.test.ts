// The files for editors and readers are the ones that the schemas give.
import { globSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { jsonSchemaFile, jsonSchemaOf } from '#schemas/json-schema.ts'
import { kindNames } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'
import { configurationReference } from './configuration-reference.ts'
import { expectCommitted } from './committed-file.ts'

for (const kind of kindNames) {
  test(`schemas/json/${jsonSchemaFile(kind)} is the schema of ${kind}`, () => {
    expectCommitted(
      `schemas/json/${jsonSchemaFile(kind)}`,
      `${JSON.stringify(jsonSchemaOf(kind), null, 2)}\n`,
    )
  })
}

test('schemas/json has no file of a kind that is gone', () => {
  // The daemon's own settings have a schema here too; it is no kind.
  const isKind = (name: string) => !name.endsWith('.schema.json')
  const folder = `${import.meta.dirname}/../../../schemas/json`
  expect(readdirSync(folder).filter(isKind).sort()).toEqual(kindNames.map(jsonSchemaFile).sort())
})

test('docs/reference/configuration.md lists every field', () => {
  expectCommitted('docs/reference/configuration.md', configurationReference())
})

const examples = join(import.meta.dirname, '../../../examples')
for (const path of globSync('*/**/*.{yaml,yml}', { cwd: examples })) {
  test(`examples/${path} names its schema, for editors`, () => {
    const text = readFileSync(join(examples, path), 'utf8')
    const kind = /^kind: (\w+)$/m.exec(text)?.[1] as Kind | undefined
    if (kind === undefined || !kindNames.includes(kind)) return
    const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1]
    expect(schema).toBeDefined()
    const file = join(import.meta.dirname, '../../../schemas/json', jsonSchemaFile(kind))
    expect(join(dirname(join(examples, path)), schema!)).toBe(file)
  })
}
