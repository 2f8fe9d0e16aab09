// Compares a generated text with the file in the repository; GSLBD_UPDATE=1 writes it instead.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'

const root = join(import.meta.dirname, '../../..')

export function expectCommitted(path: string, generated: string): void {
  const file = join(root, path)
  if (process.env['GSLBD_UPDATE'] === '1') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, generated)
  }
  expect(readFileSync(file, 'utf8'), `${path} is out of date: run with GSLBD_UPDATE=1`).toBe(
    generated,
  )
}
