// How many parts an object may have is counted where the operation is applied: in the batch, and
// again on the commit of a writer that was faster.
import assert from 'node:assert/strict'
import { onTestFinished, test } from 'vitest'
import type { CommitResult, Operation } from '#config/operation.ts'
import { contestedRemote } from '#test/support/contested-remote.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { poolPath, poolYaml } from '#test/support/site.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '#test/support/write-scene.ts'
import type { WriteScene } from '#test/support/write-scene.ts'

const files = { 'gslb.yaml': settingsYaml, [poolPath]: poolYaml('192.0.2.1') }
/** The pool has one member. */
const partsMax = 2
const message = 'a pool of this test has two members at most'

const membersOf = ({ view }: WriteScene) => view.snapshot().list('Pool')[0]!.object.spec.members

function adding(host: number): Operation {
  return {
    verb: 'create',
    kind: 'Member',
    owner: { tenant: 'default', name: 'web' },
    spec: { ipAddress: `198.51.100.${host}`, port: 80 },
    limit: { partsMax, message },
  }
}

const outcomes = (results: readonly CommitResult[]): string[] =>
  results.map((result) => (result.ok ? 'done' : result.error.code))

async function localScene(): Promise<WriteScene> {
  const options = { dataDir: gitSandbox().at('data'), pem: newPem() }
  await seedOrigin(options, files)
  const scene = await startWriteScene(options)
  onTestFinished(scene.stop)
  return scene
}

test('a batch is carried out as far as there is room', async () => {
  const scene = await localScene()
  const written = await Promise.all([1, 2, 3, 4].map((host) => scene.write(adding(host))))
  assert.deepEqual(outcomes(written), ['done', 'too-many', 'too-many', 'too-many'])
  const sentences = written.slice(1).map((result) => (result.ok ? '' : result.error.message))
  assert.deepEqual(sentences, [message, message, message])
  assert.equal(membersOf(scene).length, partsMax)
})

test('an invalid write takes no room', async () => {
  const scene = await localScene()
  const twice = { ...adding(1), spec: { ipAddress: '192.0.2.1', port: 80 } } as Operation
  const written = await Promise.all([twice, adding(1)].map((each) => scene.write(each)))
  assert.deepEqual(outcomes(written), ['conflict', 'done'])
})

test('a request that makes room first is done', async () => {
  const scene = await localScene()
  const first = await scene.write(adding(1), adding(2))
  assert.deepEqual(outcomes([first]), ['too-many'])
  assert.equal(membersOf(scene).length, 1, 'all of it or nothing')
  assert.deepEqual(outcomes([await scene.write(adding(1))]), ['done'])
  const uid = membersOf(scene).at(-1)!.uid!
  const leaving = { verb: 'delete', kind: 'Member', target: { uid } } as const
  assert.deepEqual(outcomes([await scene.write(leaving, adding(2))]), ['done'])
  assert.equal(membersOf(scene).length, partsMax)
})

test("the limit holds after a lost race, with the other node's writes", async () => {
  const { box, pems, signers, url } = await contestedRemote({ [poolPath]: files[poolPath] })
  const start = async (name: 'one' | 'two'): Promise<WriteScene> => {
    const dataDir = box.at(`data-${name}`)
    const options = { dataDir, pem: pems[name], url, allowedSignersPath: signers }
    const scene = await startWriteScene(options)
    onTestFinished(scene.stop)
    return scene
  }
  const [one, two] = [await start('one'), await start('two')]
  assert.deepEqual(outcomes([await one.write(adding(1))]), ['done'])
  assert.equal(membersOf(two).length, 1, 'it has not looked yet')
  assert.deepEqual(outcomes([await two.write(adding(2))]), ['too-many'])
  assert.equal(membersOf(two).length, partsMax)
})
