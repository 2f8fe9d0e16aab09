import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CommitTrials, excuseTrials } from '#gitops/sync/commit-trials.ts'
import type { TrialParts } from '#gitops/sync/commit-trials.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'

const head = 'a'.repeat(40)
const accepted = 'b'.repeat(40)

function scene() {
  const path = gitSandbox().at('gitops/trials.json')
  const start = (more: Partial<TrialParts> = {}): CommitTrials =>
    new CommitTrials({ path, heapMb: 400, version: '1', isRestart: false, ...more })
  /** Starts, reads the accepted commit well, and dies while it reads the head. */
  const die = (isRestart: boolean): void => {
    const trials = start({ isRestart })
    trials.begin(accepted, accepted)
    trials.end(accepted)
    trials.begin(head, accepted)
  }
  return { path, start, die }
}

test('two deaths of the thread hold a commit, also in later processes', () => {
  const { start, die } = scene()
  die(false)
  expect(start({ isRestart: true }).holdOf(head)).toBeUndefined()
  die(true)
  expect(start({ isRestart: true }).holdOf(head)?.code).toBe('CommitFatal')
  const later = start()
  expect(later.holdOf(head)?.reason).toMatch(/aaaaaaa.* ended 2 times.* 400 MB.*git show --stat/)
  expect(later.holdOf(accepted)).toBeUndefined()
})

test('two deaths of the process do not hold a commit, three do', () => {
  const { start, die } = scene()
  for (const isHeld of [false, false, true]) {
    die(false)
    expect(start().holdOf(head) !== undefined).toBe(isHeld)
  }
})

test('a process that is killed while it reads the accepted commit says nothing about that', () => {
  const { start } = scene()
  for (let i = 0; i < 5; i++) start().begin(accepted, accepted)
  expect(start().holdOf(accepted)).toBeUndefined()
})

test('a verdict, another head, more memory or another version ends it', () => {
  const { path, start, die } = scene()
  const held = (): string => {
    die(false)
    die(true)
    start({ isRestart: true })
    return readFileSync(path, 'utf8')
  }
  const text = held()
  const anew = (): void => writeFileSync(path, text)
  expect(start({ heapMb: 399 }).holdOf(head)).toBeDefined()
  expect(start({ heapMb: 401 }).holdOf(head)).toBeUndefined()
  anew()
  expect(start({ version: '2' }).holdOf(head)).toBeUndefined()
  anew()
  start().begin('c'.repeat(40), accepted)
  expect(start().holdOf(head)).toBeUndefined()
  anew()
  start().end(head)
  expect(existsSync(path)).toBe(false)
})

test.each(['', '{', '[1, null, {"commit": 1}]', '{"a":1}'])(
  'a file that holds %j holds nothing',
  (text) => {
    const { path, start, die } = scene()
    die(false)
    writeFileSync(path, text)
    expect(start().holdOf(head)).toBeUndefined()
  },
)

test('a thread that we end while it reads says nothing about the commit', () => {
  const { path, start, die } = scene()
  for (let i = 0; i < 5; i++) {
    die(false)
    excuseTrials(path)
  }
  expect(start().holdOf(head)).toBeUndefined()
})
