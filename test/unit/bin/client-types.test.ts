import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clientTypes } from '#bin/client-types.ts'
import { routes } from '#api/routes.ts'
import { version } from '#lib/version.ts'

const folder = join(import.meta.dirname, '../../../clients/typescript')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

test('the types of the client are those of the document', () => {
  const hint = 'write them anew: node bin/client-types.ts'
  expect(read('openapi.d.ts') === clientTypes(), hint).toBe(true)
})

test('the types have each operation, with its summary', () => {
  const text = clientTypes()
  for (const { path, method, summary } of routes) {
    const [, operations = ''] = text.split(`  '${path}': {\n`)
    expect(operations.split('\n  }\n')[0], path).toContain(
      `    /** ${summary} */\n    ${method.toLowerCase()}: {\n`,
    )
  }
})

test('the package has the version of the API, and needs no other', () => {
  const manifest = JSON.parse(read('package.json')) as Record<string, unknown>
  expect(manifest).toMatchObject({ name: '@gslbd/client', version })
  expect(manifest).not.toHaveProperty('dependencies')
})
