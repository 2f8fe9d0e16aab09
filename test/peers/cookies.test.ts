// DNS cookies as dig and kdig send them, and between this server, BIND and Knot DNS with one
// secret: what each of them makes, the others believe.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const run = promisify(execFile)
const daemons = useDaemons()
const secret = 'e5e973e5a6b2a43f48e7dc849e37bfcf'
const next = '00112233445566778899aabbccddeeff'
const client = '0123456789abcdef'
const directory = makeTempDir('cookies')
const secretsFile = join(directory, 'secrets')
const zone = `$TTL 60
@ SOA ns1 hostmaster 1 3600 600 86400 60
@ NS ns1
ns1 A 127.0.0.1
www A 192.0.2.1
`

const bindConf = (port: number): string => `options {
  directory "${directory}";
  pid-file none;
  session-keyfile none;
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
  answer-cookie yes;
  require-server-cookie yes;
  cookie-algorithm siphash24;
  cookie-secret "${secret}";
};
controls { };
zone "example.com" { type primary; file "zone"; };
`

const knotConf = (port: number): string => `
server:
    rundir: ${directory}
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: ${directory}
log:
  - target: stderr
    any: warning
mod-cookies:
  - id: default
    secret: 0x${secret}
    badcookie-slip: 1
template:
  - id: default
    global-module: mod-cookies/default
zone:
  - domain: example.com.
    file: ${join(directory, 'zone')}
    zonefile-sync: -1
    journal-content: none
`

const running: ChildProcess[] = []
const ports = { gslbd: 0, BIND: 0, Knot: 0 }
type Server = keyof typeof ports
let site: Site
let daemon: DaemonProcess

interface Reply {
  readonly status: string
  /** In hexadecimal digits; empty: none. */
  readonly cookie: string
  readonly text: string
}

async function dig(server: Server, ...args: string[]): Promise<Reply> {
  const at = ['@127.0.0.1', '-p', `${ports[server]}`]
  const options = ['+nobadcookie', '+norec', '+tries=3', ...args]
  const { stdout } = await run('dig', [...at, 'www.example.com', 'A', ...options])
  const status = /status: (\w+)/.exec(stdout)?.[1] ?? ''
  return { status, cookie: /COOKIE: ([0-9a-f]+)/.exec(stdout)?.[1] ?? '', text: stdout }
}

async function isUp(server: Server): Promise<boolean> {
  const reply = await dig(server, '+nocookie', '+time=1').catch(() => undefined)
  return reply?.status === 'NOERROR'
}

function start(program: string, ...args: string[]): void {
  running.push(spawn(program, args, { stdio: 'ignore' }))
}

beforeAll(async () => {
  writeFileSync(secretsFile, `${secret}\n`, { mode: 0o600 })
  writeFileSync(join(directory, 'zone'), zone)
  ports.BIND = await freePort()
  ports.Knot = await freePort()
  writeFileSync(join(directory, 'named.conf'), bindConf(ports.BIND))
  writeFileSync(join(directory, 'knot.conf'), knotConf(ports.Knot))
  start('named', '-f', '-n', '1', '-c', join(directory, 'named.conf'))
  start('knotd', '-c', join(directory, 'knot.conf'))
  site = await Site.make('cookies', {
    dns: {
      ...{ listenAddr: '127.0.0.1', port: 0, threads: 1 },
      cookies: { enforce: true, secretsFile },
    },
    api: { enabled: true, port: 0 },
    logging: { format: 'json' },
  })
  await site.push()
  daemon = await daemons.start('serve', '--settings', site.settingsFile)
  ports.gslbd = daemon.dnsPort
  for (const server of ['gslbd', 'BIND', 'Knot'] as const) {
    await waitUntil(`answers of ${server}`, () => isUp(server))
  }
})
afterAll(async () => {
  for (const child of running) {
    if (child.exitCode !== null) continue
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  await daemons.killAll()
  removeTempDir(directory)
  site?.remove()
})

const learn = async (from: Server): Promise<string> => (await dig(from, `+cookie=${client}`)).cookie

describe('with one secret', () => {
  const servers: readonly Server[] = ['gslbd', 'BIND', 'Knot']
  const pairs = servers.flatMap((from) => servers.map((to) => [from, to] as const))
  test.each(pairs)('a cookie of %s is valid for %s', async (from, to) => {
    const cookie = await learn(from)
    expect(cookie).toMatch(new RegExp(`^${client}01000000[0-9a-f]{24}$`))
    const reply = await dig(to, `+cookie=${cookie}`)
    expect([reply.status, reply.text.includes('192.0.2.1')]).toEqual(['NOERROR', true])
  })

  test.each(servers)('%s refuses one of another client, and who has none', async (server) => {
    const cookie = await learn('gslbd')
    const forged = cookie.replace(/^../, '02')
    for (const sent of [forged, client]) {
      const reply = await dig(server, `+cookie=${sent}`)
      expect([server, reply.status]).toEqual([server, 'BADCOOKIE'])
    }
  })
})

test('dig and kdig ask again by themselves, and find the cookie good', async () => {
  const at = ['@127.0.0.1', '-p', `${ports.gslbd}`, 'www.example.com', 'A']
  const ofDig = await run('dig', [...at, '+badcookie'])
  expect(ofDig.stdout).toMatch(/status: NOERROR[^]*\(good\)[^]*192\.0\.2\.1/)
  const ofKdig = await run('kdig', [...at, `+cookie=${await learn('Knot')}`])
  expect(ofKdig.stdout).toMatch(/status: NOERROR[^]*192\.0\.2\.1/)
  const ofTcp = await run('kdig', [...at, '+tcp', '+cookie'])
  expect(ofTcp.stdout).toMatch(/COOKIE[^]*192\.0\.2\.1/)
})

test('dig asks for a cookie without a question', async () => {
  const reply = await dig('gslbd', '+header-only', `+cookie=${client}`)
  expect([reply.status, reply.cookie.length]).toEqual(['NOERROR', 48])
})

test('metrics count what clients send, and what is refused', async () => {
  const metrics = await daemon.metrics()
  const counted = (cookie: string): number =>
    metrics.get(`gslbd_dns_cookies_total{cookie="${cookie}"}`) ?? 0
  for (const cookie of ['none', 'client', 'valid', 'invalid']) {
    expect([cookie, counted(cookie) > 0]).toEqual([cookie, true])
  }
  expect(metrics.get('gslbd_dns_responses_total{rcode="BADCOOKIE"}')).toBeGreaterThan(2)
})

const timesRead = (): number =>
  daemon.log().filter(({ msg }) => msg === 'secrets of DNS cookies are read').length

test('the secret is rolled over without a refusal, and is in no log', async () => {
  let cookie = await learn('BIND')
  for (const secrets of [
    [secret, next],
    [next, secret],
  ]) {
    const before = timesRead()
    writeFileSync(secretsFile, `${secrets.join('\n')}\n`)
    daemon.signal('SIGHUP')
    await waitUntil('the file is read', () => Promise.resolve(timesRead() > before))
    const reply = await dig('gslbd', `+cookie=${cookie}`)
    expect(reply.status).toBe('NOERROR')
    cookie = reply.cookie
  }
  expect((await dig('BIND', `+cookie=${cookie}`)).status).toBe('BADCOOKIE')
  const log = daemon.stdout
  expect([log.includes(secret), log.includes(next)]).toEqual([false, false])
})
