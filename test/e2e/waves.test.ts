// A control node and three nodes that pull: a good change reaches all in waves, a bad one goes back
// by itself from the canary, and a control node that dies in the middle goes on.
import { createPublicKey } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ShownDelivery } from '#ports/deliveries.ts'
import { callApi } from '#test/support/api-client.ts'
import { startTcpBackend } from '#test/support/backend.ts'
import type { Backend } from '#test/support/backend.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import { Site, poolPath } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const bundleToken = 'cd'.repeat(16)
const directory = makeTempDir('waves')
const controls = useDaemons({ GSLB_API_KEY: bearer, GSLB_BUNDLE_TOKEN: bundleToken })
const nodes = useDaemons({ GSLB_BUNDLE_TOKEN: bundleToken })
let site: Site
let control: DaemonProcess
let relay: Server
let backend: Backend
const far: DaemonProcess[] = []
const patient = { timeoutMs: 120_000 } as const

const [good, better, dead] = ['127.0.0.1', '127.0.0.3', '127.0.0.2']
// Each change is another one: a stopped one is not begun anew by a commit that is like it.
const [third, fourth] = ['127.0.0.4', '127.0.0.5']

const pool = (address: string): string =>
  'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: web }\nspec:\n' +
  `  healthCheck: { type: tcp, port: ${backend.port}, intervalMs: 500, timeoutMs: 400 }\n` +
  `  members:\n    - { name: a, ipAddress: ${address}, port: 80 }\n`

const delivery = (hold: string, shadow = '0s', more = ''): string =>
  'apiVersion: gslb/v1\nkind: Delivery\nmetadata: { name: main }\nspec:\n  waves:\n' +
  `    - { nodes: canary=true, shadow: ${shadow}, hold: ${hold} }\n` +
  `    - { percent: 60, hold: 1s }\n    - { percent: 100 }\n${more}`

/** Asks all nodes until it is told to stop. @returns all answers, by node */
function askAll(): () => Promise<readonly (readonly string[])[]> {
  const answers: string[][] = far.map(() => [])
  let isOver = false
  const asking = Promise.all(
    far.map(async (node, i) => {
      while (!isOver) answers[i]!.push(await answerOf(node))
    }),
  )
  return async () => {
    isOver = true
    await asking
    return answers
  }
}

async function commit(address: string): Promise<string> {
  site.write(poolPath, pool(address))
  const made = await site.commit(address)
  await site.push()
  return made
}

/** To the control node that runs now: its port changes with each start. */
async function openRelay(): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(control.apiPort, '127.0.0.1')
    const end = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function startNode(name: string, labels: object): Promise<DaemonProcess> {
  const home = join(directory, name)
  mkdirSync(home)
  const { port } = relay.address() as AddressInfo
  const settings = {
    dataDir: './data',
    roles: ['dns'],
    state: { nodeName: name },
    node: { labels },
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    health: { enabled: true },
    bundle: { urls: [`http://127.0.0.1:${port}`], keys: '../control.pem', poll: '1s' },
  }
  writeFileSync(join(home, 'gslbd.yaml'), JSON.stringify(settings))
  return nodes.start('serve', '--settings', join(home, 'gslbd.yaml'))
}

const shown = async (): Promise<ShownDelivery | undefined> => {
  const answer = await callApi<ShownDelivery[]>(control, 'GET', '/deliveries', { bearer })
  return answer.body[0]
}
const reaches = (what: string, holds: (delivery: ShownDelivery) => boolean) =>
  waitUntil(
    what,
    async () => {
      const delivery = await shown()
      return delivery !== undefined && holds(delivery) ? delivery : undefined
    },
    patient,
  )
const answerOf = async (node: DaemonProcess): Promise<string> =>
  (await node.answers('www.example.com. A')).join().split(' ').at(-1)!
const answersAre = (what: string, ...addresses: readonly string[]) =>
  waitUntil(
    what,
    async () => {
      const answers = await Promise.all(far.map(answerOf))
      return answers.every((answer, i) => answer === (addresses[i] ?? addresses[0]))
    },
    patient,
  )

/** `gslbd delivery` as an operator calls it. */
const byCli = (...words: readonly string[]) => {
  const url = `http://127.0.0.1:${control.apiPort}`
  return runCliWith({ GSLB_API_KEY: bearer, GSLB_API_URL: url }, 'delivery', ...words)
}

beforeAll(async () => {
  backend = await startTcpBackend((socket) => socket.destroy(), 0, good)
  for (const address of [better, third, fourth]) {
    await startTcpBackend((socket) => socket.destroy(), backend.port, address)
  }
  site = await Site.make('waves', { health: { enabled: true } })
  site.trustNode()
  site.write('deliveries/main.yaml', delivery('1s'))
  await commit(good)
  control = await controls.start('serve', '--role', 'control', '--settings', site.settingsFile)
  relay = await openRelay()
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(directory, 'control.pem'), publicPem)
  far.push(await startNode('far-1', { canary: 'true' }))
  far.push(await startNode('far-2', {}))
  far.push(await startNode('far-3', {}))
  await answersAre('the first configuration', good)
  await reaches('the first state', ({ phase }) => phase === 'done')
})
afterAll(async () => {
  await nodes.killAll()
  await controls.killAll()
  await backend?.close()
  relay?.close()
  site?.remove()
  removeTempDir(directory)
})

