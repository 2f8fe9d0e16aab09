// Tests the node's lines for ExaBGP with a real one: a router, which is BIRD, has the route, or
// not.
import { execFileSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExabgpDriver } from '#server/anycast/exabgp.ts'
import { fileOfPage } from '#test/support/anycast-network.ts'
import { Namespaces } from '#test/support/namespaces.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const route = '192.0.2.0/24'
const routerConf = `log stderr all;
router id 10.0.0.1;
protocol device {}
protocol bgp node {
  local 10.0.1.1 as 65000;
  neighbor 10.0.1.2 as 65001;
  passive;
  ipv4 { import all; export none; };
}
`
let work: string
let spaces: Namespaces
let exabgp: ChildProcess

beforeAll(async () => {
  work = makeTempDir('exabgp')
  mkdirSync(join(work, 'run'))
  execFileSync('mkfifo', [join(work, 'run/exabgp.in'), join(work, 'run/exabgp.out')])
  writeFileSync(join(work, 'exabgp.conf'), fileOfPage('/etc/exabgp/exabgp.conf of a node'))
  writeFileSync(join(work, 'bird.conf'), routerConf)
  spaces = await Namespaces.make('router', 'node')
  await spaces.link(['router', '10.0.1.1/24'], ['node', '10.0.1.2/24'])
  const files = ['-c', 'bird.conf', '-s', 'bird.ctl', '-P', 'bird.pid']
  spaces.spawn('router', 'bird', '-f', ...files.map((word) => inWork(word)))
  startExabgp()
})
afterAll(() => {
  spaces.remove()
  removeTempDir(work)
})

const inWork = (word: string): string => (word.startsWith('-') ? word : join(work, word))

function startExabgp(): void {
  const set = ['exabgp.daemon.user=root', 'exabgp.api.cli=true', 'exabgp.log.destination=stdout']
  const words = ['env', ...set, 'exabgp', '--root', work, join(work, 'exabgp.conf')]
  exabgp = spaces.spawn('node', ...words)
  exabgp.stdout?.resume()
  exabgp.stderr?.resume()
}

async function routes(): Promise<string> {
  const show = ['birdc', '-s', join(work, 'bird.ctl'), 'show', 'route', 'for', route]
  return spaces.run('router', ...show).catch(() => '')
}
const isThere = async (): Promise<boolean> => (await routes()).includes('AS65001')
const driver = (): ReturnType<typeof createExabgpDriver> =>
  createExabgpDriver({
    pipe: join(work, 'run/exabgp.in'),
    routes: [route],
    attributes: 'next-hop self community [65000:53]',
  })

/** As the node says it again, until somebody reads the pipe. */
async function said(verb: 'announce' | 'withdraw'): Promise<void> {
  await waitUntil('a reader of the pipe', async () => (await driver()[verb]()).ok)
}

test('an announced route is at the router with its attributes, a withdrawn one not', async () => {
  await said('announce')
  await waitUntil('the route', isThere)
  const all = ['birdc', '-s', join(work, 'bird.ctl'), 'show', 'route', 'all', 'for', route]
  expect(await spaces.run('router', ...all)).toMatch(/next_hop: 10\.0\.1\.2[^]*\(65000,53\)/)
  // Said again, as every ten seconds, it changes nothing.
  await said('announce')
  await said('withdraw')
  await waitUntil('no route', async () => !(await isThere()))
})

test('an ExaBGP that was started again has forgotten the route, and is told again', async () => {
  await said('announce')
  await waitUntil('the route', isThere)
  exabgp.kill('SIGKILL')
  await once(exabgp, 'exit')
  await waitUntil('no route', async () => !(await isThere()))
  startExabgp()
  await waitUntil(
    'the route',
    async () => {
      await driver().announce()
      return isThere()
    },
    { intervalMs: 1000 },
  )
})
