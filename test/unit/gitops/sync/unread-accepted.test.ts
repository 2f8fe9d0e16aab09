// Tests that commits after an unreadable accepted one are not trusted, since the guardrails have
// nothing to compare them with.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'vitest'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { judgePush } from '#gitops/sync/push-judge.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { reconcileBench } from '#test/support/reconcile-bench.ts'
import { damageObject } from '#test/support/repository-damage.ts'
import { poolPath, poolYaml, serviceYaml } from '#test/support/site.ts'

const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones: [{ name: example.com. }]
  defaults: { nameservers: [{ name: ns1.example.org. }] }
`
const fileOf = (name: string): string => `tenants/default/services/${name}.yaml`
const names = ['a', 'b', 'c', 'd']
const override = 'Gslb-Override: the shop closes'

/** A node that has accepted a commit with four names. Each bench is one more start of it. */
async function scene() {
  const box = gitSandbox()
  const key = box.sshKey('alice')
  box.write('allowed_signers', `alice@example.com ${key.publicLine}\n`)
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const repo = box.at('repo')
  const commit = (...message: string[]): string => {
    const parts = message.flatMap((part) => ['-m', part])
    box.git(repo, 'add', '-A')
    box.git(repo, ...box.signWith(key), 'commit', '-q', '-S', '--allow-empty', ...parts)
    return box.git(repo, 'rev-parse', 'HEAD')
  }
  const drop = (...list: string[]): void => void box.git(repo, 'rm', '-q', ...list.map(fileOf))
  const open = () =>
    reconcileBench({
      gitdir: join(repo, '.git'),
      dataDir: box.at('data'),
      allowedSignersPath: box.at('allowed_signers'),
      compiler: createCompilePort(),
    })
  box.write('repo/gslb.yaml', settings)
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.1'))
  for (const name of names)
    box.write(`repo/${fileOf(name)}`, serviceYaml(`${name}.example.com.`, name))
  const first = commit('first')
  assert.equal((await open().check()).accepted?.commit, first, 'the very first commit is free')
  const lost = box.git(repo, 'rev-parse', `main:${fileOf('a')}`)
  const lose = () => damageObject(join(repo, '.git'), lost, 'lost')
  return { box, repo, commit, drop, open, first, lost, lose }
}

test('a change that cannot be compared waits, and is judged once it can be', async () => {
  const { commit, drop, open, first, lost, lose } = await scene()
  drop('a', 'b', 'c')
  const closing = commit('Closing')
  const { repair } = lose()
  const bench = open()
  for (let look = 0; look < 2; look++) {
    const { sync, code, reason, accepted } = await bench.check()
    assert.deepEqual([sync, code, accepted?.commit], ['unreachable', 'Unreadable', first])
    assert.match(reason, new RegExp(`${lost} is missing.*Put a clone of a checkout`))
    assert.match(reason, new RegExp(`Until then commit ${closing.slice(0, 10)} is not accepted`))
    assert.match(reason, /--trailer "Gslb-Override: the reason"\.$/)
  }
  assert.equal(bench.changes.length, 1, 'told once')
  repair()
  assert.equal((await bench.check()).code, 'NamesRemoved')
})

test('a harmless change waits, too, and passes once it can be compared', async () => {
  const { commit, drop, open, lose } = await scene()
  drop('a')
  const one = commit('One goes')
  const { repair } = lose()
  const bench = open()
  assert.equal((await bench.check()).code, 'Unreadable')
  repair()
  assert.equal((await bench.check()).accepted?.commit, one)
})

test('where what answered is lost for good, a signed commit says that it is meant', async () => {
  const { commit, drop, open, lose } = await scene()
  drop('a')
  commit('Closing')
  lose()
  const bench = open()
  assert.equal((await bench.check()).code, 'Unreadable')
  const meant = commit('Meant', override)
  const { sync, accepted } = await bench.check()
  assert.deepEqual([sync, accepted?.commit], ['synced', meant])
  drop('b', 'c', 'd')
  commit('Later')
  assert.equal((await bench.check()).code, 'NamesRemoved', 'the next one is compared with that')
})

test('commits after the one that says so are compared with it', async () => {
  const { commit, drop, open, lose } = await scene()
  drop('a')
  commit('Meant', override)
  drop('b', 'c', 'd')
  const beyond = commit('Not meant')
  lose()
  const { code, reason } = await open().check()
  assert.equal(code, 'NamesRemoved')
  assert.match(reason, new RegExp(`Commit ${beyond.slice(0, 10)} removes 3 of 3 names`))
})

test('a key that may not override does not release it', async () => {
  const { box, commit, drop, open, lose } = await scene()
  const line = box.run('cat', [box.at('allowed_signers')])
  box.write('allowed_signers', `${line.replace(' ', ' namespaces="git" ')}\n`)
  drop('a')
  commit('Meant', override)
  lose()
  assert.equal((await open().check()).code, 'Unreadable')
})

test('a push is told the same, by the node and by a process that reads all', async () => {
  const { box, repo, commit, drop, open, first, lose } = await scene()
  drop('a', 'b', 'c')
  const head = commit('Closing')
  box.git(repo, 'update-ref', 'refs/heads/main', first)
  const { repair } = lose()
  const bench = open()
  const { accepted } = await bench.check()
  assert.equal((await bench.judge(head)).code, 'Unreadable')
  const alone = () =>
    judgePush({
      ...{ head, incoming: null, attestations: new Map(), gitdir: join(repo, '.git') },
      ...{ branch: 'main', requireSignature: true, resetCommand: 'reset' },
      ...{ allowedSignersPath: box.at('allowed_signers'), compiler: createCompilePort() },
      ...{ accepted, earlier: [] },
    })
  assert.equal((await alone()).code, 'Unreadable')
  // Nothing else has made the node look again.
  repair()
  assert.equal((await bench.judge(head)).code, 'NamesRemoved')
  assert.equal((await alone()).code, 'NamesRemoved')
})