test('a good change reaches the canary first, then all', async () => {
  const made = await commit(better)
  const first = await reaches('the canary to have it', ({ target, waves }) => {
    return target?.commit === made && waves[0]?.adopted === 1
  })
  expect(first.good.seq).toBeLessThan(first.target!.seq)
  const last = await reaches('all to be given it', ({ phase, good: { commit: given } }) => {
    return phase === 'done' && given === made
  })
  expect(last.verdict).toBeNull()
  await answersAre('the change at all nodes', better)
})

test('a bad change is stopped at the canary and returned; no other node has it', async () => {
  const before = await shown()
  const stopAsking = askAll()
  // Probes need their time: the wave holds until the gate has seen enough.
  site.write('deliveries/main.yaml', delivery('1h'))
  const bad = await commit(dead)
  const stopped = await reaches('the return', ({ phase, target }) => {
    return phase === 'returned' && target?.commit === bad
  })
  await answersAre('the last good one at all nodes', better)
  const answers = await stopAsking()
  // How many queries saw the bad change: some at the canary, none elsewhere.
  const sawIt = answers.map((all) => all.filter((answer) => answer !== better).length)
  expect(sawIt).toEqual([expect.any(Number), 0, 0])
  expect(sawIt[0]).toBeGreaterThan(0)
  expect(answers.every(({ length }) => length > 0)).toBe(true)
  expect(stopped).toMatchObject({
    good: { digest: before!.good.digest },
    verdict: { gate: 'membersDown', wave: 1, value: 100, limit: 20 },
  })
  expect(stopped.good.seq).toBeGreaterThan(stopped.target!.seq)
  const told = await byCli()
  expect(told.out).toContain('stopped in wave 1: membersDown is 100')
})

test('a shadow stops a bad change before any query has seen it', async () => {
  const before = await shown()
  const gates = '  gates: { changedAnswers: 50, answersMin: 20 }\n'
  site.write('deliveries/main.yaml', delivery('1h', '1h', gates))
  const stopAsking = askAll()
  const bad = await commit(third)
  const stopped = await reaches('the return', ({ phase, target }) => {
    return phase === 'returned' && target?.commit === bad
  })
  const answers = await stopAsking()
  expect(answers.flat().filter((answer) => answer !== better)).toEqual([])
  expect(stopped).toMatchObject({
    good: { digest: before!.good.digest },
    verdict: { gate: 'changedAnswers', wave: 1, value: 100, limit: 50 },
  })
  // Beside it stands what a plan had promised.
  const told = await reaches('the plan', ({ promised }) => promised !== '')
  expect(told.promised).toContain('moved=100%')
})

test('a later commit takes back the change of another one', async () => {
  site.write('deliveries/main.yaml', delivery('1h'))
  const made = await commit(fourth)
  await reaches('the canary to have it', ({ target, waves }) => {
    return target?.commit === made && waves[0]?.adopted === 1
  })
  const decisions = `  decisions: [{ commit: ${made.slice(0, 12)}, decision: abort }]\n`
  site.write('deliveries/main.yaml', delivery('1h', '0s', decisions))
  await site.commit('abort')
  await site.push()
  await reaches('the return', ({ phase, target }) => {
    return phase === 'aborted' && target?.commit === made
  })
  await answersAre('the last good one at all nodes', better)
})

test('a control node that is killed keeps the wave, and an operator promotes', async () => {
  site.write('deliveries/main.yaml', delivery('1h'))
  const made = await commit(good)
  await reaches('the canary to have it', ({ target, waves }) => {
    return target?.commit === made && waves[0]?.adopted === 1
  })
  const before = await shown()
  control.signal('SIGKILL')
  await control.ended
  control = await controls.start('serve', '--role', 'control', '--settings', site.settingsFile)
  const after = await reaches('the canary to be heard', ({ waves }) => waves[0]?.adopted === 1)
  expect(after).toMatchObject({ phase: 'rolling', target: before!.target, good: before!.good })
  await answersAre('the canary alone to have it', good, better, better)
  for (const [verb, phase] of [
    ['pause', 'paused'],
    ['resume', 'rolling'],
    ['promote', 'done'],
  ] as const) {
    const run = await byCli(verb)
    expect(run).toMatchObject({ exit: 0, err: '' })
    expect(run.out).toMatch(new RegExp(`^channel main: ${phase}\\b`))
    expect(await shown()).toMatchObject({ phase })
  }
  await answersAre('the change at all nodes', good)
})

test('the command aborts a change, and says why it cannot do more', async () => {
  const made = await commit(better)
  await reaches('the canary to have it', ({ target, waves }) => {
    return target?.commit === made && waves[0]?.adopted === 1
  })
  const aborted = await byCli('abort')
  expect(aborted).toMatchObject({ exit: 0, err: '' })
  expect(aborted.out).toMatch(/^channel main: aborted\b/)
  await answersAre('the last good one at all nodes', good)
  const again = await byCli('pause')
  expect(again).toMatchObject({ exit: 1, out: '' })
  expect(again.err).toMatch(/^gslbd delivery: http.*: 409 \w/)
  const other = await byCli('pause', 'other')
  expect(other.exit).toBe(1)
  expect(other.err).toMatch(/: 404 /)
})
