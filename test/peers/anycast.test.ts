// Two nodes announce one address through BIRD to a router: queries go where somebody answers them.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  AnycastNetwork,
  nodeNames,
  serviceAddress,
  serviceAddress6,
} from '#test/support/anycast-network.ts'
import type { NodeName, QueryStream } from '#test/support/anycast-network.ts'
import { mainPath, useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { spawnBehind, killAll } = useDaemons()
/** What a client gets says who answered. */
const answerOf: Readonly<Record<NodeName, string>> = { one: '192.0.2.11', two: '192.0.2.12' }
/** Queries while something happens, a hundred a second. */
const enough = 50
/** More than any router needs. */
const drainMs = 6_000
const other = (name: NodeName): NodeName => (name === 'one' ? 'two' : 'one')

let directory: string
let network: AnycastNetwork
let client: QueryStream
const sites = new Map<NodeName, Site>()
const nodes = new Map<NodeName, DaemonProcess>()

beforeAll(async () => {
  directory = makeTempDir('anycast')
  network = await AnycastNetwork.make(directory)
  for (const name of nodeNames) {
    const site = await Site.make(`anycast-${name}`)
    sites.set(name, site)
    const settings = {
      dns: { listenAddr: '::', port: 53 },
      api: { listenAddr: '127.0.0.1', port: 8080 },
      state: { nodeName: name },
      anycast: {
        ...{ driver: 'bird', addresses: [serviceAddress, serviceAddress6] },
        bird: { socket: network.socketOf(name), protocols: ['gslbd4', 'gslbd6'] },
        ...{ interval: '200ms', rise: 2, fall: 3, holdDown: '500ms', drain: `${drainMs}ms` },
      },
    }
    site.writeSettings(settings)
    await site.publish(answerOf[name])
    start(name)
  }
  await announcedBy('one', 'two')
  client = network.client('www.example.com. A')
  await waitUntil('the first answer', async () => (await client.last()) !== '')
})
afterAll(async () => {
  await killAll()
  network.remove()
  for (const site of sites.values()) site.remove()
  removeTempDir(directory)
})

function start(name: NodeName, ...others: string[]): DaemonProcess {
  const words = network.spaces.before(name)
  const file = sites.get(name)!.settingsFile
  const node = spawnBehind(words, 'serve', '--settings', file, ...others)
  nodes.set(name, node)
  return node
}

/** Both addresses, by these and by nobody else: each protocol has a session of its own. */
const announcedBy = (...names: readonly NodeName[]) =>
  waitUntil(`routes of ${names.join(' and ')}`, async () => {
    const seen = await network.announcing()
    const seen6 = await network.announcing(`${serviceAddress6}/128`)
    return seen.join() === names.join() && seen6.join() === names.join()
  })

/** The node that gets the client's queries once the router has settled. */
const serving = (): Promise<NodeName> =>
  waitUntil('an answer of the best node', async () => {
    const [best] = await network.best()
    const last = await client.last()
    return best !== undefined && answerOf[best] === last ? best : undefined
  })

/** First row of GET /api/v1/bgp. */
async function shown(name: NodeName): Promise<Readonly<Record<string, unknown>>> {
  const url = 'http://127.0.0.1:8080/api/v1/bgp'
  const rows = JSON.parse(await network.spaces.run(name, 'curl', '-sS', url)) as object[]
  return rows[0] as Readonly<Record<string, unknown>>
}

const guardOf = ({ pid }: DaemonProcess): number => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const isGuard = (child: string): boolean =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('\0anycast\0guard')
  return Number(children.find(isGuard))
}

test('both announce both addresses, and say so; answers come from the address', async () => {
  expect(await network.announcing(`${serviceAddress6}/128`)).toEqual(['one', 'two'])
  expect(await shown('one')).toMatchObject({
    ...{ node: 'one', daemon: 'bird', addresses: [serviceAddress, serviceAddress6] },
    ...{ isAnnounced: true, reason: null, isGuarded: true, silentLooks: 0 },
    driver: { isReachable: true, announces: 'all' },
    selfQuery: { address: serviceAddress6, fault: null },
  })
  expect(await client.report()).toMatchObject({ lost: 0, strangers: 0 })
})

