// The code of the embedded database is made once, and other code is compiled as ever.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { databaseMachine, usualBudget } from '#state/sql/database/database-machine.ts'

test('the restored budget equals the default of V8', () => {
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  expect(options).toContain(`default: --wasm-tiering-budget=${usualBudget}\n`)
})

test('a database that is opened again takes the same code', () => {
  expect(databaseMachine()).toBe(databaseMachine())
})
