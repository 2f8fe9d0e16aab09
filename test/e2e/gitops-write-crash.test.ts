// kill -9 in the middle of writes: what was acknowledged is in Git, and the next start goes on.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'vitest'
import { originPath } from '#gitops/thread/options.ts'
import { loadState } from '#gitops/sync/stored-state.ts'
import { Random } from '#lib/random.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '#test/support/write-scene.ts'

async function scene() {
  const box = gitSandbox()
  const options = { dataDir: box.at('data'), pem: newPem() }
  await seedOrigin(options, { 'gslb.yaml': settingsYaml })
  writeFileSync(box.at('pem'), options.pem)
  const gitdir = originPath(options.dataDir)
  const acknowledged: string[] = []
  let first = 0
  /** A process that writes pools until it is killed. @returns the signal that ended it */
  const run = async (
    count: number,
    kill: (child: ChildProcess) => void,
    preload: string[] = [],
  ) => {
    const script = new URL('../support/write-child.ts', import.meta.url).pathname
    const signers = join(options.dataDir, 'allowed_signers')
    const args = [options.dataDir, box.at('pem'), '', signers, 'p', String(first), String(count)]
    first += count
    const child = spawn(process.execPath, [...preload, script, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') return kill(child)
      const said = JSON.parse(line) as { name: string; failure?: object }
      assert.equal(said.failure, undefined, line)
      acknowledged.push(said.name)
    })
    const closed = once(child, 'close') as Promise<[number | null, string | null]>
    return (await closed)[1]
  }
  const assertWhole = (): void => {
    box.git(gitdir, 'fsck', '--strict', '--no-dangling')
    assert(loadState(join(options.dataDir, 'gitops', 'state.json')).ok)
    const files = box.git(gitdir, 'ls-tree', '-r', '--name-only', 'main').split('\n')
    const pools = new Set(files.flatMap((file) => /pools\/(.*)\.yaml$/.exec(file)?.[1] ?? []))
    for (const name of acknowledged) assert(pools.has(name), `${name} was acknowledged`)
  }
  return { box, options, gitdir, run, assertWhole, acknowledged }
}

test('killed at any moment, no acknowledged write is lost and the next start writes', async () => {
  const { run, assertWhole, acknowledged, options, gitdir } = await scene()
  const random = new Random(20_261_120)
  const rounds = 8
  let killed = 0
  for (let round = 0; round < rounds; round++) {
    const afterMs = random.below(400)
    // The first one lives until a write is acknowledged: without any, none could be lost.
    const kill = (child: ChildProcess): void =>
      void waitUntil('a write', () => acknowledged.length > 0).then(() =>
        setTimeout(() => child.kill('SIGKILL'), afterMs),
      )
    if ((await run(400, kill)) === 'SIGKILL') killed++
    assertWhole()
  }
  assert(killed > rounds / 2, 'most of them were killed in their work')
  assert(acknowledged.length > 0)
  const after = await startWriteScene(options)
  const written = await after.write({
    verb: 'create',
    kind: 'Pool',
    tenant: 'default',
    name: 'after',
    spec: {},
  })
  assert(written.ok, JSON.stringify(written))
  await after.stop()
  assertWhole()
  assert.deepEqual(
    readdirSync(gitdir).filter((name) => name.startsWith('gslbd-lock')),
    [],
  )
}, 240_000)

const moments = [
  { name: 'between the objects and the branch', moment: 'before the branch' },
  { name: 'while the branch is locked', moment: 'locked' },
  { name: 'between the branch and the answer', moment: 'after the branch' },
] as const

for (const { name, moment } of moments) {
  test(`killed ${name}, the repository is whole and the next start serves its head`, async () => {
    const { run, assertWhole, options, box, gitdir } = await scene()
    const armed = box.at('armed')
    const preload = new URL('../support/kill-at-branch.ts', import.meta.url)
    preload.searchParams.set('moment', moment)
    preload.searchParams.set('armed', armed)
    const signal = await run(100, () => writeFileSync(armed, ''), ['--import', preload.href])
    assert.equal(signal, 'SIGKILL')
    assert.equal(existsSync(join(gitdir, 'refs/heads/main.lock')), moment === 'locked')
    assertWhole()
    const started = await startWriteScene(options)
    const head = box.git(gitdir, 'rev-parse', 'main')
    assert.equal(started.view.snapshot().revision, head)
    assert(!existsSync(join(gitdir, 'refs/heads/main.lock')), 'no lock is waited for')
    const spec = { members: [] }
    const create = { verb: 'create', kind: 'Pool', tenant: 'default', name: 'z', spec } as const
    const written = await started.write(create)
    assert(written.ok, JSON.stringify(written))
    await started.stop()
    assertWhole()
  })
}

test("a lock of git's own is left to git, and waited for", async () => {
  const { options, gitdir } = await scene()
  const started = await startWriteScene(options)
  const lock = join(gitdir, 'refs/heads/main.lock')
  mkdirSync(join(gitdir, 'refs/heads'), { recursive: true })
  writeFileSync(lock, '')
  const create = { verb: 'create', kind: 'Pool', tenant: 'default', name: 'z', spec: {} } as const
  const refused = await started.write(create)
  assert(!refused.ok)
  assert.equal(refused.error.code, 'unreachable')
  assert.match(refused.error.message, /main\.lock is held by another process/)
  await started.stop()
  // Not ours, although a dead process of ours once held another one.
  writeFileSync(join(gitdir, 'other'), '')
  linkSync(join(gitdir, 'other'), join(gitdir, 'gslbd-lock.999999999.abc'))
  const again = await startWriteScene(options)
  assert(existsSync(lock))
  assert(!existsSync(join(gitdir, 'gslbd-lock.999999999.abc')))
  await again.stop()
})
