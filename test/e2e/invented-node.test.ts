// A node that somebody invented with the token of bundles stops no change of the fleet: a control
// node, one that is listed, and one that is not.
import { createPublicKey } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ShownDelivery } from '#ports/deliveries.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess, Daemons } from '#test/support/daemon.ts'
import { reportOf } from '#test/support/node-reports.ts'
import { runCli } from '#test/support/run-cli.ts'
import { Site, poolPath } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const bundleToken = 'cd'.repeat(16)
const directory = makeTempDir('invented-node')
const daemons = useDaemons({ GSLB_API_KEY: bearer, GSLB_BUNDLE_TOKEN: bundleToken })
let site: Site
let control: DaemonProcess
const far: DaemonProcess[] = []

const pool = (address: string): string =>
  'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: web }\nspec:\n' +
  `  members:\n    - { name: a, ipAddress: ${address}, port: 80 }\n`

async function commit(address: string): Promise<string> {
  site.write(poolPath, pool(address))
  const made = await site.commit(address)
  await site.push()
  return made
}

async function startNode(name: string, nodes: Daemons): Promise<DaemonProcess> {
  const home = join(directory, name)
  mkdirSync(home)
  const settings = {
    dataDir: './data',
    roles: ['dns'],
    state: { nodeName: name },
    node: { labels: { canary: 'true' } },
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    bundle: {
      ...{ urls: [`http://127.0.0.1:${control.apiPort}`] },
      ...{ keys: '../control.pem', poll: '1s' },
    },
  }
  writeFileSync(join(home, 'gslbd.yaml'), JSON.stringify(settings))
  const node = await nodes.start('serve', '--settings', join(home, 'gslbd.yaml'))
  far.push(node)
  return node
}
/** The token is there when it has been made. */
const signing = { GSLB_BUNDLE_TOKEN: bundleToken, GSLB_NODE_TOKEN: '' }
const plainNodes = useDaemons({ GSLB_BUNDLE_TOKEN: bundleToken })
const signers = useDaemons(signing)

const shown = async (): Promise<ShownDelivery | undefined> =>
  (await callApi<ShownDelivery[]>(control, 'GET', '/deliveries', { bearer })).body[0]

interface Shown {
  readonly name: string
  readonly isKnown: boolean
  readonly labels: Readonly<Record<string, string>>
  readonly drift: readonly string[]
}
const listed = async (): Promise<readonly Shown[]> =>
  (await callApi<readonly Shown[]>(control, 'GET', '/cluster/nodes', { bearer })).body

/** Says that it is a canary that refuses everything. */
async function tellLie(digest: string): Promise<number> {
  const refusals = [{ digest, code: 'bad-bundle', reason: 'no', atMs: Date.now() }]
  const lie = reportOf('evil', {
    ...{ labels: { canary: 'true' }, isRefusing: true, refusals, sentAtMs: Date.now() },
  })
  const answer = await fetch(`http://127.0.0.1:${control.apiPort}/bundles/channels/main`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bundleToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tag: null, report: lie }),
  })
  await answer.arrayBuffer()
  return answer.status
}

beforeAll(async () => {
  site = await Site.make('invented-node')
  site.trustNode()
  site.write(
    'deliveries/main.yaml',
    'apiVersion: gslb/v1\nkind: Delivery\nmetadata: { name: main }\nspec:\n  waves:\n' +
      '    - { nodes: canary=true, hold: 1s }\n    - { percent: 100 }\n',
  )
  await commit('192.0.2.1')
  const dataDir = ['--data-dir', site.dataDir] as const
  control = await daemons.start('serve', '--role', 'control', '--settings', site.settingsFile)
  const added = await runCli('node', 'add', 'far-1', '--label', 'canary=true', ...dataDir)
  signing.GSLB_NODE_TOKEN = /^GSLB_NODE_TOKEN=(\S+)$/m.exec(added.out)?.[1] ?? ''
  expect(await runCli('node', 'list', ...dataDir)).toMatchObject({ out: 'far-1  canary=true\n' })
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(directory, 'control.pem'), publicPem)
  await startNode('far-1', signers)
  await startNode('far-2', plainNodes)
  await waitUntil('both to be heard', async () => (await listed()).length === 3)
  await waitUntil('the first state', async () => (await shown())?.phase === 'done')
})
afterAll(async () => {
  await daemons.killAll()
  await plainNodes.killAll()
  await signers.killAll()
  site?.remove()
  removeTempDir(directory)
})

test('the change goes on; one that is not listed is shown, and gets it last', async () => {
  await tellLie('e'.repeat(64))
  const nodes = await listed()
  expect(nodes.map(({ name, isKnown, drift }) => [name, isKnown, drift])).toEqual([
    [expect.any(String), true, []],
    ['evil', false, []],
    ['far-1', true, []],
    ['far-2', false, []],
  ])
  const made = await commit('192.0.2.2')
  const end = await waitUntil('the end of the change', async () => {
    const now = await shown()
    if (now?.target?.commit !== made && now?.good.commit !== made) return undefined
    await tellLie(now.target?.digest ?? now.good.digest)
    // One node is in the waves: the listed one.
    for (const { adopted, waiting, refused } of now.waves) {
      expect([adopted + waiting <= 1, refused]).toEqual([true, 0])
    }
    return now.phase === 'rolling' ? undefined : now
  })
  expect(end).toMatchObject({ phase: 'done', verdict: null, good: { commit: made } })
  for (const node of far) {
    await waitUntil('the change', async () =>
      (await node.answers('www.example.com. A')).join().endsWith(' A 192.0.2.2'),
    )
  }
  expect(control.output).toContain('a node tells of itself that is not listed')
})

test('a dead node is missing within 30 s, and an alert says so within 60', async () => {
  const isMissing = async (): Promise<boolean> =>
    (await listed()).some(({ name, drift }) => name === 'far-1' && drift.includes('missing'))
  far[0]!.signal('SIGKILL')
  const diedAtMs = performance.now()
  await waitUntil('it to be missing', isMissing)
  expect(performance.now() - diedAtMs).toBeLessThan(30_000)
  await waitUntil('the alert', async () => {
    const { body } = await callApi<object>(control, 'GET', '/alerts/events', { bearer })
    return JSON.stringify(body).includes('far-1: missing')
  })
  expect(performance.now() - diedAtMs).toBeLessThan(60_000)
})
