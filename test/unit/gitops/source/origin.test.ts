import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, utimesSync } from 'node:fs'
import fc from 'fast-check'
import { test } from 'vitest'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { formatPublicKeyLine, generateSshKey } from '#gitops/trust/openssh-key.ts'
import { findRepository } from '#gitops/source/attest.ts'
import { commitSigned, ensureOrigin, seedRepository } from '#gitops/source/origin.ts'
import { isBranchName } from '#gitops/git/refs.ts'
import { parseTree } from '#gitops/git/objects/tree-object.ts'
import { gitEnvironment, gitSandbox } from '../../../support/git-sandbox.ts'

const author = { name: 'gslbd <gslbd@example.com>', seconds: 1_790_000_000 }
const key = generateSshKey('gslbd')

function origin() {
  const box = gitSandbox()
  const gitdir = box.at('data/config.git')
  box.run('mkdir', [box.at('data')])
  assert.deepEqual(ensureOrigin(gitdir, 'main'), { ok: true, value: 'made' })
  box.write('allowed_signers', `gslbd@example.com ${formatPublicKeyLine(key.publicKey, '')}\n`)
  box.git(gitdir, 'config', 'gpg.ssh.allowedSignersFile', box.at('allowed_signers'))
  const driver = createDiskDriver(gitdir)
  const seed = (files: Record<string, string>) =>
    seedRepository(
      driver,
      {
        branch: 'main',
        files: new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)])),
        message: 'first commit',
        author,
      },
      key,
    )
  return { box, gitdir, driver, seed }
}

test('a new origin is what git makes: clean, bare, and it refuses rewriting pushes', () => {
  const { box, gitdir } = origin()
  assert.equal(box.git(gitdir, 'rev-parse', '--is-bare-repository'), 'true')
  assert.equal(box.git(gitdir, 'symbolic-ref', 'HEAD'), 'refs/heads/main')
  assert.equal(box.git(gitdir, 'config', 'receive.denyNonFastForwards'), 'true')
  assert.equal(box.git(gitdir, 'fsck'), '')
  assert.deepEqual(ensureOrigin(gitdir, 'main'), { ok: true, value: 'found' })
})

test('a folder that is no repository is not taken for the origin', () => {
  const { box } = origin()
  box.write('other/file', 'x')
  const found = ensureOrigin(box.at('other'), 'main')
  assert(!found.ok)
  assert.match(found.error, /is not a Git repository/)
})

test('git verifies, shows and clones the first commit', async () => {
  const { box, gitdir, seed } = origin()
  const commit = await seed({
    'gslb.yaml': 'a\n',
    'tenants/t/b.yaml': 'b\n',
    'tenants/t.yaml': 'c\n',
    'tenants/t-x/d.yaml': 'd\n',
  })
  assert(commit.ok)
  assert.equal(box.git(gitdir, 'fsck', '--full', '--strict'), '')
  const verified = spawnSync('git', ['-C', gitdir, 'verify-commit', 'main'], {
    env: { PATH: process.env['PATH'], ...gitEnvironment },
    encoding: 'utf8',
  })
  assert.equal(verified.status, 0, verified.stderr)
  assert.match(verified.stderr, /Good "git" signature for gslbd@example.com/)
  assert.match(box.git(gitdir, 'log', '--show-signature', '-1'), /first commit/)
  box.git(box.path, 'clone', '-q', gitdir, 'clone')
  assert.equal(readFileSync(box.at('clone/tenants/t/b.yaml'), 'utf8'), 'b\n')
  assert.equal((await seed({ x: 'y' })).ok, false, 'a second first commit is refused')
})

