import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'vitest'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import { HashingCompiler, reconcileBench } from '../../../support/reconcile-bench.ts'
import type { Bench, BenchOptions } from '../../../support/reconcile-bench.ts'
import { createLocalSource } from '#gitops/source/local-source.ts'
import { err } from '#lib/result.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import type { Position } from '#gitops/sync/publication.ts'

function scene() {
  const box = gitSandbox()
  const key = box.sshKey('alice')
  box.write('allowed_signers', `alice@example.com ${key.publicLine}\n`)
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const commit = (files: Record<string, string>): string => {
    for (const [path, text] of Object.entries(files)) box.write(`repo/${path}`, text)
    box.git(box.at('repo'), 'add', '-A')
    box.git(box.at('repo'), ...box.signWith(key), 'commit', '-q', '-S', '-m', 'change')
    return box.git(box.at('repo'), 'rev-parse', 'HEAD')
  }
  const open = (more: Partial<BenchOptions> = {}): Bench =>
    reconcileBench({
      gitdir: box.at('repo/.git'),
      dataDir: box.at('data'),
      allowedSignersPath: box.at('allowed_signers'),
      ...more,
    })
  return { box, commit, open }
}

const positionOf = (bench: Bench): Position => {
  const { seq, digest } = bench.published.at(-1)!.signedRecord.record
  return { seq, digest }
}

test('a branch without commits is waited for', async () => {
  const { open, commit } = scene()
  const bench = open()
  const status = await bench.check()
  assert.deepEqual([status.sync, status.code, status.accepted], ['held', 'BranchMissing', null])
  assert.match(status.reason, /Push a first commit/)
  const head = commit({ 'tenants/t/a.yaml': '1' })
  assert.equal((await bench.check()).accepted?.commit, head)
})

test('a commit with errors is held with its diagnostics; the one before goes on', async () => {
  const { open, commit } = scene()
  const bench = open()
  const good = commit({ 'tenants/t/a.yaml': '1' })
  await bench.check()
  const bad = commit({ 'tenants/t/a.yaml': 'broken', 'tenants/t/b.yaml': 'broken' })
  const status = await bench.check()
  assert.deepEqual(
    [status.sync, status.code, status.head?.commit, status.accepted?.commit],
    ['held', 'CompileFailed', bad, good],
  )
  assert.deepEqual(
    status.diagnostics.map(({ file }) => file),
    ['tenants/t/a.yaml', 'tenants/t/b.yaml'],
  )
  assert.match(bench.changes.at(-1) ?? '', /2 errors[^]*a.yaml:1:1[^]*b.yaml:1:1/)
  const runs = bench.compiler.runs
  await bench.check()
  assert.equal(bench.compiler.runs, runs, 'a held head is not compiled again')
  const mended = commit({ 'tenants/t/a.yaml': '2', 'tenants/t/b.yaml': '2' })
  const after = await bench.check()
  assert.deepEqual([after.sync, after.accepted?.commit, after.diagnostics], ['synced', mended, []])
})

test('a commit that removes everything is held', async () => {
  const { box, open, commit } = scene()
  const bench = open({ compiler: createCompilePort() })
  const text = 'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\nspec: {}\n'
  const good = commit({ 'gslb.yaml': text })
  await bench.check()
  box.git(box.at('repo'), 'rm', '-q', '-r', '.')
  commit({})
  const { code, accepted, diagnostics } = await bench.check()
  assert.deepEqual(
    [code, accepted?.commit, diagnostics.map((one) => one.code)],
    ['CompileFailed', good, ['configuration-missing']],
  )
})

test('the reason counts errors, and not the warnings beside them', async () => {
  const { open, commit } = scene()
  const text = 'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\nspec: {}\n'
  commit({ 'gslb.yaml': text.replace('spec', 'spce'), 'elsewhere.yaml': text })
  const status = await open({ compiler: createCompilePort() }).check()
  assert.match(status.reason, /has an error in its configuration. Correct it in/)
  assert.equal(status.diagnosticsTotal, 2)
})

