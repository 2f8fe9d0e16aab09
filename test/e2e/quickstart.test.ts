// Runs the first steps of a new user, line by line as `npm start` prints them, with real git and
// backends.
import { execFile, spawn as spawnChild } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { mainPath } from '#test/support/daemon.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { spawn, start } = useDaemons()
const run = promisify(execFile)

// With a space in it, as some home directories have.
const home = makeTempDir('first user')
const dataDir = join(home, 'data')
const checkout = join(home, 'my-config')
const servicePath = 'tenants/default/services/www.yaml'
const args = ['start', '--data-dir', dataDir, '--dns-port', '0', '--api-port', '0']

let daemon: DaemonProcess
let welcome: ReadonlyMap<string, string>

beforeAll(async () => {
  daemon = await start(...args)
  await waitUntil('the welcome', () => daemon.stdout.includes('Ctrl-C stops it.'))
  welcome = linesOf(daemon.stdout)
  await answersFrom('127.0.0.11', '127.0.0.12', '127.0.0.13')
})
afterAll(() => removeTempDir(home))

/** The lines of the welcome by their label; lines without one by `LABEL 2`, `LABEL 3`. */
function linesOf(output: string): Map<string, string> {
  const lines = new Map<string, string>()
  let label = ''
  let count = 0
  for (const line of output.split('\n')) {
    const [, head, tail] = /^ {2}(.{22}) (\S.*)$/.exec(line) ?? []
    if (head === undefined || tail === undefined) continue
    count = head.trim() === '' ? count + 1 : 1
    if (head.trim() !== '') label = head.trim()
    lines.set(count === 1 ? label : `${label} ${count}`, tail)
  }
  return lines
}

/** A shell of a user whose machine has no git settings. */
async function shell(cwd: string, line: string | undefined): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }
  const { stdout, stderr } = await run('sh', ['-ec', line ?? 'exit 99'], { cwd, env })
  return stdout + stderr
}

function edit(find: string | RegExp, replacement: string): void {
  const path = join(checkout, servicePath)
  writeFileSync(path, readFileSync(path, 'utf8').replace(find, replacement))
}

async function addressesOf(questions: number): Promise<string[]> {
  const seen = new Set<string>()
  for (let i = 0; i < questions; i++) {
    for (const line of await daemon.answers('www.example.com. A')) seen.add(line.split(' ').at(-1)!)
  }
  return [...seen].sort()
}

/** Until round robin names exactly these. */
async function answersFrom(...addresses: string[]): Promise<void> {
  await waitUntil(`answers from ${addresses.join()}`, async () => {
    const seen = await addressesOf(6)
    return seen.join() === addresses.join()
  })
}

async function ttlIs(ttl: number): Promise<void> {
  await waitUntil(`TTL ${ttl}`, async () => (await ttlNow()) === ttl, { intervalMs: 5 })
}

/** Answers come from a bundle a moment before its commit counts as accepted. */
async function pushedCounts(): Promise<void> {
  const pushed = (await shell(checkout, 'git rev-parse HEAD')).trim()
  await waitUntil('the pushed commit counts', async () => {
    const { active, sync } = await daemon.gitops()
    return active === pushed && sync === 'synced'
  })
}

async function ttlNow(): Promise<number> {
  const [line = ''] = await daemon.answers('www.example.com. A')
  return Number(line.split(' ')[1])
}

/** What git says of a push that the node refuses; nothing has changed by it. */
async function refusedPush(): Promise<string> {
  const { stderr } = await shell(checkout, 'git push -q').then(
    () => expect.unreachable('the push was taken'),
    (error: unknown) => error as { stderr: string },
  )
  const { sync, head, active } = await daemon.gitops()
  expect([sync, head]).toEqual(['synced', active])
  return stderr
}

describe('as the welcome says', () => {
  test('the line to ask with names the port, and UDP and TCP both answer there', async () => {
    expect(welcome.get('Ask it')).toBe(
      `dig @127.0.0.1 -p ${daemon.dnsPort} www.example.com +noall +answer`,
    )
    const [overUdp] = await daemon.answers('www.example.com. A')
    const [overTcp] = await daemon.answers('www.example.com. A', { tcp: true })
    const form = /^www\.example\.com\. 5 IN A 127\.0\.0\.1[123]$/
    expect([overUdp, overTcp]).toEqual([expect.stringMatching(form), expect.stringMatching(form)])
    expect(overTcp).not.toBe(overUdp)
  })

  test('a stopped backend leaves the answers, and returns', async () => {
    const [, url = ''] = /POST (\S+\/down)/.exec(welcome.get('Stop one of them') ?? '') ?? []
    expect(await (await fetch(url, { method: 'POST' })).text()).toBe('127.0.0.11 is down\n')
    await answersFrom('127.0.0.12', '127.0.0.13')
    await fetch(url.replace('/down', '/up'), { method: 'POST' })
    await answersFrom('127.0.0.11', '127.0.0.12', '127.0.0.13')
  })

  test('a change made with the printed lines gets into the answers', async () => {
    await shell(home, welcome.get('Change its config'))
    expect(welcome.get('Change its config 2')).toContain(servicePath)
    edit('ttl: 5', 'ttl: 7')
    await shell(checkout, welcome.get('Change its config 3'))
    expect(welcome.get('Change its config 4')).toBe('git push')
    await shell(checkout, welcome.get('Change its config 4'))
    await ttlIs(7)
    await pushedCounts()
  })
})

