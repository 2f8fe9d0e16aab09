// A node that only answers, as the programs of BIND, Knot DNS and curl use it: TXT records of its
// control node, signed transfers, NOTIFY, refused updates, redirects.
import { execFile } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startSecondary } from '#test/support/dns/secondary.ts'
import type { Secondary } from '#test/support/dns/secondary.ts'
import { freePort } from '#test/support/free-port.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const GSLB_BUNDLE_TOKEN = 'cd'.repeat(16)
const controls = useDaemons({ GSLB_API_KEY: bearer, GSLB_BUNDLE_TOKEN })
const nodes = useDaemons({ GSLB_BUNDLE_TOKEN })
const directory = makeTempDir('fleet-exchange')
const keyFile = join(directory, 'transfer.key')
const run = promisify(execFile)
const secret = Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')
const key = { name: 'transfer.example.', secret }
let site: Site
let control: DaemonProcess
let node: DaemonProcess
let knot: Secondary

const outputOf = (program: string, ...args: string[]): Promise<string> =>
  run(program, args).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  )
const dig = (port: number, ...args: string[]): Promise<string> =>
  outputOf('dig', '@127.0.0.1', '-p', `${port}`, '+tries=3', ...args)

beforeAll(async () => {
  site = await Site.make('fleet-exchange')
  site.trustNode()
  await site.push()
  // As tsig-keygen prints it.
  const text = `key "${key.name}" {\n\talgorithm hmac-sha256;\n\tsecret "${key.secret}";\n};\n`
  writeFileSync(keyFile, text, { mode: 0o600 })
  control = await controls.start('serve', '--settings', site.settingsFile)
  await waitUntil('the first commit', async () => (await control.health()) === 'ok')
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(directory, 'control.pem'), publicPem)
  const knotPort = await freePort()
  writeFileSync(
    join(directory, 'gslbd.yaml'),
    JSON.stringify({
      dataDir: './data',
      roles: ['dns'],
      dns: {
        ...{ listenAddr: '127.0.0.1', port: 0, threads: 1, tsig: { keysFile: './transfer.key' } },
        axfr: {
          ...{ enabled: true, requireTsig: true },
          ...{ notify: [`127.0.0.1:${knotPort}`], notifyKey: key.name },
        },
      },
      api: { enabled: true, port: 0 },
      redirect: { enabled: true, listenAddr: '127.0.0.1', port: 0 },
      bundle: { urls: [`http://127.0.0.1:${control.apiPort}`], keys: './control.pem' },
    }),
  )
  node = await nodes.start('serve', '--settings', join(directory, 'gslbd.yaml'))
  await waitUntil('the bundle', async () => (await node.health()) === 'ok')
  knot = startSecondary('knot', {
    ...{ zone: 'example.com.', port: knotPort, primaryPort: node.dnsPort, key },
  })
})
afterAll(async () => {
  await knot?.stop()
  await controls.killAll()
  await nodes.killAll()
  site.remove()
  removeTempDir(directory)
})

const soa = (port: number): Promise<string> => dig(port, '+short', 'example.com.', 'SOA')
const addText = async (name: string, value: string): Promise<string> => {
  const body = { name, value, ttl: 5 }
  const made = await callApi<{ id: string }>(control, 'POST', '/dns/txt-records', { bearer, body })
  expect(made.status).toBe(201)
  return made.body.id
}

test('a text of the control node is answered, with the same serial, until it goes', async () => {
  const name = '_acme-challenge.www.example.com.'
  const id = await addText(name, 'a token')
  const asked = (): Promise<string> => dig(node.dnsPort, '+short', name, 'TXT')
  await waitUntil('the text', async () => (await asked()) === '"a token"\n')
  await waitUntil(
    'one serial',
    async () => (await soa(node.dnsPort)) === (await soa(control.dnsPort)),
  )
  const gone = await callApi(control, 'DELETE', `/dns/txt-records/${id}`, { bearer })
  expect(gone.status).toBe(204)
  await waitUntil('its end', async () => (await asked()) === '')
})

