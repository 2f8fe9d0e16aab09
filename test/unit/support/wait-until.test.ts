// Waiting ends with what was seen, or with what was waited for.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempDir, removeTempDir, tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

test('gives what the probe gives, zero and the empty string too', async () => {
  const seen = [false, null, undefined, 0]
  expect(await waitUntil('a number', () => seen.shift(), { intervalMs: 1 })).toBe(0)
  expect(await waitUntil('a text', () => '')).toBe('')
})

test('goes on after an error of the probe', async () => {
  let calls = 0
  const probe = (): boolean => {
    calls++
    if (calls < 3) throw new Error('not yet')
    return true
  }
  expect(await waitUntil('the third call', probe, { intervalMs: 1 })).toBe(true)
})

test('names what it waited for, with the last error as the cause', async () => {
  const probe = (): never => {
    throw new Error('refused')
  }
  const waiting = waitUntil('an answer', probe, { timeoutMs: 20, intervalMs: 1 })
  await expect(waiting).rejects.toThrow('waited 20 ms in vain for an answer')
  await expect(waiting).rejects.toMatchObject({ cause: new Error('refused') })
})

let left = ''
test('a temporary directory exists during its test', () => {
  left = tempDir()
  writeFileSync(join(left, 'file'), '')
  expect(existsSync(join(left, 'file'))).toBe(true)
})

test('and is gone after it', () => {
  expect(left).not.toBe('')
  expect(existsSync(left)).toBe(false)
})

test('a directory of a whole suite is removed by its maker', () => {
  const path = makeTempDir('suite')
  removeTempDir(path)
  expect(existsSync(path)).toBe(false)
})