test('queries go to the other node when one is killed; it is back when it answers', async () => {
  const victim = await serving()
  nodes.get(victim)!.signal('SIGKILL')
  await announcedBy(other(victim))
  expect(await serving()).toBe(other(victim))
  start(victim)
  await announcedBy('one', 'two')
})

test('a node that is stopped withdraws first, and no query is lost', async () => {
  const leaving = await serving()
  await client.report()
  nodes.get(leaving)!.signal('SIGTERM')
  const node = nodes.get(leaving)!
  expect(await node.ended).toEqual({ code: 0, signal: null })
  const timeOf = (part: string): number => Date.parse(String(node.logged(part)?.['time']))
  expect(timeOf('gslbd has stopped') - timeOf('withdrawn: it stops')).toBeGreaterThan(drainMs - 100)
  const { lost, asked, answers } = await client.report()
  expect(lost).toBe(0)
  expect(asked).toBeGreaterThan(enough)
  expect(answers.map(({ address }) => address)).toEqual([
    answerOf[leaving],
    answerOf[other(leaving)],
  ])
  expect(node.output).not.toContain('without a word')
  start(leaving)
  await announcedBy('one', 'two')
})

test('a node that is replaced stays announced all the time, and no query is lost', async () => {
  const name = await serving()
  await client.report()
  // The router says since when it has a route.
  const before = await network.routes()
  const old = nodes.get(name)!
  const next = start(name, '--replace')
  await next.running()
  expect(await old.ended).toEqual({ code: 0, signal: null })
  await waitUntil('the new process', async () => (await shown(name))['isAnnounced'] === true)
  expect(await network.routes()).toEqual(before)
  const { lost, asked } = await client.report()
  expect(lost).toBe(0)
  expect(asked).toBeGreaterThan(enough)
})

test('a node whose answers stop withdraws, and announces when they are back', async () => {
  const name = await serving()
  const address = `${serviceAddress}/32`
  await network.spaces.run(name, 'ip', 'address', 'del', address, 'dev', 'lo')
  await announcedBy(other(name))
  expect(await shown(name)).toMatchObject({ isAnnounced: false, reason: 'silent' })
  expect(JSON.stringify(await shown(name))).toContain('this machine has no address 192.0.2.53')
  await network.spaces.addAddress(name, address, 'lo')
  await announcedBy('one', 'two')
})

test('a BIRD that dies touches no answer; one that is back is told again', async () => {
  await network.killBird('two')
  await waitUntil('the fault', async () => JSON.stringify(await shown('two')).includes('BIRD at'))
  const health = 'http://127.0.0.1:8080/api/v1/health'
  expect(await network.spaces.run('two', 'curl', '-sS', health)).toContain('bgp-away')
  const dig = ['dig', '+short', `@${serviceAddress}`, 'www.example.com', 'A']
  expect(await network.spaces.run('two', ...dig)).toBe(`${answerOf.two}\n`)
  await network.startBird('two')
  await announcedBy('one', 'two')
  await waitUntil('health', async () => (await shown('two'))['isAnnounced'])
})

test('a guard that dies is started again; without any, the command withdraws', async () => {
  const node = nodes.get('two')!
  const first = guardOf(node)
  process.kill(first, 'SIGKILL')
  await waitUntil('another guard', () => {
    const now = guardOf(node)
    return now > 0 && now !== first
  })
  process.kill(guardOf(node), 'SIGKILL')
  node.signal('SIGKILL')
  await node.ended
  // BIRD does not know that nobody answers.
  expect(await network.birdc('two', 'show', 'protocols', 'gslbd4')).toContain(' up ')
  const file = sites.get('two')!.settingsFile
  const withdraw = [process.execPath, mainPath, 'anycast', 'withdraw', '--settings', file]
  expect(await network.spaces.run('two', ...withdraw)).toContain('announced: none')
  await announcedBy('one')
})