test('after a branch was set back and forth, the head is the commit of the branch', async () => {
  const { box, open, commit } = scene()
  const bench = open()
  commit({ 'tenants/t/a.yaml': '1' })
  const accepted = commit({ 'tenants/t/a.yaml': '2' })
  await bench.check()
  box.git(box.at('repo'), 'reset', '-q', '--hard', 'HEAD~1')
  const rejected = box.git(box.at('repo'), 'rev-parse', 'HEAD')
  const held = await bench.check()
  assert.deepEqual([held.code, held.head?.commit], ['HistoryRewritten', rejected])
  box.git(box.at('repo'), 'reset', '-q', '--hard', accepted)
  const after = await bench.check()
  assert.deepEqual([after.sync, after.head?.commit], ['synced', accepted])
  assert.equal(bench.published.length, 1, 'nothing new was accepted')
  assert.match(bench.changes.at(-1) ?? '', /^the branch is back at commit \w+, which was accepted/)
})

test('after a change, only the changed file is read', async () => {
  const { open, commit } = scene()
  const bench = open()
  commit({ 'tenants/t/a.yaml': '1', 'tenants/t/b.yaml': '2', 'notes.txt': 'not configuration' })
  await bench.check()
  assert.deepEqual(bench.compiler.read.splice(0), ['tenants/t/a.yaml', 'tenants/t/b.yaml'])
  commit({ 'tenants/t/b.yaml': '3' })
  await bench.check()
  assert.deepEqual(bench.compiler.read, ['tenants/t/b.yaml'])
})

test('a restart goes on: the same seq, nothing published twice', async () => {
  const { open, commit } = scene()
  const first = open()
  commit({ 'tenants/t/a.yaml': '1' })
  await first.check()
  commit({ 'tenants/t/a.yaml': '2' })
  await first.check()
  assert.deepEqual(positionOf(first).seq, 2)
  const second = open({ resume: positionOf(first) })
  assert.equal((await second.check()).sync, 'synced')
  assert.deepEqual(positionOf(second), positionOf(first), 'the record is renewed only')
  commit({ 'tenants/t/a.yaml': '3' })
  await second.check()
  assert.equal(positionOf(second).seq, 3)
})

test('after a crash between state and hand-over, the same is published again', async () => {
  const { open, commit } = scene()
  const first = open()
  commit({ 'tenants/t/a.yaml': '1' })
  await first.check()
  const old = positionOf(first)
  commit({ 'tenants/t/a.yaml': '2' })
  await first.check()
  const second = open({ resume: old })
  await second.check()
  assert.deepEqual(positionOf(second), positionOf(first))
})

test('a node that lost its bundle gets the accepted commit, while the head is held', async () => {
  const { open, commit } = scene()
  const first = open()
  const good = commit({ 'tenants/t/a.yaml': '1' })
  await first.check()
  commit({ 'tenants/t/a.yaml': 'broken' })
  const second = open()
  const status = await second.check()
  assert.equal(status.code, 'CompileFailed')
  assert.deepEqual(
    second.published.map(({ commit: oid }) => oid),
    [good],
  )
})

test('the accepted commit serves on when its signer is no longer listed', async () => {
  const { box, open, commit } = scene()
  const good = commit({ 'tenants/t/a.yaml': '1' })
  await open().check()
  box.write('allowed_signers', `bob@example.com ${box.sshKey('bob').publicLine}\n`)
  const bench = open()
  const status = await bench.check()
  assert.deepEqual([status.sync, status.accepted?.commit], ['synced', good])
  assert.equal(bench.published.length, 1)
})

