import assert from 'node:assert/strict'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { test } from 'vitest'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { startPipeline } from '#gitops/thread/pipeline.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import { systemClock } from '#lib/clock.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import { newSigningKey } from '../../../support/reconcile-bench.ts'

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
