// A running node is replaced by another process: no query stays unanswered, whatever becomes of the
// other process.
import { spawn as spawnChild } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startTcpBackend } from '#test/support/backend.ts'
import { mainPath, useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { QueryLoad } from '#test/support/query-load.ts'
import { RawSuccessor } from '#test/support/raw-successor.ts'
import { Site, poolPath } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { spawn, start, killAll } = useDaemons()
const question = 'www.example.com. A'
const healthy = '127.0.0.1'
const settings = { health: { enabled: true } }
/** Answers of each process that a test waits for. */
const enough = 50

let site: Site
let node: DaemonProcess
let load: QueryLoad

/** One member is up; the other is down, and no test is long enough for it to come in. */
function poolOf(port: number): string {
  const check = `{ type: tcp, port: ${port}, intervalMs: 500, timeoutMs: 500, riseCount: 100 }`
  return `apiVersion: gslb/v1
kind: Pool
metadata: { name: web }
spec:
  healthCheck: ${check}
  members:
    - { name: up, ipAddress: ${healthy}, port: ${port} }
    - { name: down, ipAddress: 127.0.0.2, port: ${port} }
`
}

beforeAll(async () => {
  site = await Site.make('replace', settings)
  const backend = await startTcpBackend((socket) => socket.destroy(), 0, healthy)
  closers.push(backend.close)
  site.write(poolPath, poolOf(backend.port))
  await site.commit('members that are probed')
  await site.push()
  node = await start('serve', '--settings', site.settingsFile)
  await waitUntil('verdicts', async () => (await addressesOf(node)).join() === healthy)
})
const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  await killAll()
  for (const close of closers) await close()
  site.remove()
})

beforeEach(async () => {
  // One that goes on after a failed successor listens again when all is as before.
  await waitUntil('the control socket', () => existsSync(join(site.dataDir, 'control.sock')))
  load = new QueryLoad(node.dnsPort, 'www.example.com.')
  load.start()
})

/** Addresses of several answers, since round robin takes turns. */
async function addressesOf(of: DaemonProcess): Promise<readonly string[]> {
  const found = new Set<string>()
  for (let i = 0; i < 4; i++) {
    for (const line of await of.answers(question)) found.add(line.split(' ').at(-1) ?? '')
  }
  return [...found]
}

/** All were answered, with the member that is up. */
async function expectNoneLost(): Promise<void> {
  const before = load.asked
  await waitUntil('more queries', () => load.asked > before + enough)
  expect(await load.stop()).toMatchObject({ lost: 0, answers: [healthy] })
}

const replace = (...others: string[]): DaemonProcess =>
  spawn('serve', '--settings', site.settingsFile, '--replace', ...others)

const holder = (): number => Number(readFileSync(join(site.dataDir, 'lock'), 'utf8').split(' ')[0])
const isHeldBy = ({ pid }: DaemonProcess): boolean => {
  try {
    return holder() === pid
  } catch {
    return false
  }
}

/** The next tests go on with it. */
async function replaced(): Promise<DaemonProcess> {
  const [old, next] = [node, replace()]
  await next.running()
  expect(await old.ended).toEqual({ code: 0, signal: null })
  expect(old.logged('stopping')).toMatchObject({ replacedBy: next.pid })
  node = next
  return next
}

// First: a process that starts again what it had let go stores its bundle anew.
test('a successor that can serve none of the stored bundles leaves the old one alone', async () => {
  for (const file of globSync(join(site.dataDir, 'node/bundles/*.bundle'))) {
    const bundle = readFileSync(file)
    writeFileSync(file, bundle.subarray(0, 100))
    onTestFinished(() => writeFileSync(file, bundle))
  }
  const next = replace()
  expect(await next.ended).toEqual({ code: 1, signal: null })
  expect(next.stderr).toContain('can serve none of the stored bundles')
  await expectNoneLost()
  expect(isHeldBy(node)).toBe(true)
})

test('the next process takes over sockets, directory and health; no query is lost', async () => {
  const old = node
  const next = await replaced()
  await expectNoneLost()
  expect(next.dnsPort).toBe(old.dnsPort)
  expect(next.apiPort).toBe(old.apiPort)
  expect(isHeldBy(next)).toBe(true)
  expect(await next.health()).toBe('ok')
  expect(await next.answers(question, { tcp: true })).not.toEqual([])
  expect(next.logged('replacing the process')).toMatchObject({ pid: old.pid })
})

test('another number of threads, with what changed in the settings, comes with it', async () => {
  site.writeSettings({ ...settings, dns: { threads: 2 } })
  await replaced()
  await expectNoneLost()
  expect((await node.metrics()).get('gslbd_dns_queries_total{transport="udp"}')).toBeGreaterThan(0)
  load = new QueryLoad(node.dnsPort, 'www.example.com.')
  load.start()
  site.writeSettings(settings)
  await replaced()
  expect((await load.stop()).asked).toBeGreaterThan(0)
})

test('a second successor is refused; the old one goes on without the first', async () => {
  const first = await RawSuccessor.connect(site.dataDir)
  expect(await first.greet()).toMatchObject({ isServing: true })
  const second = replace()
  expect(await second.ended).toMatchObject({ code: 1 })
  expect(second.stderr).toContain(`process ${process.pid} is just replacing it`)
  first.end()
  await waitUntil('the way back', () => node.logged('has ended: this one goes on'))
  await expectNoneLost()
  expect(isHeldBy(node)).toBe(true)
})

