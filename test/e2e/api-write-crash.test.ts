// A node behind a remote over HTTP that is killed around a push, and a remote that is down: what
// was answered 201 is in Git, in the API and in DNS after the next start, and nothing is half done.
import { writeFileSync } from 'node:fs'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { contestedNode } from '#test/support/contested-node.ts'
import { assertStraight, contestedRemote } from '#test/support/contested-remote.ts'
import type { ContestedRemote } from '#test/support/contested-remote.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { killAt } from '#test/support/kill-at.ts'
import { poolPath, poolYaml } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { spawn, spawnWith, start, killAll } = useDaemons()
afterEach(killAll)

/** Requests under way at the same time. */
const lanes = 4
/** Acknowledged services before it is to be killed. */
const before = 12

interface Named {
  readonly id: string
  readonly name: string
  readonly poolId: string | null
}

const listOf = async (daemon: DaemonProcess, path: string): Promise<readonly Named[]> =>
  (await callApi<readonly Named[]>(daemon, 'GET', path)).body

const poolOf = (daemon: DaemonProcess): Promise<Named> =>
  waitUntil('the pool', async () => (await listOf(daemon, '/pools'))[0])

const domainOf = (name: string): string => `${name}.example.com.`
const service = (name: string, poolId: string) => ({ name, domain: domainOf(name), poolId })

/** Writes services and renames their pool, until the node is gone. */
class Clients {
  readonly asked: string[] = []
  readonly acknowledged: string[] = []
  /** Each name that the pool was given or might have been. */
  readonly poolNames = ['web']
  poolName = 'web'
  readonly revisions = new Set<string>()
  readonly #daemon: DaemonProcess
  readonly #pool: string

  constructor(daemon: DaemonProcess, pool: string) {
    this.#daemon = daemon
    this.#pool = pool
  }

