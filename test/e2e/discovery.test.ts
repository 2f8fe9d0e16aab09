// Discovered members under a node: from a file and from a web server, followed, held, restarted.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const apiKey = 'ab'.repeat(32)
const token = 'let me see the inventory'
const { start } = useDaemons({
  ...{ GSLB_API_KEY: apiKey, GSLB_SECRET_KEY: 'cd'.repeat(32) },
  GSLB_DISCOVERY_INVENTORY_TOKEN: token,
})

interface Group {
  readonly targets: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
}

interface Status {
  readonly resolved: readonly object[]
  readonly resolveError: string
}

/** What the inventory says; null: 503. */
let inventory: readonly Group[] | null = []
const tokens = new Set<string>()
const server = createServer((request, response) => {
  tokens.add(request.headers.authorization ?? '')
  response.statusCode = inventory === null ? 503 : 200
  response.end(JSON.stringify(inventory ?? { message: 'closed' }))
})
afterAll(() => {
  server.close()
  removeTempDir(folder)
})

async function call<T>(daemon: DaemonProcess, method: string, path: string, body?: object) {
  const answer = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(answer.status, `${method} ${path}`).toBeLessThan(300)
  return (await answer.json()) as T
}

async function metricsOf({ apiPort }: DaemonProcess): Promise<string> {
  const headers = { authorization: `Bearer ${apiKey}` }
  return (await fetch(`http://127.0.0.1:${apiPort}/metrics`, { headers })).text()
}

const folder = makeTempDir('discovery')
const settings = join(folder, 'gslbd.yaml')
const file = join(folder, 'targets.json')

function write(...groups: readonly Group[]): void {
  writeFileSync(`${file}.new`, JSON.stringify(groups))
  renameSync(`${file}.new`, file)
}

/** Two sources: a file, and the server. */
async function writeSettings(): Promise<void> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const sources = {
    list: { type: 'file', path: file, interval: '1s' },
    inventory: { type: 'http', url: `http://127.0.0.1:${port}/sd`, interval: '1s' },
  }
  const node = {
    dataDir: './data',
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    api: { enabled: true, port: 0 },
  }
  const discovery = { sources, removeAfter: '1s' }
  writeFileSync(settings, JSON.stringify({ ...node, discovery }))
}

function answersUntil(daemon: DaemonProcess, what: string, addresses: readonly string[]) {
  const wanted = addresses.map((address) => `www.example.com. 30 IN A ${address}`)
  return waitUntil(what, async () => {
    const lines = await daemon.answers('www.example.com. A')
    return JSON.stringify(lines.toSorted()) === JSON.stringify(wanted.toSorted())
  })
}

const title = 'members come from a file and a server, are followed, and outlive both and a restart'

test(
  title,
  async () => {
    await writeSettings()
    write({ targets: ['192.0.2.1:80', '192.0.2.2:80'] })
    inventory = [{ targets: ['192.0.2.11', '127.0.0.1:80'], labels: { region: 'EU' } }]
    let daemon = await start('serve', '--settings', settings)
    const until = (what: string, ...addresses: readonly string[]) =>
      answersUntil(daemon, what, addresses)
    await waitUntil('the first look at the repository', () => call(daemon, 'GET', '/pools'))
    const { id: pool } = await call<{ id: string }>(daemon, 'POST', '/pools', { name: 'web' })
    const add = (from: string) =>
      call<{ id: string }>(daemon, 'POST', `/pools/${pool}/members`, { from, port: 80 })
    const listed = await add('list')
    expect(listed).toMatchObject({ ipAddress: '', from: 'list' })
    const european = await add('inventory?region=eu')
    await call(daemon, 'POST', '/services', {
      ...{ name: 'www', domain: 'www.example.com.', poolId: pool, ttl: 30 },
      ...{ algorithm: 'round-robin', answerCount: 16 },
    })
    await until('the first members', '192.0.2.1', '192.0.2.2', '192.0.2.11')
    expect([...tokens]).toEqual([`Bearer ${token}`])

    write({ targets: ['192.0.2.2:80', '192.0.2.3:80'] })
    await until('one for another', '192.0.2.2', '192.0.2.3', '192.0.2.11')
    write()
    inventory = null
    const statusOf = (id: string) => call<Status>(daemon, 'GET', `/members/${id}/status`)
    await waitUntil('nothing to be held', async () =>
      (await statusOf(listed.id)).resolveError.includes('2 of 2 members are not found any more'),
    )
    await waitUntil('a failure to be told of', async () =>
      (await statusOf(european.id)).resolveError.includes('answered 503'),
    )
    expect(await statusOf(listed.id)).toMatchObject({ resolved: [{ address: '192.0.2.2' }, {}] })
    const samples = await metricsOf(daemon)
    expect(samples).toContain('gslbd_discovery_held 2\n')
    expect(samples).toContain('gslbd_discovery_members 3\n')
    expect(samples).toContain('gslbd_discovery_references{state="stale"} 2\n')

    await daemon.stop()
    daemon = await start('serve', '--settings', settings)
    await until('the last good ones after a restart', '192.0.2.2', '192.0.2.3', '192.0.2.11')
    inventory = [{ targets: ['192.0.2.12'], labels: { region: 'eu' } }]
    await until('the server to be back', '192.0.2.2', '192.0.2.3', '192.0.2.12')
  },
  240_000,
)
