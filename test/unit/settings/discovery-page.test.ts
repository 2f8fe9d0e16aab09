// The first example of docs/operations/discovery.md, taken as it stands there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSettingsText } from '#settings/file.ts'
import { sourceFile } from '../compiler/fixture.ts'
import { messagesOf, settings as zones, top } from '../compiler/record-files.ts'

const page = readFileSync(
  join(import.meta.dirname, '../../../docs/operations/discovery.md'),
  'utf8',
)
const [, settings = '', pool = ''] =
  /# gslbd\.yaml of each node\n([^]*?)\n +# tenants\/default\/pools\/web\.yaml\n([^]*?)\n\S/.exec(
    page,
  ) ?? []
const unindented = (text: string): string => text.replaceAll(/^ {4}/gm, '')

test('the sources of the page are settings that a node takes', () => {
  const read = readSettingsText(unindented(settings), 'gslbd.yaml')
  expect(read).toMatchObject({ ok: true })
  expect(settings).toContain('inventory:')
})

test('the pool of the page compiles', () => {
  const file = sourceFile('tenants/default/pools/web.yaml', top('Pool', 'web') + unindented(pool))
  expect(messagesOf(zones, file)).toEqual(['no service uses the pool "web"'])
  expect(pool).toContain('from: inventory?region=eu')
})
