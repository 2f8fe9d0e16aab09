// Mistakes that people make, and what they are told: side by side in test/golden/mistakes.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printText, summary } from '#diagnostics/print/text.ts'
import { expectCommitted } from '../schemas/committed-file.ts'
import { compileFixture } from './fixture.ts'

const root = join(import.meta.dirname, '../../golden/mistakes')
const names = readdirSync(root)
/** Where people fear a mistake, and there is none. */
const right: readonly string[] = ['country-norway']

for (const name of names) {
  test(`the mistake ${name} is told as it stands beside it`, () => {
    const result = compileFixture(join(root, name, 'input'))
    expect(result.ok).toBe(right.includes(name))
    const said = result.ok ? `ok ${summary(result)}\n` : printText(result)
    expectCommitted(`test/golden/mistakes/${name}/expected.text`, said)
  })
}

test('there are at least 40 of them', () => {
  expect(names.length - right.length).toBeGreaterThanOrEqual(40)
})
