// Members with a host name under a node with a real name server: followed, lost, and found again.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { startUnbound } from '#test/support/unbound.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const apiKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: apiKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
const patienceMs = 240_000
let stopResolver = async (): Promise<void> => undefined
afterAll(() => stopResolver())

interface Status {
  readonly healthy: boolean
  readonly resolved: readonly { readonly address: string }[]
  readonly resolvedAt: number
  readonly resolveError: string
}

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

const records = (address: string) => [
  'example.net. 5 IN SOA ns.example.net. root.example.net. 1 5 5 5 5',
  `lb.example.net. 5 IN A ${address}`,
  'local.example.net. 5 IN A 127.0.0.1',
]

test(
  'addresses are followed within their TTL, and the last good ones outlive the name server and a restart',
  async () => {
    const port = await freePort()
    stopResolver = await startUnbound(port, records('192.0.2.21'))
    const settings = join(tempDir('hostnames'), 'gslbd.yaml')
    const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1, resolvers: [`127.0.0.1:${port}`] }
    writeFileSync(
      settings,
      JSON.stringify({ dataDir: './data', dns, api: { enabled: true, port: 0 } }),
    )
    let daemon = await start('serve', '--settings', settings)
    const until = (what: string, question: string, wanted: readonly string[]) =>
      waitUntil(what, async () => {
        const lines = await daemon.answers(question)
        return JSON.stringify(lines) === JSON.stringify(wanted)
      })
    const answer = (address: string) => [`www.example.com. 30 IN A ${address}`]
    await waitUntil('the first look at the repository', () => call(daemon, 'GET', '/pools'))
    const { id: pool } = await call<{ id: string }>(daemon, 'POST', '/pools', { name: 'web' })
    const add = (hostname: string) =>
      call<{ id: string; hostname: string }>(daemon, 'POST', `/pools/${pool}/members`, {
        hostname,
        port: 443,
      })
    const member = await add('LB.example.net')
    expect(member).toMatchObject({ ipAddress: '', hostname: 'lb.example.net.' })
    await call(daemon, 'POST', '/services', {
      name: 'www',
      domain: 'www.example.com.',
      poolId: pool,
      ttl: 30,
      algorithm: 'round-robin',
    })
    await until('the first address', 'www.example.com. A', answer('192.0.2.21'))

    await stopResolver()
    stopResolver = await startUnbound(port, records('192.0.2.22'))
    await until('the next address', 'www.example.com. A', answer('192.0.2.22'))
    const { id: local } = await add('local.example.net')
    const statusOf = (id: string) => call<Status>(daemon, 'GET', `/members/${id}/status`)
    await waitUntil('a loopback address to be refused', async () => {
      const { healthy, resolveError } = await statusOf(local)
      return !healthy && resolveError.includes('127.0.0.1 is a loopback address')
    })
    expect(await daemon.answers('www.example.com. A')).toEqual(answer('192.0.2.22'))

    await stopResolver()
    stopResolver = () => Promise.resolve()
    await waitUntil('a failed lookup', async () => (await statusOf(member.id)).resolveError !== '')
    const status = await statusOf(member.id)
    expect(status).toMatchObject({ healthy: true, resolved: [{ address: '192.0.2.22' }] })
    expect(status.resolvedAt).toBeGreaterThan(0)
    expect(await daemon.answers('www.example.com. A')).toEqual(answer('192.0.2.22'))
    const samples = await metricsOf(daemon)
    expect(samples).toContain('gslbd_resolve_hostnames{state="stale"} 1\n')
    expect(Number(/^gslbd_resolve_age_seconds (.+)$/m.exec(samples)?.[1])).toBeGreaterThan(0)
    expect(samples).toMatch(/^gslbd_resolve_failures_total\{reason="(refused|timeout)"\} [1-9]/m)

    await daemon.stop()
    daemon = await start('serve', '--settings', settings)
    expect(await daemon.answers('www.example.com. A')).toEqual(answer('192.0.2.22'))
    stopResolver = await startUnbound(port, records('192.0.2.23'))
    await until('the name server to be back', 'www.example.com. A', answer('192.0.2.23'))
  },
  patienceMs,
)
