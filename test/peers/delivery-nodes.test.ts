// Two control nodes on one PostgreSQL: the one that decides dies in the middle of a wave, and the
// other one goes on.
import { createPublicKey } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ShownDelivery } from '#ports/deliveries.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { poolPath, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const token = 'cd'.repeat(16)
const { start } = useDaemons({ GSLB_API_KEY: bearer, GSLB_BUNDLE_TOKEN: token })
const patient = { timeoutMs: 120_000 } as const
const names = ['one', 'two'] as const
let postgres: PostgresServer
let site: Site
let controls: readonly DaemonProcess[] = []
const far: DaemonProcess[] = []

const homeOf = (name: string): string => join(site.path, name)

const delivery = (hold: string): string =>
  'apiVersion: gslb/v1\nkind: Delivery\nmetadata: { name: main }\nspec:\n  waves:\n' +
  `    - { nodes: canary=true, hold: ${hold} }\n    - { percent: 100 }\n`

async function push(): Promise<void> {
  for (const name of names) await site.git('push', '-q', name, 'main')
}

/** With a repository and keys of its own; commits and the database are the same. */
async function startControl(name: string): Promise<DaemonProcess> {
  const dataDir = join(homeOf(name), 'data')
  mkdirSync(dataDir, { recursive: true })
  copyFileSync(join(site.dataDir, 'allowed_signers'), join(dataDir, 'allowed_signers'))
  await site.run('git', 'init', '-q', '--bare', '-b', 'main', join(dataDir, 'config.git'))
  await site.git('remote', 'add', name, join(dataDir, 'config.git'))
  await site.git('push', '-q', name, 'main')
  const settings = {
    dataDir: './data',
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    api: { enabled: true, port: 0 },
    database: { url: postgres.url },
    state: { nodeName: name },
  }
  writeFileSync(join(homeOf(name), 'gslbd.yaml'), JSON.stringify(settings))
  return start('serve', '--settings', join(homeOf(name), 'gslbd.yaml'))
}

async function startNode(name: string, labels: object): Promise<DaemonProcess> {
  mkdirSync(homeOf(name))
  const settings = {
    dataDir: './data',
    roles: ['dns'],
    state: { nodeName: name },
    node: { labels },
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    bundle: {
      urls: controls.map(({ apiPort }) => `http://127.0.0.1:${apiPort}`),
      keys: '../controls.pem',
      poll: '1s',
    },
  }
  writeFileSync(join(homeOf(name), 'gslbd.yaml'), JSON.stringify(settings))
  return start('serve', '--settings', join(homeOf(name), 'gslbd.yaml'))
}

async function reaches(
  what: string,
  control: number,
  holds: (delivery: ShownDelivery) => boolean,
): Promise<ShownDelivery> {
  let last: ShownDelivery | undefined
  try {
    return await waitUntil(
      what,
      async () => {
        const { body } = await callApi<ShownDelivery[]>(controls[control]!, 'GET', '/deliveries', {
          bearer,
        })
        last = body[0]
        return last !== undefined && holds(last) ? last : undefined
      },
      patient,
    )
  } catch (error) {
    throw new Error(`${what}: ${JSON.stringify(last)}`, { cause: error })
  }
}

const answersAre = (what: string, ...expected: readonly string[]) =>
  waitUntil(
    what,
    async () => {
      const answers = await Promise.all(far.map((node) => node.answers('www.example.com. A')))
      return answers.every((answer, i) => answer.join().endsWith(expected[i]!))
    },
    patient,
  )

beforeAll(async () => {
  postgres = await startPostgres()
  site = await Site.make('delivery-nodes')
  site.write('deliveries/main.yaml', delivery('1h'))
  await site.commit('waves')
  controls = [await startControl('one'), await startControl('two')]
  const keys = names.map((name) => {
    const pem = readFileSync(join(homeOf(name), 'data', 'keys', 'node.pem'), 'utf8')
    return createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()
  })
  writeFileSync(join(site.path, 'controls.pem'), keys.join(''))
  far.push(await startNode('far-1', { canary: 'true' }))
  far.push(await startNode('far-2', {}))
  await answersAre('the first configuration', '192.0.2.1', '192.0.2.1')
})
afterAll(async () => {
  await postgres.stop()
  site.remove()
})

test('a control node that dies in the middle of a wave: another one goes on', async () => {
  for (const control of [0, 1]) {
    await reaches('the first state', control, ({ phase }) => phase === 'done')
  }
  site.write(poolPath, poolOf('192.0.2.2'))
  const made = await site.commit('a change')
  await push()
  const before = await reaches('the canary to have it', 0, ({ target, waves }) => {
    return target?.commit === made && waves[0]?.adopted === 1
  })
  // Both nodes give the same, whichever of them decides.
  const [decider, other] = before.decidedBy === 'one' ? [0, 1] : [1, 0]
  const same = await reaches('the other one to know', other, ({ target }) => {
    return target?.commit === made
  })
  expect([same.target, same.good, same.phase]).toEqual([before.target, before.good, 'rolling'])
  controls[decider]!.signal('SIGKILL')
  await controls[decider]!.ended
  const after = await reaches('the other one to decide', other, ({ decidedBy, waves }) => {
    return decidedBy === names[other] && waves[0]?.adopted === 1
  })
  expect([after.target, after.good, after.phase]).toEqual([before.target, before.good, 'rolling'])
  await answersAre('the canary alone to have it', '192.0.2.2', '192.0.2.1')
  // The hold ends: the wave that the first one has begun goes on, under the same number.
  site.write('deliveries/main.yaml', delivery('1s'))
  await site.commit('a shorter hold')
  await push()
  const done = await reaches('the end', other, ({ phase }) => phase === 'done')
  expect(done.good.seq).toBeGreaterThanOrEqual(before.target!.seq)
  await answersAre('all to have it', '192.0.2.2', '192.0.2.2')
}, 300_000)

const poolOf = (address: string): string =>
  'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: web }\nspec:\n' +
  `  members:\n    - { name: a, ipAddress: ${address}, port: 80 }\n`
