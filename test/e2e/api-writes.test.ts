// Writes over HTTP to a running daemon: live in DNS and signed in Git when the answer comes, and
// pushes seen in the API.
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatPublicKeyLine, privateKeyFromPem } from '#gitops/trust/openssh-key.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { Site, poolYaml, poolPath } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

interface Body {
  readonly id: string
  readonly name: string
  readonly ipAddress: string
  readonly error: string
}

const { start } = useDaemons()
let site: Site
let daemon: DaemonProcess

beforeAll(async () => {
  site = await Site.make('api-writes')
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first commit', async () => (await daemon.gitops()).active !== null)
})
afterAll(() => site.remove())

async function call(method: string, path: string, body?: object) {
  const url = `http://127.0.0.1:${daemon.apiPort}/api/v1${path}`
  const headers = { 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
  const response = await fetch(url, { method, ...sent })
  const text = await response.text()
  const parsed = (text === '' ? {} : JSON.parse(text)) as Body
  return { status: response.status, body: parsed, headers: response.headers }
}

async function list(path: string): Promise<readonly Body[]> {
  return (await call('GET', path)).body as unknown as readonly Body[]
}

const originLog = (format: string): Promise<string> =>
  site.run('git', '-C', join(site.dataDir, 'config.git'), 'log', '-1', `--format=${format}`, 'main')

test('a node whose key nobody trusts says so, and changes nothing', async () => {
  const before = await originLog('%H')
  const refused = await call('POST', '/pools', { name: 'early' })
  expect(refused.status).toBe(409)
  expect(refused.body.error).toMatch(/allowed_signers.*gslbd trust add/)
  expect(await originLog('%H')).toBe(before)
})

test('a 201 comes when its change is in DNS and signed in Git', async () => {
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const line = formatPublicKeyLine(privateKeyFromPem(pem, 'node').publicKey, 'node')
  appendFileSync(join(site.dataDir, 'allowed_signers'), `node@gslbd ${line}\n`)
  const pool = await call('POST', '/pools', { name: 'api' })
  expect(pool).toMatchObject({ status: 201, body: { name: 'api' } })
  const poolId = pool.body.id
  const service = { name: 'api', domain: 'api.example.com.', ttl: 7, poolId }
  expect(await call('POST', '/services', service)).toMatchObject({ status: 201 })
  for (let i = 1; i <= 5; i++) {
    const ipAddress = `192.0.2.${100 + i}`
    const member = await call('POST', `/pools/${poolId}/members`, { ipAddress, port: 80 })
    expect(member.status).toBe(201)
    expect(member.headers.get('x-gslb-revision')).toBe(await originLog('%H'))
    const answers = await daemon.answers('api.example.com. A')
    expect(answers).toEqual([`api.example.com. 7 IN A ${ipAddress}`])
    expect((await call('DELETE', `/members/${member.body.id}`)).status).toBe(204)
    expect(await daemon.answers('api.example.com. A')).toEqual(['NOERROR'])
  }
  const signers = join(site.dataDir, 'allowed_signers')
  const verify = [
    '-c',
    `gpg.ssh.allowedSignersFile=${signers}`,
    'log',
    '-1',
    '--format=%G? %an %ae',
  ]
  const gitdir = join(site.dataDir, 'config.git')
  const shown = await site.run('git', '-C', gitdir, ...verify, 'main')
  expect(shown).toBe('G dev dev@users.gslbd')
  expect(await originLog('%B')).toMatch(/^Gslb-Request: [0-9a-f-]{36}$/m)
})

test('a good request beside a bad one is carried out, and writes go on', async () => {
  const [{ id: poolId } = { id: '' }] = await list('/pools')
  const made = await call('POST', '/services', { name: 'one', domain: 'one.example.com.', poolId })
  const path = `/services/${made.body.id}`
  const taken = { domain: 'api.example.com.' }
  for (let ttl = 70; ttl < 80; ttl++) {
    // The first is being committed while the others come: those are the next commit.
    const [first, good, bad] = await Promise.all([
      call('PATCH', path, { ttl: ttl + 100 }),
      call('PATCH', path, { ttl }),
      call('PATCH', path, taken),
    ])
    expect([first.status, good.status, bad.status], JSON.stringify(good)).toEqual([200, 200, 409])
    expect((await call('GET', path)).body).toMatchObject({ domain: 'one.example.com.', ttl })
  }
  expect((await list('/services')).map(({ name }) => name)).toEqual(['api', 'one', 'www'])
  expect((await call('DELETE', path)).status).toBe(204)
})

test('a TXT record is in DNS when its 201 comes, and gone when its 204 does', async () => {
  const name = '_acme-challenge.www.example.com.'
  for (const value of ['first', 'second']) {
    const created = await call('POST', '/dns/txt-records', { name, value, ttl: 60 })
    expect(created.status).toBe(201)
    const line = `${name} 60 IN TXT "${value}"`
    expect(await daemon.answers(`${name} TXT`)).toEqual([line])
    expect(await daemon.answers(`${name} TXT`, { tcp: true })).toEqual([line])
    expect(await daemon.answers(`${name} A`)).toEqual(['NOERROR'])
    expect((await call('DELETE', `/dns/txt-records/${created.body.id}`)).status).toBe(204)
    expect(await daemon.answers(`${name} TXT`)).toEqual(['NXDOMAIN'])
  }
})

test('a push shows in the API as soon as it is active, and keeps what the API wrote', async () => {
  await site.git('pull', '-q', '--rebase', 'origin', 'main')
  site.write(poolPath, poolYaml('192.0.2.200'))
  const commit = await site.commit('pushed')
  await site.push()
  await waitUntil('the push', async () => (await daemon.gitops()).active === commit)
  const pools = await waitUntil('the pools', async () => {
    const found = await list('/pools')
    return found.length === 2 ? found : undefined
  })
  expect(pools.map(({ name }) => name)).toEqual(['api', 'web'])
  const [{ ipAddress } = { ipAddress: '' }] = await waitUntil('its member', async () => {
    const members = await list(`/pools/${pools[1]?.id ?? ''}/members`)
    return members[0]?.ipAddress === '192.0.2.200' ? members : undefined
  })
  expect(ipAddress).toBe('192.0.2.200')
})

test('while the head is refused, reads and DNS go on and writes are a conflict', async () => {
  site.write(poolPath, poolYaml('not-an-address'))
  const bad = await site.commit('bad')
  await site.push()
  await waitUntil('the refusal', async () => (await daemon.gitops()).head === bad)
  const refused = await call('POST', '/pools', { name: 'late' })
  expect(refused).toMatchObject({ status: 409 })
  expect(JSON.stringify(refused.body)).toContain(poolPath)
  expect((await list('/pools')).map(({ name }) => name)).toEqual(['api', 'web'])
  expect(await daemon.answers('www.example.com. A')).toEqual([
    'www.example.com. 5 IN A 192.0.2.200',
  ])
})

test('the feed tells of a push, and says goodbye when the node stops', async () => {
  const { token } = (await call('GET', '/ws/token')).body as unknown as { token: string }
  const feed = new WebSocket(`ws://127.0.0.1:${daemon.apiPort}/api/v1/ws?token=${token}`)
  const heard: string[] = []
  feed.addEventListener('message', ({ data }) => heard.push(String(data)))
  const closed = new Promise<number>((resolve) => {
    feed.addEventListener('close', ({ code }) => resolve(code))
  })
  await waitUntil('the snapshot', () => heard.some((text) => text.includes('"revision"')))
  site.write(poolPath, poolYaml('192.0.2.201'))
  await site.commit('mended')
  await site.push()
  const isTold = (text: string): boolean => /"created".*192\.0\.2\.201/.test(text)
  await waitUntil('the event', () => heard.some(isTold))
  const stats = (await call('GET', '/dashboard/stats')).body as unknown
  expect(stats).toMatchObject({ webSocketClients: 1 })
  expect((await daemon.metrics()).get('gslbd_feed_clients')).toBe(1)
  daemon.signal('SIGTERM')
  expect(await closed).toBe(1001)
  expect(await daemon.ended).toMatchObject({ code: 0 })
})
