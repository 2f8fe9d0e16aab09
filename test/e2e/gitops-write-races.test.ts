// Two nodes that write to one remote, and people who push: a straight history, and nothing lost.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { onTestFinished, test } from 'vitest'
import type { GitSandbox } from '#test/support/git-sandbox.ts'
import type { Operation } from '#config/operation.ts'
import { gitLimits } from '#gitops/limits.ts'
import { systemClock } from '#lib/clock.ts'
import { countFrom } from '#test/support/random.ts'
import { assertStraight, contestedRemote } from '#test/support/contested-remote.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { startWriteScene } from '#test/support/write-scene.ts'

/** Writes of each of the two. */
const each = Math.ceil(countFrom('GSLB_WRITE_COUNT', 200) / 2)

interface Said {
  readonly name: string
  readonly revision?: string
  readonly failure?: { readonly code: string; readonly message: string }
}

interface Writer {
  readonly child: ChildProcess
  readonly said: Said[]
  readonly ready: Promise<unknown>
  readonly ended: Promise<unknown>
}

function startWriter(args: readonly string[]): Writer {
  const script = new URL('../support/write-child.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: Said[] = []
  const lines = createInterface({ input: child.stdout })
  const ready = once(lines, 'line')
  lines.on('line', (line) => {
    if (line !== 'ready') said.push(JSON.parse(line) as Said)
  })
  return { child, said, ready, ended: once(child, 'exit') }
}

function poolsIn(box: GitSandbox, gitdir: string): Set<string> {
  const files = box.git(gitdir, 'ls-tree', '-r', '--name-only', 'main').split('\n')
  return new Set(files.flatMap((file) => /pools\/(.*)\.yaml$/.exec(file)?.[1] ?? []))
}

test(
  'hundreds of writes of two processes and a person are all there, in one line',
  async () => {
    const remote = await contestedRemote()
    const { box, bob, signers, gitdir, url } = remote
    const writers = ['one', 'two'].map((name) =>
      startWriter([
        box.at(`data-${name}`),
        box.at(`${name}.pem`),
        url,
        signers,
        name,
        '0',
        String(each),
      ]),
    )
    await Promise.all(writers.map(({ ready }) => ready))
    box.git(box.path, 'clone', '-q', gitdir, 'checkout')
    const checkout = box.at('checkout')
    let pushed = 0
    const isRunning = (): boolean => writers.some(({ child }) => child.exitCode === null)
    const person = (async () => {
      while (isRunning() && pushed < 5) {
        box.git(checkout, 'pull', '-q', '--ff-only')
        const name = `bob-${pushed}`
        box.write(
          `checkout/tenants/default/pools/${name}.yaml`,
          `apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: ${name} }\nspec: { members: [{ ipAddress: 192.0.2.9, port: 80 }] }\n`,
        )
        box.git(checkout, 'add', '-A')
        box.git(checkout, ...box.signWith(bob), 'commit', '-q', '-S', '-m', 'by hand')
        try {
          box.git(checkout, 'push', '-q', 'origin', 'main')
          pushed++
        } catch {
          box.git(checkout, 'reset', '-q', '--hard', 'HEAD~1')
        }
        // The writers' processes need the machine, and this one serves them.
        await new Promise((resolve) => void setImmediate(resolve))
      }
    })()
    await Promise.all([...writers.map(({ ended }) => ended), person])
    const pools = poolsIn(box, gitdir)
    for (const { said } of writers) {
      const refused = said.filter(({ failure }) => failure !== undefined)
      assert.deepEqual(refused, [])
      assert.equal(said.length, each)
      for (const { name, revision } of said) {
        assert(pools.has(name), `${name} is there`)
        box.git(gitdir, 'merge-base', '--is-ancestor', revision!, 'main')
      }
    }
    assert.equal(pools.size, 2 * each + pushed)
    const commits = assertStraight(remote)
    assert(commits > 4, 'the writers took turns')
  },
  240_000 + each * 1_000,
)

test('a push that meets the lock of another one goes on after it', async () => {
  const { box, pems, bob, signers, gitdir, server, url } = await contestedRemote()
  const scene = await startWriteScene({
    dataDir: box.at('data'),
    pem: pems.two,
    url,
    allowedSignersPath: signers,
  })
  onTestFinished(() => scene.stop())
  // In the origin already; only the branch does not name it yet.
  const pool = 'checkout/tenants/default/pools/by-hand.yaml'
  box.git(box.path, 'clone', '-q', gitdir, 'checkout')
  box.write(pool, 'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: by-hand }\nspec: {}\n')
  box.git(box.at('checkout'), 'add', '-A')
  box.git(box.at('checkout'), ...box.signWith(bob), 'commit', '-q', '-S', '-m', 'by hand')
  box.git(box.at('checkout'), 'push', '-q', 'origin', 'HEAD:other')
  const lock = `${gitdir}/refs/heads/main.lock`
  writeFileSync(lock, '')
  const before = server.requests.length
  const operation = { verb: 'create', kind: 'Pool', tenant: 'default', name: 'late', spec: {} }
  const writing = scene.write(operation as Operation)
  // After the push that was refused the node looks whether the branch is elsewhere.
  await waitUntil('the look after the push', () => {
    const since = server.requests.slice(before)
    const pushed = since.findIndex((path) => path.endsWith('/git-receive-pack'))
    return pushed !== -1 && since.length > pushed + 1
  })
  rmSync(lock)
  box.git(gitdir, 'update-ref', 'refs/heads/main', 'refs/heads/other')
  const written = await writing
  assert(written.ok, JSON.stringify(written))
  assert.deepEqual([...poolsIn(box, gitdir)].toSorted(), ['by-hand', 'late'])
  assert.deepEqual(scene.prepared, [], 'what may lose is not stored')
})

test('a write is tried for as long as clients wait, then says why it was not made', async () => {
  const { box, pems, bob, signers, gitdir, server, url } = await contestedRemote()
  let aheadMs = 0
  const scene = await startWriteScene({
    dataDir: box.at('data'),
    pem: pems.two,
    url,
    allowedSignersPath: signers,
    // However busy the machine is.
    clock: { ...systemClock, monotonicMs: () => aheadMs },
  })
  onTestFinished(() => scene.stop())
  box.git(box.path, 'clone', '-q', gitdir, 'checkout')
  const checkout = box.at('checkout')
  let overtakes = 0
  server.onRequest = () => {
    if (overtakes === 0 || !server.requests.at(-1)?.endsWith('/git-receive-pack')) return
    overtakes--
    aheadMs += gitLimits.writeMs * 0.4
    box.git(checkout, 'pull', '-q', '--ff-only')
    const commit = ['commit', '-q', '-S', '--allow-empty', '-m', 'by hand']
    box.git(checkout, ...box.signWith(bob), ...commit)
    box.git(checkout, 'push', '-q', 'origin', 'main')
  }
  const create = (name: string) =>
    scene.write({ verb: 'create', kind: 'Pool', tenant: 'default', name, spec: {} })
  overtakes = 2
  const late = await create('late')
  assert(late.ok, JSON.stringify(late))
  overtakes = 3
  const never = await create('never')
  assert(!never.ok)
  assert.equal(never.error.code, 'contended')
  assert.match(never.error.message, /at each of 3 tries.*not in Git. Send it again/)
  assert.deepEqual([...poolsIn(box, gitdir)], ['late'])
})

test('a remote that is down, refuses or cannot be written to: an error that says so', async () => {
  const { box, pems, signers, gitdir, server, url } = await contestedRemote()
  const scene = await startWriteScene({
    dataDir: box.at('data'),
    pem: pems.two,
    url,
    allowedSignersPath: signers,
  })
  onTestFinished(() => scene.stop())
  const create = (name: string) =>
    scene.write({ verb: 'create', kind: 'Pool', tenant: 'default', name, spec: {} })
  mkdirSync(`${gitdir}/hooks`, { recursive: true })
  const head = box.git(gitdir, 'rev-parse', 'main')
  const refusedWith = async (code: string, message: RegExp): Promise<void> => {
    const result = await create('refused')
    assert(!result.ok)
    assert.equal(result.error.code, code)
    assert.match(result.error.message, message)
    assert.equal(box.git(gitdir, 'rev-parse', 'main'), head)
  }
  server.behave = { status: 500 }
  await refusedWith('unreachable', /returned error: 500/)
  server.behave = { status: 403 }
  await refusedWith('unreachable', /returned error: 403/)
  server.behave = 'cut'
  await refusedWith('unreachable', /Empty reply/)
  server.behave = 'serve'
  box.git(gitdir, 'config', 'http.receivepack', 'false')
  await refusedWith('unreachable', /403/)
  box.git(gitdir, 'config', 'http.receivepack', 'true')
  writeFileSync(`${gitdir}/hooks/pre-receive`, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  await refusedWith('unreachable', /refused the commit: pre-receive hook declined/)
  writeFileSync(`${gitdir}/hooks/pre-receive`, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  const written = await create('written')
  assert(written.ok, JSON.stringify(written))
  assert.equal(box.git(gitdir, 'rev-parse', 'main'), written.value.revision)
  assert.deepEqual([...poolsIn(box, gitdir)], ['written'])
  box.git(gitdir, 'fsck', '--strict')
})
