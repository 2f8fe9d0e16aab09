// Whole trees and what becomes of them, side by side in test/golden/compile.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RrsetModel } from '#bundle/format/model.ts'
import { formats } from '#diagnostics/print/formats.ts'
import { expectCommitted } from '../schemas/committed-file.ts'
import { compileFixture } from './fixture.ts'

const root = join(import.meta.dirname, '../../golden/compile')

for (const name of readdirSync(root)) {
  test(`${name} compiles to what stands beside it`, () => {
    const result = compileFixture(join(root, name, 'input'))
    const folder = `test/golden/compile/${name}`
    if (result.ok) {
      const rrsets = result.model.rrsets.map(plainRrset)
      const model = JSON.stringify({ ...result.model, rrsets }, asHex, 2)
      expectCommitted(`${folder}/expected.model.json`, `${model}\n`)
      return
    }
    for (const [format, print] of Object.entries(formats)) {
      expectCommitted(`${folder}/expected.${format}`, print(result))
    }
    expect(existsSync(join(root, name, 'expected.model.json'))).toBe(false)
  })
}

/** What the bundle is made of, without what the compiler knows besides. */
const plainRrset = ({ name, zone, type, ttlSeconds, rdata }: RrsetModel): RrsetModel => ({
  name,
  zone,
  type,
  ttlSeconds,
  rdata,
})

function asHex(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : value
}
