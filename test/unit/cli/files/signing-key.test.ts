import assert from 'node:assert/strict'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, test } from 'vitest'
import { findSigningKey } from '#cli/files/signing-key.ts'
import { gitEnvironment, gitSandbox } from '../../../support/git-sandbox.ts'
import type { GitSandbox } from '../../../support/git-sandbox.ts'

let box: GitSandbox
let removeBox = (): void => undefined
let oursLine = ''
beforeAll(() => {
  box = gitSandbox((remove) => void (removeBox = remove))
  mkdirSync(box.at('.ssh'))
  for (const name of ['ours', 'lone', '.ssh/id_ed25519', 'pair']) box.sshKey(name)
  oursLine = box.sshKey('agent').publicLine
  renameSync(box.at('agent'), box.at('in-an-agent'))
  renameSync(box.at('lone.pub'), box.at('gone.pub'))
  // The public file says another key than the private one beside it has.
  writeFileSync(box.at('pair.pub'), oursLine)
  for (const name of ['repo', 'bare.git']) {
    const bare = name === 'repo' ? [] : ['--bare']
    box.git(box.path, 'init', '-q', ...bare, '-b', 'main', name)
  }
  mkdirSync(box.at('repo/keys'))
  renameSync(box.at('lone'), box.at('repo/keys/lone'))
})
afterAll(() => removeBox())

type Row = readonly [
  title: string,
  format: string | undefined,
  key: (() => string) | undefined,
  found: string | RegExp,
]

const rows: readonly Row[] = [
  ['an absolute path', 'ssh', () => box.at('ours'), 'ours'],
  ['its public file', 'ssh', () => box.at('ours.pub'), 'ours'],
  ['a path from the home folder', 'ssh', () => '~/ours', 'ours'],
  ['a path from the top of the checkout', 'ssh', () => 'keys/lone', 'repo/keys/lone'],
  ['a path above it', 'ssh', () => '../ours', 'ours'],
  ['a key itself', 'ssh', () => `key::${oursLine}`, /is a public key itself, .* agent/],
  ['a key itself, as of old', 'ssh', () => oursLine, /is a public key itself, .* agent/],
  ['a public file alone', 'ssh', () => box.at('gone.pub'), /\/gone \(user\.signingkey of git\)/],
  ['a pair that is none', 'ssh', () => box.at('pair.pub'), /not the private half of \S+pair\.pub/],
  [
    'a file that is not there',
    'ssh',
    () => '~/none',
    /\/none \(user\.signingkey of git\): the key c/,
  ],
  [
    'no key',
    'ssh',
    undefined,
    /^git has no user\.signingkey here; name the file of a key with --k/,
  ],
  ['no format', undefined, () => box.at('ours'), /^git does not sign with SSH here: it has no gpg/],
  ['OpenPGP', 'openpgp', () => '0A46826A', /it has gpg\.format openpgp, not ssh/],
  ['nothing', undefined, undefined, /^git does not sign with SSH here/],
]

const query = (gitdir: string, isBare: boolean, env: Readonly<Record<string, string>> = {}) => ({
  ...{ named: undefined, gitdir: box.at(gitdir), isBare },
  env: { PATH: process.env['PATH'], HOME: box.path, ...gitEnvironment, ...env },
})

test.each(rows)('the key of git: %s', (_, format, key, found) => {
  for (const name of ['gpg.format', 'user.signingkey']) {
    const value = name === 'gpg.format' ? format : key?.()
    const [set, unset] = [
      ['config', name, value ?? ''],
      ['config', name, ''],
    ]
    box.git(box.at('repo'), ...(value === undefined ? unset : set))
  }
  const signing = findSigningKey(query('repo/.git', false))
  if (typeof found === 'string') {
    assert(signing.ok, JSON.stringify(signing))
    assert.equal(signing.value.path, box.at(found))
  } else {
    assert(!signing.ok)
    assert.match(signing.error, found)
    assert.match(signing.error, /name the file of a key with --key/)
  }
})

test('without a checkout a path has to be absolute', () => {
  box.git(box.at('bare.git'), 'config', 'gpg.format', 'ssh')
  box.git(box.at('bare.git'), 'config', 'user.signingkey', 'keys/lone')
  const signing = findSigningKey(query('bare.git', true))
  assert(!signing.ok)
  assert.match(signing.error, /"keys\/lone", which without a checkout is relative to no folder/)
})

test('where git cannot be asked, no key is taken', () => {
  const none = findSigningKey(query('repo/.git', false, { PATH: box.at('nowhere') }))
  assert(!none.ok)
  assert.match(none.error, /^git cannot be asked what it signs with \(.*ENOENT\)/)
  writeFileSync(box.at('bad'), '[user\n')
  const bad = findSigningKey(query('repo/.git', false, { GIT_CONFIG_GLOBAL: box.at('bad') }))
  assert(!bad.ok)
  assert.match(bad.error, /^git cannot say what it signs with \(fatal: bad config line 1/)
})
