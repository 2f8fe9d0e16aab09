import assert from 'node:assert/strict'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { test } from 'vitest'
import { readFile } from '#compiler/read/read-file.ts'
import { configEntry } from '#config/entry.ts'
import { LiveConfigView } from '#config/view.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { startPipeline, wholeOf } from '#gitops/thread/pipeline.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import { systemClock } from '#lib/clock.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import { newSigningKey } from '../../../support/bundle-models.ts'
import { settingsYaml } from '../../../support/write-scene.ts'

test('objects that are too many octets are handed over as they are', () => {
  const file = readFile('0'.repeat(40), Buffer.from(settingsYaml))
  const { kind, object, blobId } = file
  assert(kind !== undefined && object !== undefined)
  const entry = configEntry('gslb.yaml', blobId, kind, object)
  const delta = { revision: 'a', changed: [entry], removed: [] }
  const read = [{ path: 'gslb.yaml', file }]
  const [octets, whole] = [wholeOf({ read }, delta), wholeOf({ read }, delta, 100)]
  assert.deepEqual([octets.changed.length, whole.objects], [0, undefined])
  const seen = [octets, whole].map((news) => {
    const view = new LiveConfigView()
    view.apply(news)
    return view.snapshot().list(kind)
  })
  assert.deepEqual(seen, [[entry], [entry]])
})

test('a repository that cannot be read is told once, and taken up when it can', async () => {
  const box = gitSandbox()
  const gitdir = box.at('origin/.git')
  box.git(box.path, 'init', '-q', '-b', 'main', 'origin')
  renameSync(gitdir, box.at('aside'))
  // A link to itself: refused to everybody, as a folder without rights is to all but root.
  symlinkSync('.git', gitdir)
  const statuses: GitopsStatus[] = []
  const changes: string[] = []
  let onStatus = (_: GitopsStatus): void => undefined
  const pem = newSigningKey().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const pipeline = startPipeline({
    options: {
      dataDir: box.at('data'),
      url: box.at('origin'),
      branch: 'main',
      pollMs: 1_000,
      requireSignature: false,
      allowedSignersPath: box.at('allowed_signers'),
      channel: 'main',
      signingKeyPem: pem,
      recordTtlMs: 60_000,
      resume: null,
    },
    compiler: createCompilePort(),
    clock: systemClock,
    random: () => 0.5,
    onPrepare: () => undefined,
    onPublish: () => undefined,
    onConfig: () => undefined,
    onStatus: (status, change) => {
      statuses.push(status)
      if (change !== '') changes.push(change)
      onStatus(status)
    },
  })
  pipeline.poke()
  assert.deepEqual(
    statuses.map(({ sync, code }) => `${sync} ${code}`),
    ['unreachable Unreadable', 'unreachable Unreadable'],
  )
  assert.equal(changes.length, 1)
  assert.match(changes[0]!, /origin cannot be read: ELOOP.*Check its owner and mode/)
  rmSync(gitdir)
  renameSync(box.at('aside'), gitdir)
  const seen = new Promise<void>((resolve) => {
    onStatus = ({ code }) => code === 'BranchMissing' && resolve()
  })
  pipeline.poke()
  await seen
  await pipeline.stop()
})
