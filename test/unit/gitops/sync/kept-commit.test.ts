// A restart takes up what the process before has read and compiled; where that is in doubt, it
// reads the commit anew, and all else is the same.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { signingKeyFromPem } from '#bundle/signature/channel.ts'
import { readFile } from '#compiler/read/read-file.ts'
import type { Operation } from '#config/operation.ts'
import { loosePath } from '#gitops/git/objects/object-store.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { RememberingCompiler } from '#gitops/sync/compile-adapter.ts'
import { KeptCommit } from '#gitops/sync/kept-commit.ts'
import { decodeKept, encodeKept } from '#gitops/sync/kept-file.ts'
import { keptPathOf, originPath, statePathOf } from '#gitops/thread/options.ts'
import { kindNames } from '#schemas/kinds.ts'
import { gitHttpServer } from '#test/support/git-http-server.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '#test/support/write-scene.ts'
import type { SceneOptions, WriteScene } from '#test/support/write-scene.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const pool = (name: string): string => `apiVersion: gslb/v1
kind: Pool
metadata: { name: ${name} }
spec:
  members:
    - { name: a, ipAddress: 192.0.2.1, port: 443, weight: 0 }
`
const service = `apiVersion: gslb/v1
kind: Service
metadata: { name: www }
spec: { domain: WWW.example.com., pool: one }
`
const files = {
  'gslb.yaml': settingsYaml,
  'README.md': 'not read',
  'tenants/default/pools/one.yaml': pool('one'),
  'tenants/default/services/www.yaml': service,
}
const create = (name: string): Operation => ({
  ...{ verb: 'create', kind: 'Pool', tenant: 'default', name },
  spec: { members: [{ ipAddress: '192.0.2.99', port: 80 }] },
})

/** Counts compilations, and the files whose octets it was given. */
function counting() {
  const real = createCompilePort()
  const count = { compiled: 0, read: 0 }
  const compiler: RememberingCompiler = {
    ...real,
    compile: (given, commit) => {
      count.compiled++
      const isNew = ({ blobId, bytes }: SourceFile) => !real.has(blobId) && bytes !== null
      count.read += given.filter(isNew).length
      return real.compile(given, commit)
    },
  }
  return { count, compiler }
}

interface Left {
  readonly options: SceneOptions
  readonly first: WriteScene
  readonly kept: string
}

/** A node that has run, and has stopped. */
async function left(): Promise<Left> {
  const options = { dataDir: gitSandbox().at('data'), pem: newPem() }
  await seedOrigin(options, files)
  const first = await startWriteScene(options)
  await first.stop()
  return { options, first, kept: keptPathOf(options.dataDir) }
}

async function restart({ options, first }: Left) {
  const { count, compiler } = counting()
  const scene = await startWriteScene({ ...options, compiler, resume: servedBy(first) })
  return { scene, count }
}

function servedBy({ published }: WriteScene) {
  const { bundle, signedRecord } = published.at(-1)!
  const { seq, digest } = signedRecord.record
  return { seq, digest, bundle }
}

function assertSame(scene: WriteScene, first: WriteScene): void {
  const [now, before] = [scene.view.snapshot(), first.view.snapshot()]
  assert.equal(now.revision, before.revision)
  for (const kind of kindNames) assert.deepEqual(now.list(kind), before.list(kind))
  const [entry] = before.list('Pool')
  assert.deepEqual(now.get('Pool', entry!.uid), entry)
  assert.deepEqual(now.servicesOf('one'), before.servicesOf('one'))
  assert.deepEqual(shown(scene), shown(first))
}

function shown({ status }: WriteScene) {
  const { head, accepted, sync, diagnostics, diagnosticsTotal } = status()
  return { head, accepted, sync, diagnostics, diagnosticsTotal }
}

test('a restart compiles nothing, and serves readers the same', async () => {
  const before = await left()
  const { scene, count } = await restart(before)
  assert.deepEqual(count, { compiled: 0, read: 0 })
  assertSame(scene, before.first)
  const [record, old] = [scene, before.first].map(({ published }) => published.at(-1)!)
  assert.equal(record!.signedRecord.record.digest, old!.signedRecord.record.digest)
  assert.equal(record!.signedRecord.record.seq, old!.signedRecord.record.seq)
  await scene.stop()
})

test('a restart signs its record, then tells of objects, then asks the remote', async () => {
  const box = gitSandbox()
  const pem = newPem()
  const remote = { dataDir: box.at('remote'), pem }
  await seedOrigin(remote, files)
  const server = await gitHttpServer(remote.dataDir)
  const allowedSignersPath = join(remote.dataDir, 'allowed_signers')
  const url = server.url('config.git')
  const options = { dataDir: box.at('data'), pem, url, allowedSignersPath }
  const first = await startWriteScene(options)
  await first.stop()
  const told: string[] = []
  server.behave = 'cut'
  server.onRequest = () => told.push('question')
  const onTold = (what: string): number => told.push(what)
  const scene = await startWriteScene({ ...options, resume: servedBy(first), onTold })
  assert.deepEqual(told.slice(0, 3), ['publication', 'config', 'question'])
  assert.equal(scene.published.length, 1)
  await scene.stop()
})

test('the first write reads no file again, and its bundle is that of any node', async () => {
  const before = await left()
  const { scene, count } = await restart(before)
  const written = await scene.write(create('two'))
  assert(written.ok)
  assert.equal(count.compiled, 2)
  assert.equal(count.read, 1)
  assert.deepEqual(
    scene.view
      .snapshot()
      .list('Pool')
      .map(({ name }) => name),
    ['one', 'two'],
  )
  await scene.stop()
  rmSync(before.kept)
  const fresh = await startWriteScene(before.options)
  const digestOf = ({ published }: WriteScene) => published.at(-1)!.signedRecord.record.digest
  assert.equal(digestOf(fresh), digestOf(scene))
  await fresh.stop()
})

/** A node that has read its first commit, and has been quiet. */
async function rested() {
  const options = { dataDir: gitSandbox().at('data'), pem: newPem() }
  await seedOrigin(options, files)
  const { count, compiler } = counting()
  let forgotten = 0
  const forget = (): void => {
    forgotten++
    compiler.forget()
  }
  const scene = await startWriteScene({ ...options, compiler: { ...compiler, forget } })
  const before = { status: scene.status(), snapshot: scene.view.snapshot() }
  assert.equal(await scene.keep(), 'kept')
  assert.equal(forgotten, 1)
  return { options, scene, count, before, forgotten: () => forgotten }
}

test('a first commit is put away once it is kept, and is read for the first write', async () => {
  const { options, scene, count, before, forgotten } = await rested()
  assert.deepEqual(count, { compiled: 1, read: 3 })
  assert.equal(scene.view.snapshot(), before.snapshot)
  assert.deepEqual(scene.status(), before.status)
  assert.equal(await scene.keep(), 'nothing new')
  assert((await scene.write(create('two'))).ok)
  assert.deepEqual(count, { compiled: 3, read: 4 })
  assert.deepEqual(namesOf(scene), ['one', 'two'])
  // Another write is likely: it finds all as it was.
  assert.equal(await scene.keep(), 'kept')
  assert((await scene.write(create('three'))).ok)
  assert.deepEqual([count.compiled, forgotten()], [4, 1])
  assert.deepEqual(namesOf(scene), ['one', 'three', 'two'])
  await scene.stop()
  const fresh = await startWriteScene(options)
  const digestOf = ({ published }: WriteScene) => published.at(-1)!.signedRecord.record.digest
  assert.equal(digestOf(fresh), digestOf(scene))
  await fresh.stop()
})

test('a first commit that was put away is read from Git where its file is damaged', async () => {
  const { options, scene, count } = await rested()
  writeFileSync(keptPathOf(options.dataDir), 'damaged')
  assert((await scene.write(create('two'))).ok)
  assert.deepEqual([count.compiled, namesOf(scene)], [3, ['one', 'two']])
  await scene.stop()
})

test('an object that was lost since a first commit was put away is told', async () => {
  const { options, scene } = await rested()
  const { blobId } = scene.view.snapshot().list('Pool')[0]!
  rmSync(loosePath(originPath(options.dataDir), blobId))
  const refused = await scene.write(create('two'))
  assert(!refused.ok && refused.error.code === 'unreachable')
  await waitUntil('the status', () => scene.status().code === 'Unreadable')
  await scene.stop()
})

const namesOf = ({ view }: WriteScene): string[] =>
  view
    .snapshot()
    .list('Pool')
    .map(({ name }) => name)

test('a commit after the one that was kept reads what is new in it', async () => {
  const before = await left()
  const kept = readFileSync(before.kept)
  const second = await restart(before)
  assert((await second.scene.write(create('two'))).ok)
  await second.scene.stop()
  // As after a crash: the file is of the commit before.
  writeFileSync(before.kept, kept)
  const { scene, count } = await restart({ ...before, first: second.scene })
  assert.deepEqual(count, { compiled: 1, read: 1 })
  assertSame(scene, second.scene)
  await scene.stop()
})

const bad: Readonly<Record<string, (kept: Buffer, pem: string) => Buffer>> = {
  empty: () => Buffer.alloc(0),
  cut: (kept) => kept.subarray(0, kept.length - 1),
  flipped: (kept) => {
    const flipped = Buffer.from(kept)
    flipped[flipped.length - 20]! ^= 1
    return flipped
  },
  'of another version': (kept, pem) => {
    const key = signingKeyFromPem(pem)
    const read = decodeKept(kept, key)
    assert(read.ok)
    return Buffer.concat(encodeKept({ ...read.value.head, stamp: 'another' }, [], key)!)
  },
}

for (const [name, spoil] of Object.entries(bad)) {
  test(`a file that is ${name} is thrown away with one line`, async () => {
    const before = await left()
    writeFileSync(before.kept, spoil(readFileSync(before.kept), before.options.pem))
    const { scene, count } = await restart(before)
    assert.equal(count.compiled, 1)
    assertSame(scene, before.first)
    const lines = scene.changes.filter((line) => line.includes(before.kept))
    assert.equal(lines.length, 1)
    assert.match(lines[0]!, /; it is made anew, and the accepted commit read from Git$/)
    await scene.stop()
    const again = await restart(before)
    assert.equal(again.count.compiled, 0)
    await again.scene.stop()
  })
}

test('a bundle that is not the one of the file is not believed', async () => {
  const before = await left()
  const { bundle, signedRecord } = before.first.published.at(-1)!
  const { seq } = signedRecord.record
  const { count, compiler } = counting()
  const resume = { seq, digest: '0'.repeat(64), bundle }
  const scene = await startWriteScene({ ...before.options, compiler, resume })
  assert.equal(count.compiled, 1)
  assert.equal(scene.published.at(-1)!.signedRecord.record.seq, seq + 1)
  await scene.stop()
})

test('an object that was lost meanwhile is told, though nothing reads it', async () => {
  const before = await left()
  const { blobId } = before.first.view.snapshot().list('Pool')[0]!
  const lost = loosePath(originPath(before.options.dataDir), blobId)
  const bytes = readFileSync(lost)
  rmSync(lost)
  const { scene } = await restart(before)
  assert.equal(scene.status().code, 'Unreadable')
  assert.match(scene.status().reason, new RegExp(blobId))
  const refused = await scene.write(create('two'))
  assert(!refused.ok && refused.error.code === 'unreachable')
  writeFileSync(lost, bytes)
  assert((await scene.write(create('two'))).ok)
  await scene.stop()
})

test('a head that is new at a restart is judged against what was kept', async () => {
  const before = await left()
  const state = statePathOf(before.options.dataDir)
  const [old, kept] = [readFileSync(state), readFileSync(before.kept)]
  const second = await restart(before)
  assert((await second.scene.write(create('two'))).ok)
  await second.scene.stop()
  writeFileSync(state, old)
  writeFileSync(before.kept, kept)
  const { scene, count } = await restart(before)
  assert.deepEqual(count, { compiled: 2, read: 1 })
  assert.equal(scene.status().sync, 'synced')
  assert.equal(scene.view.snapshot().list('Pool').length, 2)
  await scene.stop()
})

test('a head that is held at a restart is the head, though what was kept is read', async () => {
  const before = await left()
  const box = gitSandbox()
  const git = (...args: string[]) => box.git(originPath(before.options.dataDir), ...args)
  const accepted = git('rev-parse', 'main')
  const unsigned = git('commit-tree', '-m', 'unsigned', '-p', accepted, `${accepted}^{tree}`)
  git('update-ref', 'refs/heads/main', unsigned)
  const { scene } = await restart(before)
  const { code, head, accepted: serving } = scene.status()
  assert.deepEqual([code, head?.commit, serving?.commit], ['Unsigned', unsigned, accepted])
  await scene.stop()
})

test('a disk that does not take the file stops nothing', async () => {
  const options = { dataDir: gitSandbox().at('data'), pem: newPem() }
  await seedOrigin(options, files)
  const kept = keptPathOf(options.dataDir)
  mkdirSync(kept, { recursive: true })
  const scene = await startWriteScene(options)
  assert((await scene.write(create('two'))).ok)
  await scene.stop()
  const lines = scene.changes.filter((line) => line.startsWith(kept))
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /cannot be written, and the next start takes longer: E/)
})

test('a restart on a disk that takes nothing serves all, and says so until it does', async () => {
  const before = await left()
  const state = statePathOf(before.options.dataDir)
  const aside = `${state}.aside`
  const starting = restart(before)
  // No file can be renamed to a folder.
  renameSync(state, aside)
  mkdirSync(state)
  const { scene } = await starting
  assert.deepEqual([scene.status().sync, scene.status().code], ['unreachable', 'Unreadable'])
  assert.equal(scene.changes.length, 1)
  assert.equal(scene.published.length, 1)
  assert.equal(scene.view.snapshot().list('Pool').length, 1)
  rmSync(state, { recursive: true })
  renameSync(aside, state)
  scene.poke()
  await waitUntil('the disk is used again', () => scene.status().sync === 'synced')
  assert.match(scene.changes.at(-1)!, /^the repository can be used again/)
  await scene.stop()
})

test('more text than fits into a file is not kept, and nothing is told', async () => {
  const path = keptPathOf(gitSandbox().path)
  const notes: string[] = []
  const note = (line: string): void => void notes.push(line)
  const parts = { path, key: signingKeyFromPem(newPem()), stamp: 'a', note }
  const kept = new KeptCommit(parts, () => undefined)
  const head = { commit: 'b', tree: 'c', digest: 'd', diagnostics: [], total: 0 }
  const file = readFile('0'.repeat(40), Buffer.from(pool('one')))
  // It has no octets yet, and gets none.
  const large = { path: 'one.yaml', file: { ...file, text: 'x'.repeat(2 ** 28) } }
  await kept.keep(head, () => [large, large, large])
  assert.equal(kept.find(head), undefined)
  // A mistake of ours ends nothing, either; it is told once.
  for (const commit of ['e', 'f']) {
    await kept.keep({ ...head, commit }, () => {
      throw new RangeError('Invalid string length')
    })
  }
  assert.equal(notes.length, 1)
})
