// A node whose zones get records of machines by UPDATE: from nsupdate and knsupdate, and from the
// DHCP server Kea, whose program D2 is told of leases as its guide says.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { join } from 'node:path'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { ask } from '#test/support/dns/client.ts'
import type { Endpoint } from '#test/support/dns/client.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const apiKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: apiKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
const reverse = '2.0.192.in-addr.arpa.'
const zonesYaml = `    - name: ${reverse}
      nameservers:
        - { name: ns1.example.com. }
`
let site: Site
let daemon: DaemonProcess
let server: Endpoint
let forwardKey: Key
let reverseKey: Key
let kea: ChildProcess
let keaSaid = ''
let keaPort = 0

interface Key {
  readonly name: string
  readonly secret: string
}

async function createKey(name: string, scope: string): Promise<Key> {
  const response = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/dns/tsig-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, scope }),
  })
  expect(response.status).toBe(201)
  const { secret } = (await response.json()) as { secret: string }
  return { name, secret }
}

/** Data of all answers, sorted; the rcode where there are none. */
async function found(question: string): Promise<string> {
  const { rcode, answer } = await ask(server, question)
  const data = answer.map(({ rdataText }) => rdataText).sort()
  return data.length === 0 ? `rcode ${rcode}` : data.join(' ')
}

/** @returns what the program says: nothing where all is well */
async function update(program: string, key: Key, zone: string, lines: string[]): Promise<string> {
  const all = [`server 127.0.0.1 ${server.port}`, `zone ${zone}`, ...lines, 'send', '']
  const option = `hmac-sha256:${key.name}:${key.secret}`
  const args = ['-t', '5', '-r', '0', '-y', option]
  return (await saidBy(program, args, { input: all.join('\n') })).text
}

beforeAll(async () => {
  site = await Site.make('dynamic-updates', {
    dns: {
      domain: 'example.com',
      update: {
        zones: [reverse],
        types: ['TXT', 'A', 'AAAA', 'PTR', 'SRV', 'CNAME', 'DHCID'],
      },
    },
  })
  const settings = readFileSync(join(site.checkout, 'gslb.yaml'), 'utf8')
  site.write('gslb.yaml', settings.replace('  zones:\n', `$&${zonesYaml}`))
  await site.commit('a zone for addresses')
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await daemon.hasDatabase()
  server = { host: '127.0.0.1', port: daemon.dnsPort }
  await waitUntil('the commit', async () => (await found(`${reverse} SOA`)).startsWith('ns1.'), {
    timeoutMs: 20_000,
  })
  forwardKey = await createKey('dhcp.example.', 'example.com.')
  reverseKey = await createKey('reverse.example.', reverse)
  await startKea()
}, 240_000)
afterAll(async () => {
  kea?.kill()
  await daemon?.stop()
  site?.remove()
})

