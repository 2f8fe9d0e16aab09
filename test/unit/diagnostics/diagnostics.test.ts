// Every diagnostic has a case that causes it, and nothing else, at the listed places.
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { diagnosticCodes, diagnosticSpecs, helpOf, messageOf } from '#diagnostics/diagnostics.ts'
import { diagnosticCase, diagnosticCases } from '#test/support/case-file.ts'
import { compileCase, placesOf } from '../compiler/fixture.ts'

test('every code has a case, and every case a code', () => {
  const names = diagnosticCodes.map((code) => `${code}.txtar`)
  expect(readdirSync(diagnosticCases).sort()).toEqual(names.sort())
})

for (const code of diagnosticCodes) {
  test(`${code} is found at its place, alone`, () => {
    const given = diagnosticCase(code)
    const expected = given.expected.trim().split('\n')
    const result = compileCase(given)
    // A line may name the code of what cannot but come along.
    const withCode = expected.map((line) => (/:\d+ [a-z-]+$/.test(line) ? line : `${line} ${code}`))
    expect(placesOf(result)).toEqual(withCode)
    expect(withCode.some((line) => line.endsWith(` ${code}`))).toBe(true)
    const found = diagnosticCodes.filter((one) => withCode.some((line) => line.endsWith(` ${one}`)))
    expect(result.ok).toBe(found.every((one) => diagnosticSpecs[one].severity !== 'error'))
    for (const diagnostic of result.diagnostics) {
      const words = `${messageOf(diagnostic)} ${helpOf(diagnostic)}`
      expect(words).not.toMatch(/%s|undefined|\[object/)
      const { message, messageOfOther = '', help } = diagnosticSpecs[diagnostic.code]
      const taken = `${message}${help}`.split('%s').length - 1
      const numbered = [...messageOfOther.matchAll(/%(\d)\$s/g)].map(([, at]) => Number(at))
      expect(diagnostic.args).toHaveLength(Math.max(taken, ...numbered))
    }
  })
}
