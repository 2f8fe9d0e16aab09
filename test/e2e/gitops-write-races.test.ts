// Two nodes that write to one remote, and people who push: a straight history, and nothing lost.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { onTestFinished, test } from 'vitest'
import { gitHttpServer } from '#test/support/git-http-server.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import type { GitSandbox } from '#test/support/git-sandbox.ts'
import { newPem, seedOrigin, settingsYaml, signerLine } from '#test/support/write-scene.ts'
import { startWriteScene } from '#test/support/write-scene.ts'

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

/** No merge, no empty commit, and each signed by somebody of the list. */
function assertStraight(box: GitSandbox, gitdir: string, signers: string): number {
  const log = box.git(gitdir, 'log', '--format=%H %T %P', 'main').split('\n')
  const trees = new Map(log.map((line) => [line.split(' ')[0], line.split(' ')[1]]))
  for (const line of log) {
    const [commit, tree, ...parents] = line.split(' ')
    assert(parents.length <= 1, `${commit} is no merge`)
    if (parents[0] !== undefined) assert.notEqual(tree, trees.get(parents[0]), `${commit} is empty`)
  }
  const trust = ['-c', `gpg.ssh.allowedSignersFile=${signers}`]
  const verdicts = box.git(gitdir, ...trust, 'log', '--format=%G?', 'main').split('\n')
  assert.deepEqual(new Set(verdicts), new Set(['G']))
  return log.length
}

function poolsIn(box: GitSandbox, gitdir: string): Set<string> {
  const files = box.git(gitdir, 'ls-tree', '-r', '--name-only', 'main').split('\n')
  return new Set(files.flatMap((file) => /pools\/(.*)\.yaml$/.exec(file)?.[1] ?? []))
}

async function remote() {
  const box = gitSandbox()
  const pems = { one: newPem(), two: newPem() }
  for (const [name, pem] of Object.entries(pems)) writeFileSync(box.at(`${name}.pem`), pem)
  const bob = box.sshKey('bob')
  const signers = box.write(
    'signers',
    `${signerLine('one@gslbd', pems.one)}${signerLine('two@gslbd', pems.two)}bob@example.com ${bob.publicLine}\n`,
  )
  await seedOrigin({ dataDir: box.at('origin'), pem: pems.one }, { 'gslb.yaml': settingsYaml })
  const gitdir = box.at('origin/config.git')
  box.git(gitdir, 'config', 'http.receivepack', 'true')
  const server = await gitHttpServer(box.at('origin'))
  return { box, pems, bob, signers, gitdir, server, url: server.url('config.git') }
}

test('hundreds of writes of two processes and a person are all there, in one line', async () => {
  const { box, bob, signers, gitdir, url } = await remote()
  const each = 150
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
  const commits = assertStraight(box, gitdir, signers)
  assert(commits > 4, 'the writers took turns')
}, 240_000)

test('a remote that is down, refuses or cannot be written to: an error that says so', async () => {
  const { box, pems, signers, gitdir, server, url } = await remote()
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
  await refusedWith('unreachable', /answered 500/)
  server.behave = { status: 403 }
  await refusedWith('unreachable', /answered 403/)
  server.behave = 'cut'
  await refusedWith('unreachable', /cannot be reached/)
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