async function startKea(): Promise<void> {
  keaPort = await freePort()
  const key = ({ name, secret }: Key) => ({ name, algorithm: 'HMAC-SHA256', secret })
  const servers = [{ 'ip-address': '127.0.0.1', port: server.port }]
  const domain = (name: string, { name: keyName }: Key) => ({
    'ddns-domains': [{ name, 'key-name': keyName, 'dns-servers': servers }],
  })
  const output = [{ output: 'stdout', flush: true }]
  const config = {
    DhcpDdns: {
      ...{ 'ip-address': '127.0.0.1', port: keaPort, 'dns-server-timeout': 2_000 },
      'tsig-keys': [key(forwardKey), key(reverseKey)],
      'forward-ddns': domain('example.com.', forwardKey),
      'reverse-ddns': domain(reverse, reverseKey),
      loggers: [{ name: 'kea-dhcp-ddns', output_options: output, severity: 'INFO' }],
    },
  }
  const file = join(site.path, 'kea.json')
  writeFileSync(file, JSON.stringify(config))
  const env = { ...process.env, KEA_PIDFILE_DIR: site.path, KEA_LOCKFILE_DIR: 'none' }
  kea = spawn('kea-dhcp-ddns', ['-c', file], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  kea.stdout?.on('data', (octets: Buffer) => (keaSaid += octets.toString()))
  kea.stderr?.on('data', (octets: Buffer) => (keaSaid += octets.toString()))
  await waitUntil('Kea D2', () => keaSaid.includes('DHCP_DDNS_STARTED'), { timeoutMs: 20_000 })
}

interface Lease {
  readonly host: string
  readonly address: string
  /** Hex. */
  readonly dhcid: string
}

/** A request as a DHCP server of Kea sends it: its length, and JSON. @returns when it is done */
async function tellKea({ host, address, dhcid }: Lease, isGone = false): Promise<string> {
  const request = JSON.stringify({
    ...{ 'change-type': isGone ? 1 : 0, 'forward-change': true, 'reverse-change': true },
    ...{ fqdn: host, 'ip-address': address, dhcid },
    ...{ 'lease-expires-on': '20400101000000', 'lease-length': 1_300 },
    'use-conflict-resolution': true,
  })
  const message = Buffer.alloc(2 + request.length)
  message.writeUInt16BE(request.length)
  message.write(request, 2)
  const before = keaSaid.length
  const socket = createSocket('udp4')
  socket.send(message, keaPort, '127.0.0.1')
  await once(socket, 'listening')
  const outcome = /DHCP_DDNS_(?:ADD|REMOVE)_(SUCCEEDED|FAILED)/
  await waitUntil('Kea to be done', () => outcome.test(keaSaid.slice(before)), {
    timeoutMs: 30_000,
  })
  socket.close()
  return outcome.exec(keaSaid.slice(before))![1]!
}

describe('Kea D2', () => {
  const lease = { host: 'laptop.example.com.', address: '192.0.2.20' }
  const mine = { ...lease, dhcid: `000201${'a1'.repeat(32)}` }
  const theirs = { ...lease, address: '192.0.2.21', dhcid: `000201${'b2'.repeat(32)}` }

  test('writes a name, keeps it for its client, and takes it away', async () => {
    expect(await tellKea(mine), keaSaid).toBe('SUCCEEDED')
    expect(await found('laptop.example.com. A')).toBe('192.0.2.20')
    expect(await found('laptop.example.com. TYPE49')).not.toMatch(/rcode/)
    expect(await found(`20.${reverse} PTR`)).toBe('laptop.example.com.')
    // Another client of the same name gets nothing.
    expect(await tellKea(theirs)).toBe('FAILED')
    expect(await found('laptop.example.com. A')).toBe('192.0.2.20')
    // Its own gets another address.
    expect(await tellKea({ ...mine, address: '192.0.2.22' }), keaSaid).toBe('SUCCEEDED')
    expect(await found('laptop.example.com. A')).toBe('192.0.2.22')
    expect(await tellKea({ ...mine, address: '192.0.2.22' }, true), keaSaid).toBe('SUCCEEDED')
    expect(await found('laptop.example.com. A')).toBe('rcode 3')
    expect(await found('laptop.example.com. TYPE49')).toBe('rcode 3')
    expect(await found(`22.${reverse} PTR`)).toBe('rcode 3')
  }, 120_000)

  test('does not get a name of which Git says the addresses', async () => {
    const taken = { ...mine, host: 'www.example.com.', address: '192.0.2.30' }
    expect(await tellKea(taken)).toBe('FAILED')
    expect(await found('www.example.com. A')).toBe('192.0.2.1')
  }, 60_000)
})

describe.each(['nsupdate', 'knsupdate'])('%s', (program) => {
  const h = 'h.example.com.'
  const rows: readonly [string, string, string, string][] = [
    ['A', 'h.example.com.', '192.0.2.7', '192.0.2.7'],
    ['AAAA', 'h.example.com.', '2001:db8::7', '2001:db8::7'],
    ['SRV', '_ldap._tcp.example.com.', '0 100 389 h.example.com.', ''],
    ['CNAME', 'c.example.com.', 'h.example.com.', 'h.example.com.'],
    ['TXT', 'h.example.com.', '"text"', '"text"'],
  ]
  test('adds and deletes a record of each type', async () => {
    const adds = rows.map(([type, name, data]) => `update add ${name} 60 ${type} ${data}`)
    expect(await update(program, forwardKey, 'example.com.', adds)).toBe('')
    for (const [type, name, , shown] of rows) {
      if (shown !== '') expect([type, await found(`${name} ${type}`)]).toEqual([type, shown])
    }
    expect(await found('_ldap._tcp.example.com. SRV')).not.toMatch(/rcode/)
    expect(await found('c.example.com. A')).toBe('192.0.2.7 h.example.com.')
    const needs = ['prereq yxrrset h.example.com. A 192.0.2.7', 'prereq nxrrset h.example.com. MX']
    const gone = rows.map(([type, name]) => `update delete ${name} ${type}`)
    expect(await update(program, forwardKey, 'example.com.', [...needs, ...gone])).toBe('')
    for (const [type, name] of rows) expect(await found(`${name} ${type}`)).toBe('rcode 3')
  })

  test('is REFUSED what Git declares, and what is not below the scope of its key', async () => {
    const good = `update add ${h} 60 A 192.0.2.7`
    const lines: readonly [Key, string, string][] = [
      [forwardKey, 'example.com.', 'update add www.example.com. 60 A 192.0.2.7'],
      [forwardKey, 'example.com.', 'update delete www.example.com. A'],
      [forwardKey, 'example.com.', 'update add www.example.com. 60 CNAME h.example.com.'],
      [reverseKey, 'example.com.', good],
    ]
    for (const [key, zone, line] of lines) {
      const all = line === good ? [good] : [good, line]
      expect([line, await update(program, key, zone, all)]).toEqual([
        line,
        expect.stringMatching(/REFUSED/),
      ])
    }
    expect(await found(`${h} A`)).toBe('rcode 3')
    expect(await found('www.example.com. A')).toBe('192.0.2.1')
  })
})
