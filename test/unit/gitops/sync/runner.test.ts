import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { test } from 'vitest'
import { pauseMs, Runner } from '#gitops/sync/runner.ts'
import { watchPaths } from '#gitops/sync/watch.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const pauses: readonly [
  title: string,
  pollMs: number,
  failures: number,
  random: number,
  mostMs: number,
  expected: number,
][] = [
  ['the poll period', 30_000, 0, 0.5, 300_000, 30_000],
  ['a fifth less at the least', 30_000, 0, 0, 300_000, 24_000],
  ['short after a first failure', 30_000, 1, 0.5, 300_000, 1_000],
  ['twice as long after the next', 30_000, 2, 0.5, 300_000, 2_000],
  ['five minutes at the most', 30_000, 40, 0.5, 300_000, 300_000],
  ['short for a local origin that failed', Infinity, 1, 0.5, 300_000, 1_000],
  ['short for a local origin that goes on failing', Infinity, 40, 0.5, 5_000, 5_000],
  ['no clock for a local origin', Infinity, 0, 0.5, 300_000, Infinity],
]
for (const [title, pollMs, failures, random, mostMs, expected] of pauses) {
  test(`the pause is ${title}`, () =>
    assert.equal(pauseMs(pollMs, failures, random, mostMs), expected))
}

test('pokes during a look lead to one more look, never to two at once', async () => {
  let looks = 0
  let running = 0
  let release = (): void => undefined
  const runner = new Runner({
    look: async () => {
      looks++
      assert.equal(++running, 1)
      await new Promise<void>((resolve) => (release = resolve))
      running--
      return 'reached'
    },
    pollMs: Infinity,
    retryMaxMs: 300_000,
    random: () => 0.5,
    onScheduled: () => undefined,
  })
  runner.poke()
  for (let i = 0; i < 5; i++) runner.poke()
  release()
  await waitUntil('the second look', () => looks === 2)
  release()
  await runner.stop()
  assert.equal(looks, 2)
})

const changes: readonly [title: string, act: (path: string) => void][] = [
  ['made', (path) => writeFileSync(path, 'x')],
  ['replaced', (path) => (writeFileSync(`${path}.lock`, 'y'), renameSync(`${path}.lock`, path))],
  ['removed', (path) => rmSync(path)],
]
test('a watched file is noticed when made, replaced and removed, new folders too', async () => {
  const box = gitSandbox()
  mkdirSync(box.at('here'))
  for (const folder of ['here', 'later']) {
    const path = box.at(folder, 'main')
    let count = 0
    const watch = watchPaths([path], () => count++)
    mkdirSync(box.at(folder), { recursive: true })
    for (const [title, act] of changes) {
      const before = count
      act(path)
      await waitUntil(`${folder}: to be noticed when ${title}`, () => count > before)
    }
    watch.close()
  }
})

test('a watched path that cannot be looked at is noticed once it can', async () => {
  const box = gitSandbox()
  const path = box.at('main')
  symlinkSync('main', path)
  let count = 0
  const watch = watchPaths([path], () => count++)
  rmSync(path)
  writeFileSync(path, 'x')
  await waitUntil('the file to be noticed', () => count > 0)
  watch.close()
})
