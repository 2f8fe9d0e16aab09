// A repository that lost or damaged an object: the node says so, and goes on when it is back.
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { gitHttpServer } from '#test/support/git-http-server.ts'
import { damageObject, flipOctet } from '#test/support/repository-damage.ts'
import { poolPath, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start, killAll } = useDaemons()
let site: Site
let daemon: DaemonProcess

beforeEach(async () => {
  site = await Site.make('damaged')
  site.trustNode()
  await site.push()
})
afterEach(async () => {
  await killAll()
  site.remove()
})

const call = (method: string, path: string, body?: object) =>
  callApi<{ error: string }>(daemon, method, path, { ...(body && { body }) })
const create = async (name: string): Promise<number> =>
  (await call('POST', '/pools', { name })).status
const oidOf = (what: string): Promise<string> => site.git('rev-parse', `main:${what}`)

async function serve(): Promise<void> {
  daemon = await start('serve', '--settings', site.settingsFile)
}

async function untilSynced(): Promise<void> {
  await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
  await waitUntil('the view', async () => (await call('GET', '/pools')).status === 200)
}

/** What status, log, health and API say while `oid` cannot be read. */
async function expectUnreadable(oid: string): Promise<void> {
  const { reason } = await waitUntil('the verdict', async () => {
    const status = await daemon.gitops()
    return status.sync === 'unreachable' && status
  })
  expect(reason?.code).toBe('Unreadable')
  expect(reason?.message).toContain(oid)
  const line = await waitUntil('the log', () => daemon.logged(oid))
  expect(line.level).toBe('error')
  expect(line.msg).toContain('unreachable, Unreadable')
}

describe('a node that starts', () => {
  const cases = [
    { what: poolPath, how: 'lost' },
    { what: 'tenants/default', how: 'flipped' },
  ] as const
  test.each(cases)('and $what is $how says which object, until it is back', async (one) => {
    await serve()
    await untilSynced()
    await daemon.stop()
    const damage = damageObject(join(site.dataDir, 'config.git'), await oidOf(one.what), one.how)
    await serve()
    await expectUnreadable(damage.oid)
    expect(await daemon.health()).toBe('degraded')
    expect((await call('GET', '/pools')).status).toBe(503)
    expect(await create('early')).toBeGreaterThanOrEqual(500)
    expect(await daemon.answers('www.example.com. A')).toEqual([
      'www.example.com. 5 IN A 192.0.2.1',
    ])
    damage.repair()
    await untilSynced()
    expect(await daemon.health()).toBe('ok')
    expect(daemon.logged('the repository can be used again')?.level).toBe('info')
    expect(await create('late')).toBe(201)
  })

  test('without its bundles serves as soon as the object is back', async () => {
    await serve()
    await untilSynced()
    await daemon.stop()
    rmSync(join(site.dataDir, 'node'), { recursive: true })
    const damage = damageObject(join(site.dataDir, 'config.git'), await oidOf(poolPath), 'flipped')
    await serve()
    await expectUnreadable(damage.oid)
    expect(await daemon.answers('www.example.com. A')).toEqual(['REFUSED'])
    damage.repair()
    await untilSynced()
    expect(await daemon.answers('www.example.com. A')).toEqual([
      'www.example.com. 5 IN A 192.0.2.1',
    ])
  })
})

describe('a node that runs', () => {
  const losses = [
    {
      what: 'a file',
      lose: (gitdir: string) => oidOf(poolPath).then((oid) => losing(gitdir, oid)),
    },
    { what: 'everything', lose: (gitdir: string) => Promise.resolve(losingAll(gitdir)) },
  ] as const
  test.each(losses)('and loses $what takes no write, until it is back', async ({ lose }) => {
    await serve()
    await untilSynced()
    expect(await create('first')).toBe(201)
    const gitdir = join(site.dataDir, 'config.git')
    const head = await site.run('git', '-C', gitdir, 'rev-parse', 'main')
    const { oid, repair } = await lose(gitdir)
    expect(await create('second')).toBe(500)
    await expectUnreadable(oid)
    expect(await daemon.health()).toBe('degraded')
    repair()
    expect(await site.run('git', '-C', gitdir, 'rev-parse', 'main')).toBe(head)
    await untilSynced()
    expect(await create('second')).toBe(201)
  })
})

