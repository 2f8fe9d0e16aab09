// Every diagnostic has a fixture that causes it, and nothing else, at the listed places.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  diagnosticCodes,
  diagnosticSpecs,
  helpOf,
  messageOf,
} from '#compiler/diagnostics/diagnostics.ts'
import { compileFixture, placesOf } from '../fixture.ts'

const root = join(import.meta.dirname, '../../../fixtures/diagnostics')

test('every code has a fixture folder, and every folder a code', () => {
  expect(readdirSync(root).sort()).toEqual([...diagnosticCodes].sort())
})

for (const code of diagnosticCodes) {
  test(`${code} is found at its place, alone`, () => {
    const folder = join(root, code)
    const expected = readFileSync(join(folder, 'expected'), 'utf8').trim().split('\n')
    const result = compileFixture(folder)
    // A line may name the code of what cannot but come along.
    const withCode = expected.map((line) => (/:\d+ [a-z-]+$/.test(line) ? line : `${line} ${code}`))
    expect(placesOf(result)).toEqual(withCode)
    expect(withCode.some((line) => line.endsWith(` ${code}`))).toBe(true)
    const found = diagnosticCodes.filter((one) => withCode.some((line) => line.endsWith(` ${one}`)))
    expect(result.ok).toBe(found.every((one) => diagnosticSpecs[one].severity !== 'error'))
    for (const diagnostic of result.diagnostics) {
      const words = `${messageOf(diagnostic)} ${helpOf(diagnostic)}`
      expect(words).not.toMatch(/%s|undefined|\[object/)
      const { message, help } = diagnosticSpecs[diagnostic.code]
      expect(diagnostic.args).toHaveLength(`${message}${help}`.split('%s').length - 1)
    }
  })
}
