import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { settingsJsonSchema, settingsReference } from './settings-reference.ts'

describe('generated pages are up to date (GSLBD_UPDATE=1 rewrites them)', () => {
  const rows: readonly [string, () => string][] = [
    ['docs/reference/settings.md', settingsReference],
    ['schemas/json/gslbd-settings.schema.json', settingsJsonSchema],
  ]
  test.each(rows)('%s', (path, generate) => {
    if (process.env['GSLBD_UPDATE'] === '1') writeFileSync(path, generate())
    expect(readFileSync(path, 'utf8')).toBe(generate())
  })
})
