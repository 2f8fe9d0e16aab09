// A node that follows a remote over SSH: a real sshd, a pinned host key, and no questions asked.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createRemoteSource } from '#gitops/source/remote-source.ts'
import type { ConfigSource } from '#gitops/source/config-source.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { sshServer } from '#test/support/ssh-server.ts'
import type { SshServer } from '#test/support/ssh-server.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start, killAll } = useDaemons()
let site: Site
let server: SshServer

beforeEach(async () => {
  site = await Site.make('ssh')
  site.trustNode()
  await site.push()
  // The client's is a path that the shell and ssh would take apart.
  server = await sshServer(join(site.path, 'sshd'), join(site.path, "it's 100% ssh"))
})
afterEach(async () => {
  await killAll()
  site.remove()
})

const gitdir = (): string => join(site.dataDir, 'config.git')

function source(more: { url?: string; knownHostsPath?: string; keyPath?: string } = {}) {
  const { url = server.url(gitdir()), ...files } = more
  const stop = new AbortController()
  return createRemoteSource({
    url,
    credentials: '',
    access: { ...server, ...files, searchPath: process.env['PATH'] ?? '' },
    branch: 'main',
    gitdir: join(site.path, 'mirror.git'),
    limits: { idleMs: 30_000, totalMs: 60_000, bytesMax: 100_000_000 },
    stop: stop.signal,
  })
}

async function failure(one: ConfigSource) {
  const head = await one.head()
  return head.ok ? 'reached' : head.error
}

test('a node fetches over SSH, takes what is pushed, and pushes what the API writes', async () => {
  const { keyPath: sshKey, knownHostsPath: knownHosts } = server
  site.writeSettings({ gitops: { url: server.url(gitdir()), poll: '1s', sshKey, knownHosts } })
  const daemon = await start('serve', '--settings', site.settingsFile)
  const answers = (address: string) => async () =>
    (await daemon.answers('www.example.com. A'))[0]?.endsWith(address)
  await waitUntil('the first commit', answers('192.0.2.1'))
  await site.publish('192.0.2.2')
  await waitUntil('the second commit', answers('192.0.2.2'))
  const body = { name: 'by-ssh' }
  const written = await callApi<object>(daemon, 'POST', '/pools', { body })
  expect(written.status).toBe(201)
  const log = await site.run('git', '-C', gitdir(), 'log', '-1', '--format=%H %an', 'main')
  expect((await daemon.gitops()).accepted).toBe(log.split(' ')[0])
  await site.run('git', '-C', gitdir(), 'fsck', '--full', '--strict')

  await server.close()
  await waitUntil('the fault', async () => (await daemon.gitops()).sync === 'unreachable')
  const { reason } = await daemon.gitops()
  expect([reason?.code, reason?.message]).toEqual([
    'ConnectionFailed',
    expect.stringContaining('onnection refused'),
  ])
  expect(await daemon.health()).toBe('degraded')
  expect((await callApi<object>(daemon, 'POST', '/pools', { body: { name: 'x' } })).status).toBe(
    500,
  )
  expect(await answers('192.0.2.2')()).toBe(true)
})

test('a push to a branch that has moved is lost, and nothing is forced', async () => {
  const one = source()
  const head = await one.head()
  if (!head.ok || head.value === null) throw new Error('no head')
  expect((await one.fetch(head.value)).ok).toBe(true)
  expect((await one.driver.readCommit(head.value)).ok).toBe(true)
  const moved = await site.publish('192.0.2.9')
  const late = { expected: head.value, commit: head.value, objects: new Map() }
  expect(await one.push(late)).toMatchObject({ ok: false, error: { kind: 'lost-race' } })
  expect(await one.head()).toEqual({ ok: true, value: moved })
})

test('a host key that is not pinned is refused, and nothing is written down', async () => {
  const pinned = readFileSync(server.knownHostsPath, 'utf8')
  const other = readFileSync(`${server.keyPath}.pub`, 'utf8').split(' ')[1]
  const wrong = join(site.path, 'wrong')
  writeFileSync(wrong, `[127.0.0.1]:${server.port} ssh-ed25519 ${other}\n`)
  const empty = join(site.path, 'empty')
  writeFileSync(empty, '')
  for (const knownHostsPath of [wrong, empty, join(site.path, 'none')]) {
    const before = knownHostsPath.endsWith('none') ? '' : readFileSync(knownHostsPath, 'utf8')
    const refused = await failure(source({ knownHostsPath }))
    expect(refused).toMatchObject({
      code: 'HostKeyRefused',
      reason: expect.stringContaining(knownHostsPath) as string,
    })
    // ssh frames its sentence.
    expect(JSON.stringify(refused)).not.toMatch(/@\s|\s@/)
    if (before !== '') expect(readFileSync(knownHostsPath, 'utf8')).toBe(before)
  }
  expect(readFileSync(server.knownHostsPath, 'utf8')).toBe(pinned)
  expect(await failure(source())).toBe('reached')
})

test('a key that is not known and a path that is not there are told apart', async () => {
  const stranger = join(site.path, 'stranger')
  await site.run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', stranger)
  const refused = { code: 'Unauthorized', reason: expect.stringContaining(stranger) as string }
  expect(await failure(source({ keyPath: stranger }))).toMatchObject(refused)
  const nowhere = server.url(join(site.path, 'nowhere.git'))
  expect(await failure(source({ url: nowhere }))).toMatchObject({ code: 'NotFound' })
})

test('a remote of SHA-256 is refused by name', async () => {
  const other = join(site.path, 'other.git')
  await site.run('git', 'init', '-q', '--bare', '--object-format=sha256', other)
  const tree = await site.run('git', '-C', other, 'hash-object', '-t', 'tree', '-w', '/dev/null')
  const commit = await site.run('git', '-C', other, 'commit-tree', '-m', 'first', tree)
  await site.run('git', '-C', other, 'update-ref', 'refs/heads/main', commit)
  const refused = { code: 'ObjectFormat', reason: expect.stringContaining('SHA-256') as string }
  const one = source({ url: server.url(other) })
  expect(await failure(one)).toMatchObject(refused)
  expect(await one.fetch('1'.repeat(40))).toMatchObject({ ok: false, error: refused })
})

test('a server that accepts and says nothing is given up in bounded time', async () => {
  const silent = createServer((socket) => void socket.on('error', () => undefined))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  const one = createRemoteSource({
    url: `ssh://git@127.0.0.1:${port}/config.git`,
    credentials: '',
    access: { ...server, searchPath: process.env['PATH'] ?? '' },
    branch: 'main',
    gitdir: join(site.path, 'mirror.git'),
    limits: { idleMs: 1_000, totalMs: 20_000, bytesMax: 1_000_000 },
    stop: new AbortController().signal,
  })
  expect(await failure(one)).toMatchObject({ code: 'Timeout' })
})
