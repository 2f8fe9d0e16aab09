// HAProxy gets the addresses, ports and weights of its servers from a node, by its own resolver,
// which takes fewer answers than others do.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
const hosts = Array.from({ length: 29 }, (_, i) => `192.0.2.${i + 1}`)
const srv = (name: string, ...rows: string[]) => ({
  name: `_http._tcp.${name}`,
  type: 'SRV',
  values: rows.map((row, i) => `${row} ${8001 + i} host${i}`),
})
const records = [
  { name: 'Big', type: 'A', values: ['192.0.2.1'] },
  { name: 'other', type: 'CNAME', values: ['BIG'] },
  { name: 'service', type: 'CNAME', values: ['WWW'] },
  { name: 'some', type: 'A', values: hosts },
  ...hosts.map((address, i) => ({ name: `host${i}`, type: 'A', values: [address] })),
  srv('few', '1 10', '1 90', '2 0'),
  srv('large', '1 6400', '1 57600'),
]
const names = ['big', 'other', 'www', 'service', 'some']
const sets = ['few', 'large']
let site: Site
let haproxy: ChildProcess

beforeAll(async () => {
  site = await Site.make('haproxy-resolver')
  const head = { apiVersion: 'gslb/v1', kind: 'Records', metadata: { name: 'example.com' } }
  const zone = { ...head, spec: { zone: 'example.com.', records } }
  site.write('tenants/default/records/example.com.yaml', JSON.stringify(zone))
  await site.commit('records')
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  const file = join(site.path, 'haproxy.cfg')
  writeFileSync(file, configuration(daemon.dnsPort))
  haproxy = spawn('haproxy', ['-db', '-f', file], {
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
    stdio: 'ignore',
  })
})
afterAll(async () => {
  const ended = once(haproxy, 'exit')
  haproxy.kill('SIGTERM')
  await ended
  site.remove()
})

function configuration(dnsPort: number): string {
  const options = 'resolvers node init-addr none resolve-prefer ipv4'
  const backend = (name: string, server: string): string =>
    `backend ${name}\n  ${server} ${options}\n`
  const single = names.map((name) => backend(name, `server s ${name}.example.com:80`))
  const several = sets.map((name) =>
    backend(name, `server-template s 3 _http._tcp.${name}.example.com`),
  )
  return `global
  stats socket ${join(site.path, 'stats')}
defaults
  timeout connect 1s
  timeout client 1s
  timeout server 1s
resolvers node
  nameserver node 127.0.0.1:${dnsPort}
  timeout resolve 200ms
  timeout retry 200ms
${[...single, ...several].join('')}`
}

interface Server {
  readonly address: string
  readonly weight: number
  readonly port: number
}

/** The servers of a backend that have an address, by port. */
async function serversOf(backend: string): Promise<readonly Server[]> {
  const socket = createConnection(join(site.path, 'stats'))
  socket.write(`show servers state ${backend}\n`)
  const rows = (await text(socket)).split('\n').slice(2)
  return rows
    .map((row) => row.split(' '))
    .map((cells) => ({
      address: cells[4] ?? '-',
      weight: Number(cells[7]),
      port: Number(cells[18]),
    }))
    .filter(({ address }) => address.startsWith('192.'))
    .sort((one, other) => one.port - other.port)
}

test.each(names)('the server %s has an address, whatever the letters in the zone', async (name) => {
  const addresses = () => serversOf(name).catch(() => [])
  await waitUntil('an address', async () => (await addresses()).length > 0)
  expect((await addresses()).map(({ address }) => hosts.includes(address))).toEqual([true])
})

test('of SRV weights it takes the 256th part, rounded up', async () => {
  const weights = async (name: string) =>
    (await serversOf(name)).map(({ port, weight }) => `${port} ${weight}`).join(', ')
  await waitUntil('three servers', async () => (await weights('few')).includes('8003'))
  expect(await weights('few')).toBe('8001 1, 8002 1, 8003 0')
  await waitUntil('two servers', async () => (await weights('large')).includes('8002'))
  expect(await weights('large')).toBe('8001 25, 8002 225')
})
