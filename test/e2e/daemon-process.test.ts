// The process of `gslbd serve`: what keeps it from starting, what signals do, what it prints.
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commands } from '#cli/main.ts'
import { version } from '#lib/version.ts'
import { TcpClient } from '#test/support/dns/client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { runCli } from '#test/support/run-cli.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { spawn, start } = useDaemons()
let site: Site
let daemon: DaemonProcess

beforeAll(async () => {
  site = await Site.make('process')
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first bundle', async () => (await answer()) === '192.0.2.1')
})
afterAll(() => site.remove())

async function answer(): Promise<string> {
  const [line = ''] = await daemon.answers('www.example.com. A')
  return line.split(' ').at(-1) ?? ''
}

let files = 0
/** @returns the path of a settings file with `settings` in it */
function settingsWith(settings: object): string {
  const path = join(site.path, `other-${++files}.yaml`)
  writeFileSync(path, JSON.stringify(settings))
  return path
}

const closers: (() => void)[] = []
afterAll(() => {
  for (const close of closers) close()
})

async function udpTaken(): Promise<number> {
  const socket: Socket = createSocket('udp4').bind(0, '127.0.0.1')
  closers.push(() => socket.close())
  await once(socket, 'listening')
  return socket.address().port
}

async function tcpTaken(): Promise<number> {
  const server: Server = createServer().listen(0, '127.0.0.1')
  closers.push(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const loopback = { listenAddr: '127.0.0.1', threads: 1 }
const other = (): string => join(site.path, `data-${files}`)
const withDns = (port: number): object => ({ dataDir: other(), dns: { ...loopback, port } })
const place = (port: number): string => `127.0.0.1 port ${port}`

function locksIn(dataDir: string): string[] {
  const isThere = statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === true
  return isThere ? readdirSync(dataDir).filter((name) => name.startsWith('lock')) : []
}

interface StartCase {
  readonly title: string
  readonly settings: () => object | Promise<object>
  /** Parts of the only line that is printed. */
  readonly says: (settings: object) => readonly string[]
}

const portOf = (settings: object): number => (settings as { dns: { port: number } }).dns.port
const apiPortOf = (settings: object): number => (settings as { api: { port: number } }).api.port

const cannotStart: readonly StartCase[] = [
  {
    title: 'the UDP port of another gslbd',
    settings: () => withDns(daemon.dnsPort),
    says: (settings) => [
      `UDP ${place(portOf(settings))}`,
      'another program has it',
      'choose another',
    ],
  },
  {
    title: 'the UDP port of another program',
    settings: async () => withDns(await udpTaken()),
    says: (settings) => [`UDP ${place(portOf(settings))}`, 'another program has it'],
  },
  {
    title: 'a port that is taken on TCP only',
    settings: async () => withDns(await tcpTaken()),
    says: (settings) => ['TCP', String(portOf(settings)), 'another program has it', 'dns.port'],
  },
  {
    title: 'the port of another program for its API',
    settings: async () => ({ ...withDns(0), api: { enabled: true, port: await tcpTaken() } }),
    says: (settings) => [
      `the API cannot listen on 127.0.0.1:${apiPortOf(settings)}`,
      'another program listens there',
      'api.port',
    ],
  },
  {
    title: 'an address that is not here',
    settings: () => ({ dataDir: other(), dns: { listenAddr: '192.0.2.77', port: 0, threads: 1 } }),
    says: () => ['192.0.2.77', 'this machine does not have that address'],
  },
  {
    title: 'the data directory of a running process',
    settings: () => ({ ...withDns(0), dataDir: site.dataDir }),
    says: () => [`${site.dataDir} is in use by process ${daemon.pid}`, '--data-dir'],
  },
  {
    title: 'a file in the place of its data directory',
    settings: () => ({ ...withDns(0), dataDir: site.settingsFile }),
    says: () => [site.settingsFile, 'cannot be made', 'there is a file of that name', '--data-dir'],
  },
  {
    title: 'a data directory under a file',
    settings: () => ({ ...withDns(0), dataDir: join(site.settingsFile, 'data') }),
    says: () => ['cannot be made', 'a part of the path is a file'],
  },
  {
    title: 'a file in the place of a folder of its data directory',
    settings: () => {
      const dataDir = join(site.path, 'data-with-file')
      mkdirSync(join(dataDir, 'node'), { recursive: true })
      writeFileSync(join(dataDir, 'node', 'bundles'), '')
      return { ...withDns(0), dataDir }
    },
    says: () => ['data-with-file', 'node/bundles: there is a file of that name'],
  },
  {
    title: 'a node key that is no key',
    settings: () => {
      const dataDir = join(site.path, 'data-bad-key')
      mkdirSync(join(dataDir, 'keys'), { recursive: true })
      writeFileSync(join(dataDir, 'keys', 'node.pem'), 'not a key\n')
      return { ...withDns(0), dataDir }
    },
    says: () => ['keys/node.pem', 'cannot be used', 'restore it, or remove it'],
  },
]

test('answering threads have priority over those that read Git and compile', () => {
  const tasks = `/proc/${daemon.pid}/task`
  const threads = readdirSync(tasks).map((task) => {
    const [, name = '', rest = ''] =
      /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(join(tasks, task, 'stat'), 'utf8')) ?? []
    // After the name: state is field 3, nice 19.
    return [name, Number(rest.split(' ')[16])] as const
  })
  const isLater = (name: string): boolean => name === 'gitops'
  const others = threads.filter(([name]) => !isLater(name))
  expect(others.map(([name]) => name)).toEqual(
    expect.arrayContaining(['dns-0', 'dns-stream', 'libuv-worker', 'node-V8Worker']),
  )
  const own = getPriority()
  const later = threads.filter(([name]) => isLater(name)).map(([, nice]) => nice)
  expect(later).toEqual([Math.min(19, own + 10)])
  expect(new Set(others.map(([, nice]) => nice))).toEqual(new Set([own]))
})

describe('commands that look at a node', () => {
  test('gslbd status shows it, and gslbd top reads its metrics', async () => {
    const url = `http://127.0.0.1:${daemon.apiPort}`
    const status = await runCli('status', '--url', url)
    expect(status.err).toBe('')
    expect(status.out).toMatch(/^git +synced {2}branch main$/m)
    expect(status.out).toMatch(/\(asked\) +\w/)
    const top = await runCli('top', '--url', url, '--times', '1', '--interval', '0.1')
    expect(top).toMatchObject({ exit: 0, err: '' })
    expect(top.out).toMatch(/^members +/m)
  })

  test('gslbd doctor asks it for its zone, and a resolver for the delegation', async () => {
    const resolver = `127.0.0.1:${daemon.dnsPort}`
    const dns = { listenAddr: '127.0.0.1', port: daemon.dnsPort, resolvers: [resolver] }
    const path = settingsWith({ dataDir: site.dataDir, dns })
    const run = await runCli('doctor', '--settings', path, '--json')
    const findings = JSON.parse(run.out) as { found: string; verdict: string }[]
    const verdictOf = new Map(findings.map(({ found, verdict }) => [found, verdict]))
    expect(verdictOf.get('example.com. SOA over UDP is answered')).toBe('good')
    expect(verdictOf.get('example.com. SOA over TCP is answered')).toBe('good')
    const delegated = 'example.com. is delegated to ns1.example.com.'
    expect(verdictOf.get(delegated)).toBe('good')
    const taken = findings.filter(({ found }) => found.includes('is taken'))
    expect(taken).toHaveLength(2)
  })
})

describe('a start', () => {
  for (const { title, settings, says } of cannotStart) {
    test(`with ${title} ends with one clear message and nothing left running`, async () => {
      const given = await settings()
      const second = spawn('serve', '--settings', settingsWith(given))
      expect(await second.ended).toEqual({ code: 1, signal: null })
      const lines = second.stderr.trimEnd().split('\n')
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatch(/^gslbd: /)
      for (const part of says(given)) expect(lines[0]).toContain(part)
      expect(await answer()).toBe('192.0.2.1')
      const { dataDir } = given as { dataDir: string }
      expect(locksIn(dataDir)).toEqual(dataDir === site.dataDir ? ['lock'] : [])
    })
  }

  test('makes a data directory that is not there, for its owner only', async () => {
    const dataDir = join(site.path, 'a', 'b', 'data')
    const file = settingsWith({ dataDir, dns: { ...loopback, port: 0 } })
    const fresh = await start('serve', '--settings', file)
    expect(await fresh.answers('www.example.com. A')).toEqual(['REFUSED'])
    await waitUntil('the hold', () => fresh.logged('BranchMissing'))
    expect(await fresh.stop()).toEqual({ code: 0, signal: null })
    const mode = execFileSync('stat', ['-c', '%a', dataDir, join(dataDir, 'keys', 'node.pem')])
    expect(mode.toString()).toBe('750\n600\n')
  })

  test('with many faults in its settings names them all at once', async () => {
    const path = join(site.path, 'faults.yaml')
    writeFileSync(
      path,
      'dns: { prot: 5, threads: -1 }\napi: { port: x }\nlogging: { level: loud }\n',
    )
    const { exit, err } = await runCli('serve', '--settings', path, '--log-format', 'xml')
    expect(exit).toBe(1)
    for (const part of ['"port"', 'dns.threads', 'api.port', 'logging.level', '--log-format']) {
      expect(err).toContain(part)
    }
    expect(err.trimEnd().split('\n')).toHaveLength(5)
  })

  test('with a settings file that is not there says so', async () => {
    const { exit, err } = await runCli('serve', '--settings', join(site.path, 'nowhere.yaml'))
    expect(exit).toBe(1)
    expect(err).toMatch(/nowhere\.yaml: there is no such file; create it/)
  })
})

describe('signals', () => {
  const settings = (level: string, more: object = {}): void =>
    site.writeSettings({ logging: { level }, ...more })
  const reloads = (): number => daemon.log().filter(({ msg }) => msg === 'settings reloaded').length

  test('SIGHUP applies a new log level and says which settings need a restart', async () => {
    settings('warn', { dns: { udpPayloadSize: 4_000 } })
    daemon.signal('SIGHUP')
    await waitUntil('the warning', () => daemon.logged('change only with a restart'))
    expect(daemon.logged('change only with a restart')?.['settings']).toEqual([
      'dns.udpPayloadSize',
    ])
    // At level `warn` the reload itself is no longer told.
    expect(reloads()).toBe(0)
    settings('info')
    daemon.signal('SIGHUP')
    await waitUntil('the reload', () => reloads() === 1)
    expect(daemon.logged('settings reloaded')?.['applied']).toEqual(['logging.level'])
  })

  test('SIGHUP with a file of errors leaves the old settings, and lists the errors', async () => {
    writeFileSync(site.settingsFile, 'logging: { level: loud }\ndsn: {}\n')
    daemon.signal('SIGHUP')
    const line = await waitUntil('the refusal', () => daemon.logged('settings not reloaded'))
    expect(line.level).toBe('error')
    expect(line['problems']).toHaveLength(2)
    settings('info')
    daemon.signal('SIGHUP')
    await waitUntil('the next reload', () => reloads() === 2)
    expect(await answer()).toBe('192.0.2.1')
  })

  test('many SIGHUPs in a row are worked off while queries are answered', async () => {
    for (const pollMs of [1, 2, 3, 4, 5]) {
      settings('info', { gitops: { poll: `${pollMs}m` } })
      daemon.signal('SIGHUP')
    }
    await waitUntil('the last', () => daemon.logged('settings reloaded') && reloads() > 2)
    expect(await answer()).toBe('192.0.2.1')
    await site.publish('192.0.2.2')
    await waitUntil('the next commit', async () => (await answer()) === '192.0.2.2')
  })

  test('SIGTERM lets an answer under way out, ends with 0, and leaves the ports free', async () => {
    const { dnsPort } = daemon
    const client = await TcpClient.connect({ host: '127.0.0.1', port: dnsPort })
    expect(await daemon.stop('SIGTERM')).toEqual({ code: 0, signal: null })
    await client.closed()
    client.destroy()
    expect(daemon.stderr).toBe('')
    expect(daemon.log().at(-1)?.msg).toBe('gslbd has stopped')
    expect(existsSync(join(site.dataDir, 'lock'))).toBe(false)
    // Bound without sharing: fails when anybody still has it.
    site.writeSettings({ dns: { port: dnsPort } })
    daemon = await start('serve', '--settings', site.settingsFile)
    expect(daemon.dnsPort).toBe(dnsPort)
    expect(await answer()).toBe('192.0.2.2')
  })

  test('a Ctrl-C that arrives twice, as npm passes it on, still ends cleanly', async () => {
    daemon.signal('SIGINT')
    daemon.signal('SIGINT')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
    expect(daemon.log().at(-1)?.msg).toBe('gslbd has stopped')
  })
})

// Locks of others that are gone, empty or damaged: test/unit/process/data/data-dir.test.ts.
describe('the lock', () => {
  test('with a reused process number keeps nobody out', async () => {
    writeFileSync(join(site.dataDir, 'lock'), `${process.pid} 1\n`)
    daemon = await start('serve', '--settings', site.settingsFile)
    expect(readFileSync(join(site.dataDir, 'lock'), 'utf8')).toMatch(`${daemon.pid} `)
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
  })

  test('goes to one of two that start at the same moment', async () => {
    site.writeSettings({})
    const both = [1, 2].map(() => spawn('serve', '--settings', site.settingsFile))
    const winner = await waitUntil('one to run', () =>
      both.find(({ stdout }) => stdout.includes('gslbd is running')),
    )
    const loser = both.find((each) => each !== winner)!
    expect((await loser.ended).code).toBe(1)
    expect(loser.stderr).toContain(`is in use by process ${winner.pid}`)
    expect((await winner.stop()).code).toBe(0)
  })
})

test('a SIGTERM during the start calls it off', async () => {
  const starting = spawn('serve', '--settings', site.settingsFile)
  const lock = join(site.dataDir, 'lock')
  await waitUntil('its lock', () => readFileSync(lock, 'utf8').startsWith(`${starting.pid} `))
  starting.signal('SIGHUP')
  expect(await starting.stop()).toEqual({ code: 0, signal: null })
  const said = starting.log().slice(-2)
  expect(said.map(({ msg }) => msg)).toEqual(['the start was called off', 'gslbd has stopped'])
  expect(said[0]).toMatchObject({ signal: 'SIGTERM' })
})

describe('the command line', () => {
  const names = Object.keys(commands)

  for (const name of names) {
    test(`gslbd ${name} --help prints its usage and ends with 0`, async () => {
      const { exit, out, err } = await runCli(name, '--help')
      expect({ exit, err }).toEqual({ exit: 0, err: '' })
      expect(out).toMatch(new RegExp(`^Usage: gslbd ${name}`))
    })
  }

  test('gslbd help serve prints what gslbd serve --help prints', async () => {
    const [asked, usual] = [await runCli('help', 'serve'), await runCli('serve', '--help')]
    expect(asked).toEqual(usual)
    expect((await runCli('help', 'srve')).err).toContain('did you mean "serve"?')
  })

  test('without a command, the list of commands is printed', async () => {
    const help = spawn()
    expect(await help.ended).toEqual({ code: 0, signal: null })
    for (const name of names) expect(help.stdout).toContain(`gslbd ${name}`)
  })

  test.each(['--version', 'version'])('gslbd %s prints name and version', async (word) => {
    expect(await runCli(word)).toEqual({ exit: 0, out: `gslbd ${version}\n`, err: '' })
  })

  test('an unknown command ends with 2', async () => {
    const wrong = spawn('srve')
    expect(await wrong.ended).toEqual({ code: 2, signal: null })
    expect(wrong.stderr).toContain('there is no command "srve"; did you mean "serve"?')
  })

  const wrongCalls = [
    [['serve', '--data', 'x'], "Unknown option '--data'"],
    [['serve', 'x'], "Unexpected argument 'x'"],
    [['start', '--dns-port', '65536'], '"65536" is not a port'],
    [['start', '--dns-port', 'dns'], '"dns" is not a port'],
    [['start', '--dns-port', '-1'], '"-1" is not a port'],
    [['simulate', 'www.example.com', '--count', '-5'], '--count is a whole number from 0 to'],
  ] as const
  for (const [args, message] of wrongCalls) {
    test(`gslbd ${args.join(' ')} is a wrong call`, async () => {
      const { exit, out, err } = await runCli(...args)
      expect({ exit, out }).toEqual({ exit: 2, out: '' })
      expect(err).toContain(message)
      expect(err.split('\n')).toHaveLength(3)
      expect(err).toContain(`Run "gslbd ${args[0]} --help"`)
    })
  }
})
