// A node with the dashboard, built for the file, and browser actions on it.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync } from 'node:fs'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { callApi } from './api-client.ts'
import type { ApiReply } from './api-client.ts'
import { useBrowser } from './chromium.ts'
import type { Visited } from './chromium.ts'
import { useDaemons } from './daemon.ts'
import type { DaemonProcess } from './daemon.ts'
import type { Named } from './dashboard-scene.ts'
import { placeDatabase } from './database-template.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'
import { waitUntil } from './wait-until.ts'

const systemKey = 'ab'.repeat(32)
/** Seconds on a machine at rest. */
const stepMs = 60_000
const root = join(import.meta.dirname, '../..')

interface Account {
  readonly email: string
  readonly password: string
}

/** A call with the system's own key, which a page of another origin could not make. */
type SystemCall = <T = Named>(method: string, path: string, body?: object) => Promise<ApiReply<T>>

export interface DashboardNode {
  readonly daemon: () => DaemonProcess
  /** The folder of the files that the node serves. */
  readonly built: string
  readonly home: string
  /** The node's own address, unless a file replaces it. */
  origin: string
  readonly call: SystemCall
  /** The system's own key. */
  readonly bearer: string
  readonly openPage: () => Promise<Visited>
  readonly signedIn: (account: Account) => Promise<Visited>
  readonly signIn: (page: Page, account: Account) => Promise<void>
  readonly visit: (page: Page, path: string) => Promise<unknown>
}

/**
 * Call it at the top of a file: one node, one browser, one build.
 *
 * @param moreOf settings beside the common ones; called when the node starts
 */
export function useDashboard(moreOf: () => object | Promise<object> = () => ({})): DashboardNode {
  const home = makeTempDir('dashboard')
  const built = builtFolder()
  const { start } = useDaemons({ GSLB_API_KEY: systemKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
  const openPage = useBrowser(stepMs)
  let daemon: DaemonProcess
  beforeAll(async () => {
    build(built)
    const dataDir = join(home, 'data')
    await placeDatabase(dataDir)
    const file = join(home, 'gslbd.yaml')
    const settings = {
      ...{ dataDir, dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 } },
      ...{ health: { enabled: true }, gitops: { requireSignature: false, checkPushes: false } },
      api: {
        ...{ enabled: true, port: 0, webuiPath: built, trustedProxies: ['127.0.0.1'] },
        statusPage: { names: ['www.example.com'], title: 'Example' },
      },
      ...(await moreOf()),
    }
    writeFileSync(file, JSON.stringify(settings))
    daemon = await start('serve', '--settings', file)
    await waitUntil('a look at the repository', async () => {
      const answer = await callApi(daemon, 'GET', '/pools', { bearer: systemKey })
      return answer.status === 200
    })
    node.origin = `http://127.0.0.1:${daemon.apiPort}`
  })
  afterAll(() => removeTempDir(home))

  const node: DashboardNode = {
    ...{ built, home, openPage, origin: '', bearer: systemKey },
    daemon: () => daemon,
    call: (method, path, body) =>
      callApi(daemon, method, path, { bearer: systemKey, ...(body && { body }) }),
    visit: (page, path) => page.goto(`${node.origin}/ui/#${path}`),
    signIn: async (page, { email, password }) => {
      await page.goto(`${node.origin}/ui/`)
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.getByText('live', { exact: true }).waitFor()
    },
    signedIn: async (account) => {
      const visited = await openPage()
      await node.signIn(visited.page, account)
      return visited
    },
  }
  return node
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Leaves out the errors that browsers log for a missing session or health check. */
export const unexpected = (faults: readonly string[]): string[] =>
  faults.filter((fault) => !/the server responded with a status of 40[14]/.test(fault))

/** Named by a digest of its inputs, so that test files share it. */
function builtFolder(): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  hash.update(readFileSync(join(root, 'bin/dashboard.ts')))
  const folder = join(root, 'dashboard')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const path = join(folder, name)
    if (statSync(path).isFile()) hash.update(`${name}\0`).update(readFileSync(path))
  }
  return join(root, 'node_modules/.cache/gslbd/ui', hash.digest('hex').slice(0, 16))
}

function build(folder: string): void {
  if (existsSync(folder)) return
  const own = `${folder}.${process.pid}`
  mkdirSync(own, { recursive: true })
  execFileSync(process.execPath, ['bin/dashboard.ts', '--into', own], { cwd: root })
  try {
    renameSync(own, folder)
  } catch (error) {
    rmSync(own, { recursive: true })
    // Another process may have built it first.
    if (!existsSync(folder)) throw error
  }
}
