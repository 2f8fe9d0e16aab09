// The DHCP server of ISC gives leases to its client, and writes the names of machines to a node.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { Namespaces } from '#test/support/namespaces.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const apiKey = 'ab'.repeat(32)
const { spawnBehind, killAll } = useDaemons({
  GSLB_API_KEY: apiKey,
  GSLB_SECRET_KEY: 'cd'.repeat(32),
})
const reverse = '2.0.192.in-addr.arpa.'
const address = '192.0.2.1'
const api = 'http://127.0.0.1:8080/api/v1'
const patience = { timeoutMs: 60_000 } as const

let site: Site
let spaces: Namespaces
let dhcpd: ChildProcess | undefined
let dhcpdSaid = ''
const secrets = new Map<string, string>()

const curl = (...args: readonly string[]): Promise<string> =>
  spaces.run('server', 'curl', '-sS', '-H', `Authorization: Bearer ${apiKey}`, ...args)

/** Data of all answers, sorted. */
async function found(name: string, type: string): Promise<string> {
  const said = await spaces.run('server', 'dig', '+short', `@${address}`, name, type)
  return said.trim().split('\n').sort().join(' ')
}

async function makeKey(name: string, scope: string): Promise<void> {
  const body = JSON.stringify({ name, scope })
  const head = ['-H', 'Content-Type: application/json']
  const made = JSON.parse(await curl(...head, '-d', body, `${api}/dns/tsig-keys`)) as {
    readonly secret: string
  }
  secrets.set(name, made.secret)
}

beforeAll(async () => {
  spaces = await Namespaces.make('server', 'client')
  await spaces.link(['server', `${address}/24`], ['client', '192.0.2.200/24'])
  const types = ['TXT', 'A', 'PTR', 'DHCID']
  site = await Site.make('dhcp-server', {
    dns: {
      ...{ listenAddr: '::', port: 53, domain: 'example.com' },
      update: { zones: [reverse], types },
    },
    api: { listenAddr: '127.0.0.1', port: 8080 },
  })
  const settings = readFileSync(join(site.checkout, 'gslb.yaml'), 'utf8')
  const zone = `    - name: ${reverse}\n      nameservers: [{ name: ns1.example.com. }]\n`
  site.write('gslb.yaml', settings.replace('  zones:\n', `$&${zone}`))
  await site.commit('a zone for addresses')
  await site.push()
  spawnBehind(spaces.before('server'), 'serve', '--settings', site.settingsFile)
  await waitUntil(
    'the node',
    async () => {
      const ready = await curl(`${api}/ready`).catch(() => '')
      return ready.includes('"ready"') && (await found(reverse, 'SOA')).startsWith('ns1.')
    },
    { timeoutMs: 180_000 },
  )
  await makeKey('dhcp.example.', 'example.com.')
  await makeKey('reverse.example.', reverse)
}, 240_000)
afterAll(async () => {
  await killAll()
  spaces?.remove()
  site?.remove()
})
afterEach(async () => {
  dhcpd?.kill('SIGKILL')
  if (dhcpd?.exitCode === null && dhcpd.signalCode === null) await once(dhcpd, 'exit')
  dhcpdSaid = ''
})

/** As docs/operations/dynamic-dns.md has it. */
async function startDhcpd(style: string): Promise<void> {
  const keyed = ([name, zone]: readonly [string, string]): string =>
    `key ${name} { algorithm hmac-sha256; secret ${secrets.get(name)}; };\n` +
    `zone ${zone} { primary ${address}; key ${name}; }\n`
  const zones = [['dhcp.example.', 'example.com.'] as const, ['reverse.example.', reverse] as const]
  const conf =
    `authoritative; ddns-updates on; ddns-update-style ${style}; ignore client-updates;\n` +
    'ddns-domainname "example.com."; default-lease-time 600;\n' +
    zones.map(keyed).join('') +
    'subnet 192.0.2.0 netmask 255.255.255.0 { range 192.0.2.20 192.0.2.40; }\n'
  const files = ['conf', 'leases'].map((name) => join(site.path, `dhcpd.${style}.${name}`))
  writeFileSync(files[0]!, conf)
  writeFileSync(files[1]!, '')
  const args = ['-4', '-f', '-d', '-cf', files[0]!, '-lf', files[1]!, '--no-pid', 'to-client']
  dhcpd = spaces.spawn('server', 'dhcpd', ...args)
  for (const stream of [dhcpd.stdout, dhcpd.stderr]) {
    stream?.on('data', (octets: Buffer) => (dhcpdSaid += octets.toString()))
  }
  await waitUntil('the DHCP server', () => dhcpdSaid.includes('Server starting service'), patience)
}

/**
 * A client that calls itself laptop.
 *
 * @param id tells it from others
 * @returns how it gives back
 */
function leaseFor(id: string): () => Promise<string> {
  const files = ['conf', 'leases', 'pid'].map((name) => join(site.path, `dhclient.${id}.${name}`))
  writeFileSync(files[0]!, `send host-name "laptop";\nsend dhcp-client-identifier "${id}";\n`)
  writeFileSync(files[1]!, '')
  const of = ['-cf', files[0]!, '-lf', files[1]!, '-pf', files[2]!, '-sf', '/bin/true']
  spaces.spawn('client', 'dhclient', '-4', '-d', '-1', ...of, 'to-server')
  return () => spaces.run('client', 'dhclient', '-4', '-r', ...of, 'to-server')
}

describe.each([
  ['standard', 'TYPE49'],
  ['interim', 'TXT'],
])('ddns-update-style %s', (style, mark) => {
  test('writes a name, keeps it for its client, and takes it away', async () => {
    await startDhcpd(style)
    const giveBack = leaseFor(`one-${style}`)
    const first = await waitUntil('the name', async () => {
      const data = await found('laptop.example.com.', 'A')
      return data === '' ? undefined : data
    })
    expect(first).toMatch(/^192\.0\.2\.\d+$/)
    const pointer = `${first.split('.').at(-1)}.${reverse}`
    await waitUntil('its address', async () => (await found(pointer, 'PTR')) !== '')
    expect(await found(pointer, 'PTR')).toBe('laptop.example.com.')
    expect(await found('laptop.example.com.', mark)).not.toBe('')
    // Another client that calls itself so gets an address and no name.
    const giveBackOther = leaseFor(`two-${style}`)
    await waitUntil('the refusal', () => dhcpdSaid.includes('not mine'), patience)
    expect(await found('laptop.example.com.', 'A')).toBe(first)
    await giveBackOther()
    await giveBack()
    await waitUntil('its end', async () => (await found('laptop.example.com.', 'A')) === '')
    await waitUntil('its pointer', async () => (await found(pointer, 'PTR')) === '')
    expect(await found('laptop.example.com.', mark)).toBe('')
  }, 120_000)
})