function losing(gitdir: string, oid: string) {
  return damageObject(gitdir, oid, 'lost')
}

function losingAll(gitdir: string) {
  const objects = join(gitdir, 'objects')
  renameSync(objects, `${objects}.aside`)
  const repair = (): void => {
    rmSync(objects, { recursive: true, force: true })
    renameSync(`${objects}.aside`, objects)
  }
  return { oid: 'is missing', repair }
}

describe('a mirror of a remote', () => {
  const mirror = (...parts: string[]): string => join(site.dataDir, 'gitops/mirror.git', ...parts)

  async function follow(): Promise<void> {
    await site.run(
      'git',
      '-C',
      join(site.dataDir, 'config.git'),
      'config',
      'http.receivepack',
      'true',
    )
    const server = await gitHttpServer(site.dataDir)
    site.writeSettings({ gitops: { url: server.url('config.git'), poll: '1s' } })
    await serve()
    await untilSynced()
  }

  test('with one flipped octet, when it is read, is told of, and fetched anew', async () => {
    await follow()
    await daemon.stop()
    // With what the node keeps, a start does not read the files of a commit.
    rmSync(join(site.dataDir, 'gitops/kept'))
    const oid = await oidOf(poolPath)
    const [pack = ''] = readdirSync(mirror('objects/pack')).filter((name) => name.endsWith('.pack'))
    const index = mirror('objects/pack', pack.replace('.pack', '.idx'))
    const list = await site.run('git', 'verify-pack', '-v', index)
    const [, , , size, at] = new RegExp(`^${oid} .*$`, 'm').exec(list)![0].split(/ +/)
    flipOctet(mirror('objects/pack', pack), Number(at) + (Number(size) >> 1))
    await serve()
    await waitUntil('the log', () => daemon.logged(oid)?.level === 'error')
    await untilSynced()
    expect(await daemon.health()).toBe('ok')
    await site.run('git', '-C', mirror(), 'fsck', '--full', '--strict')
    expect(await create('later')).toBe(201)
  })

  test('that vanishes under the node is fetched anew, and writes go on', async () => {
    await follow()
    expect(await create('first')).toBe(201)
    rmSync(mirror('objects'), { recursive: true })
    await waitUntil('the mirror', async () => {
      const { sync } = await daemon.gitops()
      return sync === 'synced' && readdirSync(mirror()).includes('objects')
    })
    await waitUntil('a write', async () => (await create('second')) === 201)
    await site.run('git', '-C', join(site.dataDir, 'config.git'), 'fsck', '--full', '--strict')
  })
})

test('the head is that of the branch, also when its commit is malformed', async () => {
  await serve()
  await untilSynced()
  const gitdir = join(site.dataDir, 'config.git')
  site.write('commit', 'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nnonsense\n')
  const file = join(site.checkout, 'commit')
  const git = (...args: string[]) => site.run('git', '-C', gitdir, ...args)
  const oid = await git('hash-object', '-t', 'commit', '--literally', '-w', file)
  const good = await git('rev-parse', 'main')
  // At once, as git moves a branch: a file that is being written names no commit for a moment.
  writeFileSync(join(gitdir, 'moved'), `${oid}\n`)
  renameSync(join(gitdir, 'moved'), join(gitdir, 'refs/heads/main'))
  const status = await waitUntil('the verdict', async () => {
    const next = await daemon.gitops()
    return next.sync === 'held' && next
  })
  expect([status.reason?.code, status.head, status.accepted]).toEqual([
    'MalformedCommit',
    oid,
    good,
  ])
  await git('update-ref', 'refs/heads/main', good)
  await untilSynced()
  expect((await daemon.gitops()).head).toBe(good)
})