  async run(): Promise<void> {
    await Promise.all([this.#rename(), ...Array.from({ length: lanes }, () => this.#create())])
  }

  async #create(): Promise<void> {
    for (;;) {
      const name = `s${this.asked.length}`
      this.asked.push(name)
      if (!(await this.#write(201, 'POST', '/services', service(name, this.#pool)))) return
      this.acknowledged.push(name)
    }
  }

  async #rename(): Promise<void> {
    for (;;) {
      const name = `web-${this.poolNames.length}`
      this.poolNames.push(name)
      if (!(await this.#write(200, 'PUT', `/pools/${this.#pool}`, { name }))) return
      this.poolName = name
    }
  }

  /** @returns false: the node is gone */
  async #write(expected: number, method: string, path: string, body: object): Promise<boolean> {
    const reply = await callApi(this.#daemon, method, path, { body }).catch(() => undefined)
    if (reply === undefined) return false
    const { status, headers } = reply
    expect({ status, error: reply.body.error }).toEqual({ status: expected, error: undefined })
    this.revisions.add(String(headers['x-gslb-revision']))
    return true
  }
}

interface Moment {
  readonly when: string
  /** Whether the write that it died of is in Git. */
  readonly isKept: boolean
  /** What node loads first. */
  readonly preload?: (armed: string) => string
  readonly arm: (remote: ContestedRemote, daemon: DaemonProcess, armed: string) => void
}

const killAtPush =
  (push: 'dropped' | 'done'): Moment['arm'] =>
  ({ server }, daemon) => {
    server.behave = { push, onPush: () => daemon.signal('SIGKILL') }
  }
const armFile: Moment['arm'] = (_remote, _daemon, armed) => writeFileSync(armed, '')

const moments: readonly Moment[] = [
  { when: 'between commit and push', isKept: false, arm: killAtPush('dropped') },
  { when: 'when Git has the push and has not said so', isKept: true, arm: killAtPush('done') },
  {
    when: 'between the push and the bundle',
    isKept: true,
    preload: (armed) => killAt('.bundle', 'half written', armed),
    arm: armFile,
  },
  {
    when: 'between the bundle and the answer',
    isKept: true,
    preload: (armed) => killAt('active.json', 'after the rename', armed),
    arm: armFile,
  },
]

// These moments without writers: test/e2e/daemon-crash.test.ts.
test.each(moments)(
  'killed $when, each acknowledged write is there and none is half there',
  { timeout: 480_000 },
  async ({ isKept, preload, arm }) => {
    const remote = await contestedRemote({ [poolPath]: poolYaml('192.0.2.1') })
    // Before the sandbox goes.
    onTestFinished(killAll)
    const { box, gitdir } = remote
    const settings = ['serve', '--settings', contestedNode(remote, 'one')]
    const armed = box.at('armed')
    const daemon =
      preload === undefined ? spawn(...settings) : spawnWith(preload(armed), ...settings)
    await daemon.running()
    const { id } = await poolOf(daemon)
    const clients = new Clients(daemon, id)
    const running = clients.run()
    const busy = waitUntil('some writes', () => clients.acknowledged.length >= before)
    // A client that is refused ends the test.
    await Promise.race([busy, running])
    arm(remote, daemon, armed)
    await running
    expect((await daemon.ended).signal, daemon.output).toBe('SIGKILL')
    remote.server.behave = 'serve'

    const head = box.git(gitdir, 'rev-parse', 'main')
    expect(clients.revisions.has(head), 'the commit it died of is in Git').toBe(!isKept)
    box.git(gitdir, 'fsck', '--strict', '--no-dangling')
    assertStraight(remote)

    const next = await start(...settings)
    await waitUntil('the newest commit', async () => (await next.gitops()).active === head)
    const pool = await poolOf(next)
    // What was not acknowledged may be there, but whole.
    const poolNames = isKept ? [clients.poolName, clients.poolNames.at(-1)] : [clients.poolName]
    expect(poolNames).toContain(pool.name)
    const services = await listOf(next, '/services')
    const names = services.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(clients.acknowledged))
    if (!isKept) expect(names).toHaveLength(clients.acknowledged.length)
    for (const { poolId } of services) expect(poolId).toBe(id)
    for (const name of clients.asked) {
      const answer = names.includes(name) ? `${domainOf(name)} 60 IN A 192.0.2.1` : 'NXDOMAIN'
      expect(await next.answers(`${domainOf(name)} A`)).toEqual([answer])
    }
    const more = await callApi(next, 'POST', '/services', { body: service('after', id) })
    expect(more).toMatchObject({ status: 201 })
    expect(await next.answers('after.example.com. A')).toEqual([
      'after.example.com. 60 IN A 192.0.2.1',
    ])
  },
)

test('with the remote down a write is a 500 that says so; reads and DNS go on', async () => {
  const remote = await contestedRemote({ [poolPath]: poolYaml('192.0.2.1') })
  onTestFinished(killAll)
  const { server, url } = remote
  const daemon = await start('serve', '--settings', contestedNode(remote, 'one'))
  const { id } = await poolOf(daemon)
  const write = (name: string) => callApi(daemon, 'POST', '/services', { body: service(name, id) })
  expect((await write('first')).status).toBe(201)

  const faults = [
    ['is broken', () => (server.behave = { status: 503 }), /error: 503/],
    ['breaks off', () => (server.behave = 'cut'), /Empty reply/],
    ['is no Git server', () => (server.behave = 'web-page'), /Git/],
    ['is gone', () => server.close(), /Failed to connect/],
  ] as const
  for (const [fault, make, words] of faults) {
    await make()
    const refused = await write('second')
    expect(refused, fault).toMatchObject({
      status: 500,
      body: { error: expect.stringContaining(new URL(url).host) as string },
    })
    expect(refused.body.error, fault).toMatch(words)
    expect((await listOf(daemon, '/services')).map(({ name }) => name)).toEqual(['first'])
    expect(await daemon.answers('first.example.com. A')).toEqual([
      'first.example.com. 60 IN A 192.0.2.1',
    ])
    expect(await daemon.answers('second.example.com. A')).toEqual(['NXDOMAIN'])
    if (fault === 'is gone') break
    server.behave = 'serve'
    await waitUntil('the remote', async () => (await daemon.gitops()).sync === 'synced')
  }
})