test('a transfer needs a key of the file, and has the texts', async () => {
  await addText('text.example.com.', 'in the zone')
  await waitUntil('the text', async () =>
    (await dig(node.dnsPort, '-k', keyFile, 'example.com.', 'AXFR')).includes('"in the zone"'),
  )
  const whole = await dig(node.dnsPort, '-k', keyFile, 'example.com.', 'AXFR')
  expect(whole).toMatch(/www\.example\.com\.\s+5\s+IN\s+A\s+192\.0\.2\.1/)
  expect(whole).not.toMatch(/could not be validated|Transfer failed/)
  expect(await dig(node.dnsPort, 'example.com.', 'AXFR')).toContain('Transfer failed')
  const other = `hmac-sha256:${key.name}:${Buffer.alloc(32).toString('base64')}`
  expect(await dig(node.dnsPort, '-y', other, 'example.com.', 'AXFR')).not.toContain('in the zone')
  const changes = await dig(node.dnsPort, '-k', keyFile, 'example.com.', 'IXFR=1', '+tcp')
  expect(changes).toContain('"in the zone"')
})

test('Knot DNS is told of a change and transfers it', async () => {
  await waitUntil('the first transfer', async () => (await soa(knot.port)).startsWith('ns1.'))
  await addText('later.example.com.', 'a change')
  const asked = (): Promise<string> => dig(knot.port, '+short', 'later.example.com.', 'TXT')
  await waitUntil('the change at the secondary', async () => (await asked()) === '"a change"\n')
  expect((await node.metrics()).get('gslbd_notify_total{result="acknowledged"}')).toBeGreaterThan(0)
})

test('an update is refused with the place where it belongs, signed or not', async () => {
  const server = `server 127.0.0.1 ${node.dnsPort}\nzone example.com.\n`
  const update = `${server}update add x.example.com. 5 TXT y\nsend\n`
  const file = join(directory, 'update')
  writeFileSync(file, update)
  for (const args of [[file], ['-k', keyFile, file]]) {
    expect(await outputOf('nsupdate', ...args)).toContain('REFUSED')
  }
  const said = await dig(node.dnsPort, '+opcode=UPDATE', '+edns', 'example.com.', 'SOA')
  expect(said).toMatch(/EDE: 21 \(Not Supported\): \(updates go to a control node\)/)
})

test('a redirect of the bundle is answered', async () => {
  const body = { sourceFqdn: 'old.example', targetUrl: 'https://new.example' }
  expect((await callApi(control, 'POST', '/redirects', { bearer, body })).status).toBe(201)
  const url = `http://127.0.0.1:${Number(node.logged('redirects are answered')?.['port'])}/x?y`
  const asked = (): Promise<string> => outputOf('curl', '-si', '-H', 'Host: old.example', url)
  await waitUntil('the redirect', async () =>
    /^location: https:\/\/new\.example\/x\?y\r?$/im.test(await asked()),
  )
})

test('keys are read again at SIGHUP, and bad ones change nothing', async () => {
  const before = readFileSync(keyFile, 'utf8')
  writeFileSync(keyFile, before.replace('hmac-sha256', 'hmac-md5'))
  node.signal('SIGHUP')
  await waitUntil('the fault to be told', async () =>
    node.log().some(({ msg }) => /transfer\.key:2:\d+: the algorithm is one of/.test(msg)),
  )
  const whole = (): Promise<string> => dig(node.dnsPort, '-k', keyFile, 'example.com.', 'SOA')
  writeFileSync(keyFile, before)
  expect(await whole()).toContain('status: NOERROR')
  writeFileSync(keyFile, '# none\n')
  node.signal('SIGHUP')
  writeFileSync(join(directory, 'kept.key'), before, { mode: 0o600 })
  const refused = (): Promise<string> =>
    dig(node.dnsPort, '-k', join(directory, 'kept.key'), 'example.com.', 'SOA')
  await waitUntil('the key to be gone', async () => (await refused()).includes('BADKEY'))
})
