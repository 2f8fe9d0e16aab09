// Load balancers of others in front: dnsdist over UDP and TCP, HAProxy over TCP, and the header as
// Knot's kdig writes it. The answer is the one for the client behind them.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { ask } from '#test/support/dns/client.ts'
import { freePort } from '#test/support/free-port.ts'
import { fra, fra6, iad, makeGeoSite, par } from '#test/support/geo-site.ts'
import type { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const run = promisify(execFile)
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` }
const { start } = useDaemons()
/** What `office` answers for 127.0.5.0/24, and for the rest of 127.0.0.0/8. */
const [north, south] = ['192.0.2.41', '192.0.2.42']

let site: Site
let nodePort = 0
let dnsdistPort = 0
let cachePort = 0
let haproxyPort = 0
const balancers: ChildProcess[] = []

function startBalancer(program: string, args: readonly string[], text: string): void {
  const file = join(site.path, `${program}-${balancers.length}.conf`)
  writeFileSync(file, text)
  balancers.push(spawn(program, [...args, file], { env, stdio: 'ignore' }))
}

beforeAll(async () => {
  ;({ site } = await makeGeoSite('proxies', { threads: 1, proxyProtocol: ['127.0.0.1'] }))
  const daemon = await start('serve', '--settings', site.settingsFile)
  nodePort = daemon.dnsPort
  dnsdistPort = await freePort()
  cachePort = await freePort()
  haproxyPort = await freePort()
  const [server, dnsdist] = [
    `address='127.0.0.1:${nodePort}', useProxyProtocol=true,
  checkName='plain.example.com.', mustResolve=true`,
    ['--supervised', '--disable-syslog', '-C'],
  ]
  startBalancer(
    'dnsdist',
    dnsdist,
    `setLocal('127.0.0.1:${dnsdistPort}')
newServer{${server}}
`,
  )
  startBalancer(
    'dnsdist',
    dnsdist,
    `setLocal('127.0.0.1:${cachePort}')
newServer{${server}, useClientSubnet=true}
getPool(''):setCache(newPacketCache(100, {cookieHashing=true, parseECS=true}))
`,
  )
  startBalancer(
    'haproxy',
    ['-db', '-f'],
    `defaults
  mode tcp
  timeout connect 5s
  timeout client 10s
  timeout server 10s
listen dns
  bind 127.0.0.1:${haproxyPort}
  server node 127.0.0.1:${nodePort} send-proxy-v2 proxy-v2-options crc32c,unique-id check
`,
  )
  const servers = [dnsdistPort, cachePort, haproxyPort].map((port) => ({ host: '127.0.0.1', port }))
  for (const server of servers) {
    await waitUntil('a load balancer gives an answer', async () => {
      const asked = ask(server, 'plain.example.com. A', { tcp: true })
      return asked.then(({ rcode }) => rcode === 0).catch(() => false)
    })
  }
})
afterAll(async () => {
  for (const balancer of balancers) {
    if (balancer.exitCode !== null) continue
    const ended = once(balancer, 'exit')
    balancer.kill('SIGTERM')
    await ended
  }
  site.remove()
})

async function digFrom(client: string, port: number, ...more: string[]): Promise<string> {
  const server = ['@127.0.0.1', '-p', String(port), '-b', client, '+short', '+tries=1']
  const { stdout } = await run('dig', [...server, ...more])
  return stdout.trim()
}

describe('behind', () => {
  const ways = [
    ['dnsdist over UDP', () => dnsdistPort, '+notcp'],
    ['dnsdist over TCP', () => dnsdistPort, '+tcp'],
    ['HAProxy over TCP', () => haproxyPort, '+tcp'],
  ] as const
  test.each(ways)('%s each client has its own answer', async (_balancer, port, way) => {
    const question = ['office.example.com', 'A', way, '+noedns']
    expect(await digFrom('127.0.5.1', port(), ...question)).toBe(north)
    expect(await digFrom('127.0.0.1', port(), ...question)).toBe(south)
    expect(await digFrom('127.0.5.2', port(), ...question)).toBe(north)
  })

  test.each(ways)('%s a client subnet goes before the address', async (_balancer, port, way) => {
    const question = ['near.example.com', 'A', way, '+subnet=10.3.2.0/24']
    expect(await digFrom('127.0.5.1', port(), ...question)).toBe(iad)
  })
})

test('behind a packet cache of dnsdist each client has its own answer and cookie', async () => {
  const question = ['office.example.com', 'A', '+notcp']
  for (let round = 0; round < 3; round++) {
    expect(await digFrom('127.0.5.1', cachePort, ...question)).toBe(north)
    expect(await digFrom('127.0.0.1', cachePort, ...question)).toBe(south)
    const said = await digFrom('127.0.0.1', cachePort, '+noshort', '+comments', ...question)
    expect(said).toMatch(/COOKIE: [0-9a-f]+ \(good\)/)
    expect(said).not.toMatch(/mismatch/)
  }
})

describe('kdig', () => {
  const rows = [
    ['10.1.2.3', 'A', fra],
    ['10.3.2.1', 'A', iad],
    ['127.0.0.1', 'A', par],
    ['2001:db8:1::9', 'AAAA', fra6],
  ] as const
  test.each(rows)('as %s asks %s', async (client, type, answer) => {
    const own = client.includes(':') ? '::1' : '192.0.2.53'
    const server = ['@127.0.0.1', '-p', String(nodePort), '+short', `+proxy=${client}-${own}`]
    for (const way of ['+notcp', '+tcp']) {
      const { stdout } = await run('kdig', [...server, way, 'near.example.com', type])
      expect(stdout.trim()).toBe(answer)
    }
  })
})

test('past the load balancers nobody of their network is answered, and others are', async () => {
  const question = ['office.example.com', 'A']
  // 9: no reply.
  const silent = ['+time=1', '+notcp', ...question]
  await expect(digFrom('127.0.0.1', nodePort, ...silent)).rejects.toMatchObject({ code: 9 })
  expect(await digFrom('127.0.5.1', nodePort, ...question)).toBe(north)
})