const unusableSigners: readonly [title: string, text: string | null, says: RegExp][] = [
  ['damaged', 'garbage\n', /allowed_signers has an error: line 1: expected .* Correct it;/],
  ['missing', null, /allowed_signers cannot be read: it does not exist\. Make it with "gslbd/],
  ['empty', '# nobody\n', /allowed_signers lists no Ed25519 key\. Add one with "gslbd/],
]
for (const [title, text, says] of unusableSigners) {
  test(`a list of signers that is ${title} is told at the start and later, once`, async () => {
    const { box, open, commit } = scene()
    const good = commit({ 'tenants/t/a.yaml': '1' })
    await open().check()
    const lines = box.run('cat', [box.at('allowed_signers')])
    const spoil = (): void => {
      if (text === null) box.run('rm', [box.at('allowed_signers')])
      else box.write('allowed_signers', text)
    }
    spoil()
    const bench = open()
    for (let round = 1; round <= 2; round++) {
      const status = await bench.check()
      assert.deepEqual(
        [status.sync, status.code, status.head?.commit, status.accepted?.commit],
        ['held', 'SignersUnreadable', good, good],
      )
      assert.match(status.reason, says)
      assert.match(status.reason, /The commit accepted before goes on serving\.$/)
      await bench.check()
      assert.equal(bench.changes.length, 2 * round - 1, 'what stays is not told again')
      box.write('allowed_signers', `${lines}\n`)
      assert.equal((await bench.check()).sync, 'synced')
      assert.match(bench.changes.at(-1)!, /^allowed_signers can be read again/)
      spoil()
    }
    assert.equal(bench.published.length, 1, 'what was accepted is served')
  })
}

test('where no signature is asked for, the list of signers is not either', async () => {
  const { box, open, commit } = scene()
  commit({ 'tenants/t/a.yaml': '1' })
  const bench = open({ requireSignature: false })
  await bench.check()
  box.write('allowed_signers', 'garbage\n')
  assert.equal((await bench.check()).sync, 'synced')
})

test('an origin that was replaced by another is a rewritten history', async () => {
  const { box, open, commit } = scene()
  commit({ 'tenants/t/a.yaml': '1' })
  await open().check()
  box.run('rm', ['-rf', box.at('repo')])
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  commit({ 'tenants/t/z.yaml': '1' })
  assert.equal((await open().check()).code, 'HistoryRewritten')
})

test('a disk that cannot be written holds back what is tried again at the next look', async () => {
  const { box, open, commit } = scene()
  commit({ 'tenants/t/a.yaml': '1' })
  const bench = open()
  box.write('data/gitops', 'a file where the folder should be')
  const status = await bench.check()
  assert.deepEqual(
    [status.sync, status.code, bench.published.length],
    ['unreachable', 'Unreadable', 0],
  )
  box.run('rm', [box.at('data/gitops')])
  assert.equal((await bench.check()).sync, 'synced')
  assert.equal(bench.published.length, 1)
})

test('a source that is there again brings no commit that is accepted anew', async () => {
  const { box, open, commit } = scene()
  commit({ 'tenants/t/a.yaml': '1' })
  let isAway = false
  const source = createLocalSource(box.at('repo/.git'), 'main')
  const head = source.head.bind(source)
  source.head = async () => (isAway ? err({ code: 'Timeout', reason: 'late' }) : head())
  const bench = open({ source })
  await bench.check()
  assert.match(bench.changes.at(-1)!, /is accepted/)
  isAway = true
  assert.equal((await bench.check()).code, 'Timeout')
  isAway = false
  assert.equal((await bench.check()).sync, 'synced')
  assert.match(bench.changes.at(-1)!, /^the repository can be used again; commit .* is the head/)
})

test('a full disk is called that', async () => {
  const { open, commit } = scene()
  commit({ 'tenants/t/a.yaml': '1' })
  // The device that is always full gives the system's own error.
  const status = await open({ onPublish: () => writeFileSync('/dev/full', 'x') }).check()
  assert.deepEqual([status.sync, status.code], ['unreachable', 'DiskFull'])
  assert.match(status.reason, /ENOSPC.*Make room/)
})

test('a branch that cannot be read is not one that is missing', async () => {
  const { box, open, commit } = scene()
  commit({ 'tenants/t/a.yaml': '1' })
  const bench = open()
  await bench.check()
  // A link to itself: refused to everybody, as a file without rights is to all but root.
  box.run('rm', [box.at('repo/.git/refs/heads/main')])
  box.run('ln', ['-s', 'main', box.at('repo/.git/refs/heads/main')])
  const status = await bench.check()
  assert.deepEqual([status.sync, status.code], ['unreachable', 'Unreadable'])
  assert.match(status.reason, /ELOOP.*Check owner and mode/)
})

test('a damaged origin is mended by a clone of a checkout', async () => {
  const { box, open, commit } = scene()
  const gitdir = box.at('origin.git')
  const clone = (): string =>
    box.git(box.path, 'clone', '-q', '--bare', '--no-hardlinks', 'repo', gitdir)
  commit({ 'tenants/t/a.yaml': '1' })
  clone()
  const accepted = await open({ gitdir }).check()
  assert.equal(accepted.sync, 'synced')
  const head = commit({ 'tenants/t/a.yaml': '2' })
  box.git(box.at('repo'), 'push', '-q', gitdir, 'main')
  box.run('sh', ['-c', `find ${gitdir}/objects -type f -delete`])
  const damaged = await open({ gitdir }).check()
  assert.deepEqual([damaged.code, damaged.accepted], ['Unreadable', accepted.accepted])
  assert.match(damaged.reason, new RegExp(`${head} is missing.*Put a clone of a checkout`))
  box.run('mv', [gitdir, `${gitdir}.damaged`])
  clone()
  const mended = await open({ gitdir }).check()
  assert.deepEqual([mended.sync, mended.accepted?.commit], ['synced', head])
})

test('the steps of a run are in the status, up to the one that failed', async () => {
  const { open, commit } = scene()
  const bench = open()
  commit({ 'tenants/t/a.yaml': '1' })
  const names = (await bench.check()).conditions.map(({ step, state }) => `${step} ${state}`)
  const all = ['fetch', 'descend', 'verify', 'enumerate', 'compile', 'guard', 'sign', 'publish']
  assert.deepEqual(
    names,
    all.map((step) => `${step} passed`),
  )
  commit({ 'tenants/t/a.yaml': 'broken' })
  const failed = (await bench.check()).conditions.map(({ step, state }) => `${step} ${state}`)
  assert.deepEqual(failed, [
    'fetch passed',
    'descend passed',
    'verify passed',
    'enumerate passed',
    'compile failed',
  ])
})

test('text of a commit cannot steer a terminal', async () => {
  const { box, open } = scene()
  const env = ['GIT_AUTHOR_NAME=\u001b[31mred', 'git', '-C', box.at('repo')]
  box.run('env', [...env, 'commit', '-q', '--allow-empty', '-m', '\u001b]0;title\u0007'])
  const bench = open()
  const status = await bench.check()
  assert.equal(status.code, 'Unsigned')
  assert(!JSON.stringify([status, bench.changes]).includes('\\u001b'))
})

test('a compiler that fails is our mistake, and not the end', async () => {
  const { open, commit } = scene()
  commit({ 'tenants/t/a.yaml': '1' })
  const compiler = new HashingCompiler()
  let isFailing = true
  const bench = open({
    compiler: {
      ...compiler,
      compile: (files, oid) => {
        if (isFailing) throw new Error('assertion failed: something')
        return compiler.compile(files, oid)
      },
    },
  })
  const status = await bench.check()
  assert.equal(status.code, 'InternalError')
  assert.match(status.reason, /assertion failed: something/)
  isFailing = false
  assert.equal((await bench.check()).sync, 'synced')
})

test('nodes with the same commit have the same serial, and each commit raises it', async () => {
  const { box, open, commit } = scene()
  const serialOf = (bench: Bench): number | undefined =>
    bench.published.at(-1)?.signedRecord.record.serial
  const first = open()
  for (const text of ['1', '2', '3']) {
    commit({ 'tenants/t/a.yaml': text })
    await first.check()
  }
  assert.equal(serialOf(first), 3)
  const late = open({ dataDir: box.at('late') })
  await late.check()
  assert.equal(serialOf(late), 3, 'a node that joined later')
  // A merge whose first parent is the side branch: along first parents the way is shorter.
  const repo = box.at('repo')
  box.git(repo, 'checkout', '-q', '-b', 'side', 'HEAD~2')
  const key = { path: box.at('alice'), publicLine: '' }
  const merge = ['merge', '-q', '-S', '--no-ff', '-s', 'ours', '-m', 'merge', 'main']
  box.git(repo, ...box.signWith(key), ...merge)
  box.git(repo, 'branch', '-q', '-f', 'main', 'side')
  assert.equal((await first.check()).sync, 'synced')
  assert.equal((await late.check()).sync, 'synced')
  assert.deepEqual([serialOf(first), serialOf(late)], [4, 4])
  box.git(repo, 'checkout', '-q', 'main')
  // Back to what was there before: the digest is an old one, the serial is not.
  box.git(repo, ...box.signWith(key), 'commit', '-q', '-S', '--allow-empty', '-m', 'again')
  await first.check()
  assert.equal(serialOf(first), 5)
})

test('a state of before there were serials: the accepted commit is counted', async () => {
  const { box, open, commit } = scene()
  const first = open()
  commit({ 'tenants/t/a.yaml': '1' })
  commit({ 'tenants/t/a.yaml': '2' })
  await first.check()
  const text = readFileSync(box.at('data/gitops/state.json'), 'utf8')
  const { serial, ...old } = JSON.parse(text) as Record<string, unknown>
  assert.equal(serial, 2)
  box.write('data/gitops/state.json', JSON.stringify(old))
  const second = open({ resume: positionOf(first) })
  const { accepted } = await second.check()
  assert.equal(accepted?.serial, 2)
  commit({ 'tenants/t/a.yaml': '3' })
  assert.equal((await second.check()).accepted?.serial, 3)
})
