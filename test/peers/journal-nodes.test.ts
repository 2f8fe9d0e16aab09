// A node that answers and one of the role dns alone: from PostgreSQL the answers of both are
// explained when both are gone; from the database in a control node, those of the other.
import { createPublicKey } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { journalDirectory } from '#journal/journal-directory.ts'
import { segmentFiles } from '#journal/segment-files.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const token = 'cd'.repeat(16)
const { start, killAll } = useDaemons({ GSLB_API_KEY: bearer, GSLB_BUNDLE_TOKEN: token })
const patient = { timeoutMs: 120_000 } as const
/** The API explains a bounded number of answers a minute. */
const paced = { ...patient, intervalMs: 2_000 } as const
let postgres: PostgresServer
let site: Site
let control: DaemonProcess
let far: DaemonProcess

/** The same data directory under another name is another node. */
function startControl(
  nodeName: string,
  roles: readonly string[],
  database: object,
): Promise<DaemonProcess> {
  site.writeSettings({ ...database, state: { nodeName }, roles })
  return start('serve', '--settings', site.settingsFile)
}

async function startFar(): Promise<DaemonProcess> {
  const home = join(site.path, 'far')
  mkdirSync(home, { recursive: true })
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const key = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(home, 'control.pem'), key)
  const settings = {
    ...{ dataDir: './data', roles: ['dns'], state: { nodeName: 'far-1' } },
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    bundle: { urls: [`http://127.0.0.1:${control.apiPort}`], keys: './control.pem', poll: '1s' },
  }
  writeFileSync(join(home, 'gslbd.yaml'), JSON.stringify(settings))
  return start('serve', '--settings', join(home, 'gslbd.yaml'))
}

const farDataDir = (): string => join(site.path, 'far', 'data')

interface Told {
  readonly node?: string
  readonly records?: readonly string[]
  readonly error?: string
}

async function why(node: string, at: string) {
  const asked = { bearer, body: { name: 'www.example.com.', at, node } }
  const { status, body } = await callApi<Told>(control, 'POST', '/why', asked)
  return { status, ...body }
}

const explained = (node: string, at: string) =>
  waitUntil(
    `what ${node} has answered`,
    async () => {
      const told = await why(node, at)
      if (told.status !== 200) throw new Error(JSON.stringify(told))
      return told
    },
    paced,
  )

/** By data directory, the newest segment of its journal that a test has waited for. */
const begun = new Map<string, number>()

/** @returns an instant in the journal of the node, which begins a moment after it answers */
async function answersAre(daemon: DaemonProcess, dataDir: string): Promise<string> {
  await waitUntil(
    'an answer',
    async () => (await daemon.answers('www.example.com. A')).length > 0,
    patient,
  )
  const before = begun.get(dataDir) ?? -1
  const newest = (): number => segmentFiles(journalDirectory(dataDir)).at(-1)?.number ?? -1
  await waitUntil('its journal', () => newest() > before, patient)
  begun.set(dataDir, newest())
  return new Date().toISOString()
}

async function startBoth(database: object): Promise<void> {
  site = await Site.make('journal-nodes')
  site.trustNode()
  await site.push()
  control = await startControl('one', ['control', 'dns'], database)
  far = await startFar()
}

beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.stop())
afterEach(async () => {
  await killAll()
  site.remove()
})

test('answers of nodes that are gone are explained from the database', async () => {
  const database = { database: { url: postgres.url } }
  await startBoth(database)
  const then = [
    await answersAre(control, site.dataDir),
    await answersAre(far, farDataDir()),
  ] as const
  expect(await explained('far-1', then[1])).toMatchObject({
    ...{ node: 'far-1', isCertain: true },
    records: [expect.stringContaining('www.example.com.') as string],
  })

  // The copy is made up for after the database was away.
  await postgres.kill()
  await waitUntil(
    'the database to be missed',
    async () => (await why('far-1', then[1])).status === 503,
    paced,
  )
  const away = new Date().toISOString()
  await postgres.start()
  await explained('far-1', away)

  far.signal('SIGKILL')
  control.signal('SIGTERM')
  await Promise.all([far.ended, control.ended])
  control = await startControl('two', ['control'], database)
  expect(await explained('one', then[0])).toMatchObject({ node: 'one', isCertain: true })
  expect(await explained('far-1', then[1])).toMatchObject({ node: 'far-1' })
  const stopped = await why('one', new Date().toISOString())
  expect([stopped.status, stopped.error]).toEqual([404, expect.stringContaining('was stopped at')])
  const unknown = await why('far-9', then[0])
  expect(unknown.status).toBe(400)
  expect(unknown.error).toMatch(/no journal of far-9 here; known are far-1 from 2.* one from 2/)

  const url = `http://127.0.0.1:${control.apiPort}`
  const asked = ['why', 'www.example.com.', '--at', then[1], '--url', url, '--node', 'far-1']
  const said = await runCliWith({ GSLB_API_KEY: bearer }, ...asked)
  expect(said.out).toContain('node      far-1, bundle ')
}, 300_000)

test('the database in a control node has what others told it, also after a start', async () => {
  await startBoth({})
  const then = [
    await answersAre(control, site.dataDir),
    await answersAre(far, farDataDir()),
  ] as const
  await explained('far-1', then[1])
  for (const daemon of [far, control]) daemon.signal('SIGKILL')
  await Promise.all([far.ended, control.ended])
  control = await startControl('two', ['control'], {})
  expect(await explained('far-1', then[1])).toMatchObject({ node: 'far-1', isCertain: true })
  far = await startFar()
  await explained('far-1', await answersAre(far, farDataDir()))

  // Its own journal is on its own disk alone.
  const own = await why('one', then[0])
  expect([own.status, own.error]).toEqual([
    400,
    expect.stringContaining('there is no journal of one here; known are far-1 from 2') as string,
  ])
}, 300_000)