test('a node whose successor dies after the take-over resumes what it had let go', async () => {
  const successor = await RawSuccessor.connect(site.dataDir)
  await successor.greet()
  expect(await successor.ask({ step: 'let-go' })).toEqual({ step: 'gone' })
  expect(isHeldBy(node)).toBe(false)
  expect(await node.answers(question)).not.toEqual(['SERVFAIL'])
  successor.end()
  await waitUntil('its own directory', () => isHeldBy(node))
  await waitUntil('its API', async () => (await node.health()) === 'ok')
  await expectNoneLost()
})

test('a successor that cannot listen ends with 1 and the reason; the old one goes on', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await once(taken, 'listening')
  site.writeSettings({ ...settings, api: { port: (taken.address() as AddressInfo).port } })
  onTestFinished(() => site.writeSettings(settings))
  const next = replace()
  expect(await next.ended).toEqual({ code: 1, signal: null })
  expect(next.stderr).toContain('the API cannot listen on')
  await waitUntil('its own directory', () => isHeldBy(node))
  await waitUntil('its API', async () => (await node.health()) === 'ok')
  await expectNoneLost()
})

test.each([
  { who: 'another user', hello: { uid: 54_321 }, says: 'it runs as another user' },
  { who: 'another version', hello: { protocol: 99 }, says: 'do not understand each other' },
])('$who gets no sockets', async ({ hello, says }) => {
  const successor = await RawSuccessor.connect(site.dataDir)
  const { refused } = (await successor.greet(hello)) as { refused: string }
  expect(refused).toContain(says)
  await expectNoneLost()
})

test.each([
  { what: 'no JSON', line: 'no JSON\n' },
  { what: 'a step before the greeting', line: '{"step":"let-go"}\n' },
  { what: 'an empty line', line: '\n' },
  { what: 'a line without an end', line: 'x'.repeat(100_000) },
])('a malformed request is cut off: $what', async ({ line }) => {
  const successor = await RawSuccessor.connect(site.dataDir)
  successor.say(line)
  await waitUntil('the end', () => successor.isClosed)
  await expectNoneLost()
  expect(isHeldBy(node)).toBe(true)
})

test('a process that hangs is not replaced, and the message says what to do', async () => {
  await load.stop()
  node.signal('SIGSTOP')
  const next = replace()
  expect(await next.ended).toEqual({ code: 1, signal: null })
  node.signal('SIGCONT')
  expect(next.stderr).toContain('it does not answer; restart it instead')
  expect(await addressesOf(node)).toEqual([healthy])
})

test('with another data directory there is nobody to replace, and the port is taken', async () => {
  const other = join(site.path, 'other.yaml')
  const dns = { listenAddr: '127.0.0.1', port: node.dnsPort, threads: 1 }
  writeFileSync(other, JSON.stringify({ dataDir: join(site.path, 'other'), dns }))
  const next = spawn('serve', '--settings', other, '--replace')
  expect(await next.ended).toEqual({ code: 1, signal: null })
  expect(next.logged('no process to replace here')).toBeDefined()
  expect(next.output).toContain('another program has it')
  await expectNoneLost()
})

test('where no process runs, it starts as usual', async () => {
  await load.stop()
  const fresh = await Site.make('replace-none', { dns: { port: await freePort() } })
  onTestFinished(() => fresh.remove())
  const first = await start('serve', '--settings', fresh.settingsFile, '--replace')
  expect(first.logged('no process to replace here')).toBeDefined()
  expect(await first.stop()).toEqual({ code: 0, signal: null })
})

/** Ends when nobody holds its output any more. */
async function detach(after: string) {
  const words = [process.execPath, mainPath, 'serve', '--settings', site.settingsFile]
  const line = ['-c', `"$@" ${after}`, 'sh', ...words, '--replace', '--detach']
  const env = { ...process.env, GSLB_API_KEY: '' }
  const command = spawnChild('sh', line, { stdio: ['ignore', 'pipe', 'inherit'], env })
  const said = text(command.stdout)
  const [code] = (await once(command, 'close')) as [number]
  const pid = holder()
  detached.push(pid)
  return { code, pid, said: await said }
}
const detached: number[] = []
afterAll(() => {
  // All but the last one have ended.
  const last = detached.at(-1)
  if (last !== undefined) process.kill(last, 'SIGKILL')
})

test('in the background, the command ends when the next process runs, also in a pipe', async () => {
  const old = node
  const first = await detach('2>&1 | cat')
  expect(await old.ended).toEqual({ code: 0, signal: null })
  expect(old.pid).not.toBe(first.pid)
  expect(first.said).toContain('replacing the process that holds the data directory')
  expect(first.said).toContain('this output ends here; the log goes nowhere from now on')
  await expectNoneLost()
})

test('in a pipe, the log of the next process goes on in that of the one before', async () => {
  const file = join(site.path, 'detached.log')
  const first = await detach(`>>${file} 2>&1`)
  expect(first).toMatchObject({ code: 0, said: '' })
  const second = await detach('2>&1 | cat')
  expect(second.said).toContain('gslbd is running')
  expect(second.said).toContain(`the log goes on where process ${first.pid} wrote its own, ${file}`)
  process.kill(second.pid, 'SIGHUP')
  await waitUntil('its later lines', () => readFileSync(file, 'utf8').includes('settings reloaded'))
  await expectNoneLost()
})