test('a changed path keeps the rest of the tree, file modes included', async () => {
  const { box, gitdir, driver, seed } = origin()
  const first = await seed({ 'a/b/c.yaml': '1', 'a/d.yaml': '2', 'run.sh': '3' })
  assert(first.ok)
  const changes = new Map([
    ['a/b/c.yaml', null],
    ['a/e.yaml', Buffer.from('4')],
  ])
  const tree = await driver.writeFiles(box.git(gitdir, 'rev-parse', 'main^{tree}'), changes)
  assert(tree.ok)
  const commit = {
    branch: 'main',
    parent: first.value,
    tree: tree.value,
    author,
    committer: author,
    message: 'second',
  }
  const second = await commitSigned(driver, commit, key)
  assert(second.ok)
  assert.equal(
    box.git(gitdir, 'ls-tree', '-r', '--name-only', 'main'),
    'a/d.yaml\na/e.yaml\nrun.sh',
  )
  assert.equal(box.git(gitdir, 'rev-list', '--count', 'main'), '2')
  assert.equal((await commitSigned(driver, commit, key)).ok, false, 'the branch has moved')
})

test('lists a tree as git does, links and submodules told apart', async () => {
  const { box } = origin()
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const repo = box.at('repo')
  box.write('repo/b/x.yaml', 'x')
  box.write('repo/b.yaml', 'y')
  box.write('repo/b/ü ö.yaml', 'z')
  box.run('ln', ['-s', 'b.yaml', box.at('repo/link.yaml')])
  box.git(repo, 'add', '-A')
  box.git(repo, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`)
  box.git(repo, 'commit', '-q', '-m', 'all kinds')
  for (const pack of [false, true]) {
    if (pack) box.git(repo, 'gc', '-q')
    const files = await createDiskDriver(box.at('repo/.git')).readTree(
      box.git(repo, 'rev-parse', 'HEAD^{tree}'),
    )
    assert(files.ok)
    const listed = files.value.map(({ mode, kind, oid, path }) => `${mode} ${oid}\t${path} ${kind}`)
    const kinds: Record<string, string> = { 120000: 'symlink', 160000: 'submodule' }
    const expected = box
      .git(repo, '-c', 'core.quotePath=off', 'ls-tree', '-r', 'HEAD')
      .split('\n')
      .map((line) => `${line.replace(/ (blob|commit) /, ' ')} ${kinds[line.slice(0, 6)] ?? 'file'}`)
    assert.deepEqual(listed, expected)
  }
})

test('sees refs that git packed', async () => {
  const { box, gitdir, driver, seed } = origin()
  const commit = await seed({ a: 'b' })
  assert(commit.ok)
  box.git(gitdir, 'update-ref', `refs/gslb/attest/${commit.value}`, commit.value)
  box.git(gitdir, 'pack-refs', '--all')
  assert.equal(driver.readRef('refs/heads/main'), commit.value)
  assert.deepEqual([...driver.listRefs('refs/gslb/attest/')], [[commit.value, commit.value]])
  assert.equal((await driver.moveRef('refs/heads/main', null, commit.value)).ok, false)
})

test('while git holds the lock of the branch, we wait; while we hold it, git does', async () => {
  const { box, gitdir, driver, seed } = origin()
  const commit = await seed({ a: 'b' })
  assert(commit.ok)
  const lock = box.write('data/config.git/refs/heads/main.lock', '')
  const moved = await driver.moveRef('refs/heads/main', commit.value, commit.value)
  assert(!moved.ok)
  assert.match(moved.error.reason, /held by another process/)
  assert.throws(() =>
    execFileSync('git', ['-C', gitdir, 'update-ref', 'refs/heads/main', commit.value], {
      stdio: 'ignore',
    }),
  )
  assert(existsSync(lock), 'the lock of another is left alone')
})

test('a lock that a killed process left is taken away after a while', async () => {
  const { box, driver, seed } = origin()
  const commit = await seed({ a: 'b' })
  assert(commit.ok)
  const lock = box.write('data/config.git/refs/heads/main.lock', '')
  const longAgo = Date.now() / 1000 - 120
  utimesSync(lock, longAgo, longAgo)
  assert((await driver.moveRef('refs/heads/main', commit.value, commit.value)).ok)
  assert(!existsSync(lock))
})

test('a single one of several concurrent writers from the same commit wins', async () => {
  const { driver, seed } = origin()
  const base = await seed({ a: 'b' })
  assert(base.ok)
  const attempts = await Promise.all(
    Array.from({ length: 8 }, async (_, i) => {
      const tree = await driver.writeFiles(null, new Map([[`f${i}`, Buffer.from('x')]]))
      assert(tree.ok)
      const draft = {
        branch: 'main',
        parent: base.value,
        tree: tree.value,
        author,
        committer: author,
        message: `w${i}`,
      }
      return commitSigned(driver, draft, key)
    }),
  )
  const winners = attempts.filter((attempt) => attempt.ok)
  assert.equal(winners.length, 1)
  assert.equal(driver.readRef('refs/heads/main'), winners[0]?.value)
})

test('an object whose content is not what its name says is refused', async () => {
  const { box, gitdir, driver, seed } = origin()
  const commit = await seed({ a: 'b' })
  assert(commit.ok)
  const path = (oid: string): string => `${gitdir}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`
  const blob = box.git(gitdir, 'rev-parse', 'main:a')
  box.run('cp', ['-f', path(commit.value), path(blob)])
  const read = await driver.readBlob(blob)
  assert(!read.ok)
  assert.equal(read.error.kind, 'damaged')
  box.run('sh', ['-c', `chmod u+w ${path(blob)}; : > ${path(blob)}`])
  assert.equal((await driver.readBlob(blob)).ok, false)
})

test('a tree of trees that multiplies is cut off', async () => {
  const { driver } = origin()
  let tree = driver.writeObject('tree', Buffer.alloc(0))
  for (let depth = 0; depth < 28; depth++) {
    const id = Buffer.from(tree, 'hex')
    const entry = (name: string): Buffer => Buffer.concat([Buffer.from(`40000 ${name}\0`), id])
    tree = driver.writeObject('tree', Buffer.concat([entry('a'), entry('b')]))
  }
  const files = await driver.readTree(tree)
  assert(!files.ok)
  assert.match(files.error.reason, /more than \d+ files/)
})

const badNames = ['..', '.', '.git', '.GIT', 'a\nb', 'x'.repeat(300)]
for (const name of badNames) {
  test(`a tree with the name ${JSON.stringify(name.slice(0, 20))} is refused`, () => {
    const raw = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.alloc(20)])
    assert.equal(parseTree(raw).ok, false)
  })
}

test('any bytes are either a tree or an error, never a throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.boolean(), (bytes, isPrefixed) => {
      parseTree(isPrefixed ? Buffer.concat([Buffer.from('100644 a\0'), bytes]) : bytes)
    }),
  )
})

const branches: readonly [name: string, isOk: boolean][] = [
  ['main', true],
  ['team/eu-1', true],
  ['v1.2', true],
  ['../main', false],
  ['a/../b', false],
  ['a//b', false],
  ['-x', false],
  ['main.lock', false],
  ['a/.b', false],
  ['HEAD', false],
  ['', false],
]
for (const [name, isOk] of branches) {
  test(`"${name}" is ${isOk ? 'a' : 'no'} branch name`, () =>
    assert.equal(isBranchName(name), isOk))
}

test('a repository of SHA-256, or with refs that are no files, is refused by name', () => {
  const { box } = origin()
  box.git(box.path, 'init', '-q', '--object-format=sha256', 'checkout')
  box.git(box.path, 'init', '-q', '--bare', '--object-format=sha256', 'bare.git')
  box.write('checkout/dns/gslb.yaml', '')
  for (const path of ['checkout', 'checkout/dns', 'bare.git']) {
    const found = findRepository(box.at(path))
    assert(!found.ok)
    assert.match(found.error, /SHA-256.*git init --object-format=sha1/)
  }
  const made = ensureOrigin(box.at('bare.git'), 'main')
  assert(!made.ok && made.error.includes('SHA-256'))
  box.write('bare.git/config', '[core]\n\tbare = true\n[Extensions]\n\trefStorage = "reftable"\n')
  const kept = ensureOrigin(box.at('bare.git'), 'main')
  assert(!kept.ok && kept.error.includes('refs migrate --ref-format=files'))
  box.write(
    'bare.git/config',
    '[core]\n\tx = objectformat = sha256\n[extensions] objectFormat = sha1\n',
  )
  assert.equal(ensureOrigin(box.at('bare.git'), 'main').ok, true)
})
