import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { beforeAll, onTestFinished, test, vi } from 'vitest'
import { findRepository, resolveCommit } from '#gitops/source/attest.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'

const searchPath = process.env['PATH'] ?? ''

/** A checkout with a merge on top of three commits, two tags and a side branch. */
function scene(atEnd: (remove: () => void) => void) {
  const box = gitSandbox(atEnd)
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const git = (...args: string[]): string => box.git(box.at('repo'), ...args)
  for (const name of ['a', 'b', 'c']) {
    box.write(`repo/folder/${name}.yaml`, name)
    git('add', '-A')
    git('commit', '-q', '-m', name)
  }
  git('tag', 'plain', 'HEAD~1')
  git('tag', '-a', '-m', 'a release', 'v1', 'HEAD~2')
  git('tag', '-a', '-m', 'of a tag', 'v1-again', 'v1')
  git('checkout', '-q', '-b', 'side', 'HEAD~1')
  git('commit', '-q', '--allow-empty', '-m', 'side')
  git('checkout', '-q', 'main')
  git('merge', '-q', '--no-ff', '-m', 'merge', 'side')
  return { box, git, driver: createDiskDriver(box.at('repo/.git')) }
}

// Nobody changes it.
let made: ReturnType<typeof scene>
beforeAll(() => {
  let removeAll = (): void => undefined
  made = scene((remove) => (removeAll = remove))
  return removeAll
})

test('names of commits mean what they mean to git', () => {
  const { git, driver } = made
  const id = git('rev-parse', 'HEAD')
  const names = [
    ...['HEAD', 'main', 'side', 'plain', 'v1', 'v1-again', id, id.slice(0, 8)],
    ...['HEAD~1', 'HEAD~', 'HEAD^', 'HEAD^2', 'HEAD^2~1', 'main~3', 'plain^', 'v1~0', 'HEAD^^'],
    `${id}~2`,
  ]
  for (const name of names) {
    assert.deepEqual(
      resolveCommit(driver, name, searchPath),
      { ok: true, value: git('rev-parse', `${name}^{commit}`) },
      name,
    )
  }
})

const wrong: readonly [name: string, error: RegExp][] = [
  ['HEAD~9', /^"HEAD~9" is not a commit of/],
  ['HEAD^3', /is not a commit of/],
  ['nowhere', /^"nowhere" is not a commit of .*; give a commit id, HEAD, a branch or a tag/],
  ['--all', /is not a commit of/],
  ['', /is not a commit of/],
]
for (const [name, error] of wrong) {
  test(`"${name}" is refused with a reason`, () => {
    const resolved = resolveCommit(made.driver, name, searchPath)
    assert(!resolved.ok)
    assert.match(resolved.error, error)
  })
}

test('a repository is found from anywhere in its checkout, and told from a bare one', () => {
  const { box } = made
  const gitdir = box.at('repo/.git')
  for (const path of ['repo', 'repo/folder']) {
    assert.deepEqual(findRepository(box.at(path)), { ok: true, value: { gitdir, isBare: false } })
  }
  box.git(box.path, 'clone', '-q', '--bare', 'repo', 'bare.git')
  const bare = { gitdir: box.at('bare.git'), isBare: true }
  assert.deepEqual(findRepository(box.at('bare.git')), { ok: true, value: bare })
  mkdirSync(box.at('elsewhere'))
  const missing = findRepository(box.at('elsewhere'))
  assert(!missing.ok)
  assert.match(missing.error, /elsewhere is not a Git repository/)
})

test("a stranger's repository is read without this machine's settings, and fetches nothing", () => {
  const { box, driver } = made
  box.write('bin/git', '#!/bin/sh\n{ printf "%s " "$@"; echo; /usr/bin/env; } >"$0.log"\n')
  chmodSync(box.at('bin/git'), 0o755)
  vi.stubEnv('GIT_CONFIG_PARAMETERS', "'a.b=c'")
  onTestFinished(() => void vi.unstubAllEnvs())
  resolveCommit(driver, 'HEAD', box.at('bin'))
  const [words = '', ...env] = readFileSync(box.at('bin/git.log'), 'utf8').split('\n')
  assert.match(words, /^--git-dir \S+ rev-parse /)
  for (const line of ['GIT_ALLOW_PROTOCOL=', 'GIT_NO_LAZY_FETCH=1', 'GIT_CONFIG_GLOBAL=/dev/null'])
    assert(env.includes(line), line)
  assert(!env.some((line) => line.startsWith('GIT_CONFIG_PARAMETERS=')))
})