describe('a commit that is not signed', () => {
  test('is refused at the push, with the reason, and the old answers stay', async () => {
    edit('ttl: 7', 'ttl: 8')
    await shell(checkout, 'git -c user.name=me -c user.email=me@localhost commit -qam unsigned')
    const said = await refusedPush()
    expect(said).toContain('gslbd: refused, Unsigned: Commit')
    expect(said).toContain('gslbd attest')
    expect(await daemon.health()).toBe('ok')
    expect(await ttlNow()).toBe(7)
  })

  test('is accepted once somebody vouches for it with gslbd attest', async () => {
    const key = join(dataDir, 'keys', 'operator')
    const attest = [mainPath, 'attest', '--repo', checkout, '--key', key]
    const { stdout } = await run(process.execPath, attest)
    const line = stdout.split('\n').find((each) => each.includes('git push'))
    await shell(checkout, line?.trim())
    await shell(checkout, 'git push -q')
    await ttlIs(8)
    await pushedCounts()
  })
})

describe('a signed commit with broken YAML', () => {
  test('is refused at the push, with its place, and the old answers stay', async () => {
    edit('pool: web', 'pool: [web')
    await shell(checkout, welcome.get('Change its config 3'))
    // Where the bracket was opened.
    expect(await refusedPush()).toContain(`${servicePath}:9:9: error`)
    expect(await ttlNow()).toBe(8)
  })

  test('is passed over by a good commit on top', async () => {
    edit('pool: [web', 'pool: web')
    edit('ttl: 8', 'ttl: 9')
    await shell(checkout, welcome.get('Change its config 3'))
    await shell(checkout, 'git push -q')
    await ttlIs(9)
    await pushedCounts()
    const { sync, reason, diagnostics } = await daemon.gitops()
    expect({ sync, reason, diagnostics }).toEqual({ sync: 'synced', reason: null, diagnostics: [] })
  })
})

describe('a second start', () => {
  test('on the same data directory is told which process has it', async () => {
    const second = spawn(...args)
    expect(await second.ended).toEqual({ code: 1, signal: null })
    expect(second.stderr).toContain(`is in use by process ${daemon.pid}`)
    expect(second.stderr).not.toContain('backend')
  })

  test('beside the first ends with one message, and disturbs nothing', async () => {
    const other = join(home, 'other')
    const second = spawn('start', '--data-dir', other, '--dns-port', '0', '--api-port', '0')
    expect(await second.ended).toEqual({ code: 1, signal: null })
    expect(second.stderr).toBe(
      'gslbd: the demo backend 127.0.0.11:8081 did not start: ' +
        'the port is in use, perhaps by another quick start; end the program that holds it\n',
    )
    expect(await addressesOf(6)).toEqual(['127.0.0.11', '127.0.0.12', '127.0.0.13'])
  })

  test('after Ctrl-C serves from disk; nothing of the first is left', async () => {
    const { dnsPort } = daemon
    expect(await daemon.stop('SIGINT')).toEqual({ code: 0, signal: null })
    await portsAreFree(dnsPort)
    for (const address of ['127.0.0.11', '127.0.0.12', '127.0.0.13']) {
      await expect(connect(address, 8081)).rejects.toThrow('ECONNREFUSED')
    }
    daemon = await start(...args)
    expect(await ttlNow()).toBe(9)
    expect(daemon.stdout.indexOf('serving the active bundle from disk')).toBeGreaterThan(-1)
    expect(daemon.stdout.indexOf('serving the active bundle from disk')).toBeLessThan(
      daemon.stdout.indexOf('gslbd is running'),
    )
    await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
    expect((await daemon.gitops()).node.seq).toBe(4)
  })

  test('after kill -9 is not kept out by the lock, nor by backends left behind', async () => {
    await daemon.stop('SIGKILL')
    daemon = await start(...args)
    expect(await ttlNow()).toBe(9)
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
  })
})

test('SIGTERM to npm start ends the node as well', async () => {
  const npm = spawnChild('npm', ['start', '--', ...args.slice(1)], {
    stdio: ['ignore', 'pipe', 2],
  })
  onTestFinished(() => void npm.kill('SIGKILL'))
  let said = ''
  npm.stdout!.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  const lock = join(dataDir, 'lock')
  const patience = { timeoutMs: 180_000 }
  await waitUntil('the node to run', () => said.includes('gslbd is running'), patience)
  const pid = Number(readFileSync(lock, 'utf8').split(' ')[0])
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  npm.kill('SIGTERM')
  await waitUntil('the end of the node', () => !isAlive(pid))
  expect(existsSync(lock)).toBe(false)
  expect(said).toContain('gslbd has stopped')
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** @throws when somebody listens there, on UDP without sharing or on TCP */
async function portsAreFree(port: number): Promise<void> {
  const udp = createSocket('udp4').bind(port, '127.0.0.1')
  await once(udp, 'listening')
  udp.close()
  const tcp = createServer().listen(port, '127.0.0.1')
  await once(tcp, 'listening')
  tcp.close()
}

async function connect(host: string, port: number): Promise<void> {
  const socket = createConnection({ host, port })
  await once(socket, 'connect')
  socket.destroy()
}
