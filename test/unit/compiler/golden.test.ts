// Whole trees and what becomes of them, side by side in test/golden/compile.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formats } from '#diagnostics/print/formats.ts'
import { plainModel } from '#test/support/plain-model.ts'
import { expectCommitted } from '../schemas/committed-file.ts'
import { compileFixture } from './fixture.ts'

const root = join(import.meta.dirname, '../../golden/compile')

for (const name of readdirSync(root)) {
  test(`${name} compiles to what stands beside it`, () => {
    const result = compileFixture(join(root, name, 'input'))
    const folder = `test/golden/compile/${name}`
    if (result.ok) {
      const model = JSON.stringify(plainModel(result.model), asHex, 2)
      expectCommitted(`${folder}/expected.model.json`, `${model}\n`)
      return
    }
    for (const [format, print] of Object.entries(formats)) {
      expectCommitted(`${folder}/expected.${format}`, print(result))
    }
    expect(existsSync(join(root, name, 'expected.model.json'))).toBe(false)
  })
}

function asHex(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : value
}
