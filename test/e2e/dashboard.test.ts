// The dashboard in a real browser against a real node, from the first account to a lost connection.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { openPage } from '#test/support/chromium.ts'
import type { Visited } from '#test/support/chromium.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { placeDatabase } from '#test/support/database-template.ts'
import { lookAt } from '#test/support/screens.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const systemKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: systemKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
/** Seconds on a machine at rest. */
const stepMs = 60_000
const patienceMs = 240_000

const root = join(import.meta.dirname, '../..')
const home = makeTempDir('dashboard')
const built = join(home, 'ui')
const admin = { email: 'ann@example.com', password: 'correct horse battery' }
const viewer = { email: 'vic@example.com', password: 'only looking around' }
const markup = '<img src=x onerror=document.title=1>'
let daemon: DaemonProcess
let origin: string

beforeAll(async () => {
  execFileSync(process.execPath, ['bin/dashboard.ts', '--into', built], { cwd: root })
  const dataDir = join(home, 'data')
  await placeDatabase(dataDir)
  const file = join(home, 'gslbd.yaml')
  const settings = {
    ...{
      dataDir,
      dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
      health: { enabled: true },
    },
    ...{ api: { enabled: true, port: 0, webuiPath: built }, auth: { bcryptCost: 10 } },
  }
  writeFileSync(file, JSON.stringify(settings))
  daemon = await start('serve', '--settings', file)
  origin = `http://127.0.0.1:${daemon.apiPort}`
})
afterAll(() => removeTempDir(home))

interface Named {
  readonly id: string
  readonly name: string
}
const call = <T = Named>(method: string, path: string, body?: object) =>
  callApi<T>(daemon, method, path, { bearer: systemKey, ...(body && { body }) })

async function signedIn({ email, password }: typeof admin): Promise<Visited> {
  const visited = await openPage(stepMs)
  const { page } = visited
  await page.goto(`${origin}/ui/`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByText('live', { exact: true }).waitFor()
  return visited
}

const visit = (page: Page, path: string) => page.goto(`${origin}/ui/#${path}`)
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Nobody was signed in yet, or a pool has no health check: browsers write both down as errors. */
const unexpected = (faults: readonly string[]): string[] =>
  faults.filter((fault) => !/the server responded with a status of 40[14]/.test(fault))

test('all of it is less than 250 kB compressed', () => {
  const files = readdirSync(built, { recursive: true, encoding: 'utf8' })
  const compressed = files.filter((path) => path.endsWith('.br'))
  const bytes = compressed.reduce((sum, path) => sum + statSync(join(built, path)).size, 0)
  expect(compressed.length).toBeGreaterThan(3)
  expect(bytes).toBeLessThan(250_000)
})

test(
  'three steps lead from a new node to an answer, and a log-out ends the session',
  async () => {
    const { page, faults, requests } = await openPage(stepMs)
    await page.goto(`${origin}/`)
    await page.getByLabel('E-mail').fill(admin.email)
    await page.getByLabel('Password').fill(admin.password)
    expect(await lookAt(page, 'setup')).toEqual([])
    await button(page, 'Create the account').click()

    await page.getByLabel('Zone', { exact: true }).fill('example.com')
    await page.getByLabel('Name server').fill('ns1.example.com')
    await page.getByLabel('Its address').fill('192.0.2.53')
    await button(page, 'Declare the zone').click()

    await page.getByLabel('Name', { exact: true }).fill('www.example.com')
    await page.getByLabel('Address of the first member').fill('192.0.2.1')
    await button(page, 'Create the service').click()
    await page.getByText('dig @127.0.0.1 www.example.com').waitFor()
    expect(await daemon.answers('www.example.com. A')).toEqual([
      'www.example.com. 60 IN A 192.0.2.1',
    ])

    await button(page, 'To the overview').click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('link', { name: /your account/ }).click()
    await button(page, 'Log out').click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.evaluate('fetch("/api/v1/pools").then(({ status }) => status)')).toBe(401)
    expect(requests.filter((url) => !url.startsWith(`${origin}/`))).toEqual([])
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'no screen breaks a rule of accessibility or of its own policy, and markup is text',
  async () => {
    await call('POST', '/pools', { name: markup })
    const { page, faults, requests } = await signedIn(admin)
    await page.getByRole('link', { name: 'Tenants' }).waitFor()
    const links = page.getByRole('navigation', { name: 'Screens' }).getByRole('link')
    const paths = await links.evaluateAll((all) =>
      all.map((one) => (one as unknown as { hash: string }).hash.slice(1)),
    )
    expect(paths.length).toBeGreaterThan(20)
    const [service] = (await call<Named[]>('GET', '/services')).body
    const pools = (await call<Named[]>('GET', '/pools')).body
    const [commit] = (await call<{ commit: string }[]>('GET', '/history')).body
    const more = [
      `/services/${service?.id}`,
      ...pools.map(({ id }) => `/pools/${id}`),
      `/changes/${commit?.commit}`,
      '/account',
    ]
    const found: string[] = []
    for (const path of [...paths, ...more]) {
      await visit(page, path)
      await page.locator('main h1').waitFor()
      await expect.poll(() => page.locator('main .loading').count()).toBe(0)
      found.push(...(await lookAt(page, nameOf(path))))
    }
    expect(found).toEqual([])
    await visit(page, '/pools')
    await page.getByRole('link', { name: markup }).waitFor()
    expect(await page.title()).toBe('Pools · gslbd')
    expect(requests.filter((url) => !url.startsWith(`${origin}/`) && !isOwn(url))).toEqual([])
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

const isOwn = (url: string): boolean => url.startsWith('data:') || url.startsWith('ws://127.')

/** `/pools/019a…` is a picture of its own kind, whatever the id. */
const nameOf = (path: string): string =>
  path === '/'
    ? 'overview'
    : path
        .slice(1)
        .replaceAll(/[^a-z]+/g, '-')
        .slice(0, 40)

test(
  'an edit is reviewed, meets the edit of somebody else, and is seen by DNS',
  async () => {
    const [service] = (await call<Named[]>('GET', '/services')).body
    const { page } = await signedIn(admin)
    await visit(page, `/services/${service?.id}`)
    await button(page, 'Edit').click()
    await page.getByLabel('TTL').fill('7')
    await button(page, 'Review the change').click()
    const row = page.getByRole('row', { name: /TTL/ })
    await row.waitFor()
    expect(await row.innerText()).toMatch(/60\s+7/)
    expect(await lookAt(page, 'review')).toEqual([])

    await call('PATCH', `/services/${service?.id}`, { ttl: 9 })
    await button(page, 'Commit').click()
    await page.getByText('Somebody changed this').waitFor()
    expect(await page.getByRole('row', { name: /TTL/ }).innerText()).toMatch(/9\s+7/)
    expect(await lookAt(page, 'conflict')).toEqual([])
    await button(page, 'Go on with mine').click()
    await button(page, 'Review the change').click()
    await button(page, 'Commit').click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.getByText('7 s', { exact: true }).waitFor()
    expect(await daemon.answers('www.example.com. A')).toEqual([
      'www.example.com. 7 IN A 192.0.2.1',
    ])
  },
  patienceMs,
)

test(
  'the palette leads to a trace, which names each step, and what would be if a member were down',
  async () => {
    const { page } = await signedIn(admin)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Go to' }).waitFor()
    await page.keyboard.type('trace')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Trace' }).waitFor()
    await visit(page, '/trace?name=www.example.com.')
    await page.reload()
    await button(page, 'Trace').click()
    await page.getByText('www.example.com. 7 IN A 192.0.2.1').waitFor()
    await page.getByRole('checkbox', { name: '192.0.2.1' }).check()
    await page.getByText('Candidates: none').waitFor()
    expect(await lookAt(page, 'trace-what-if')).toEqual([])
  },
  patienceMs,
)

test(
  'a viewer sees the same without what changes it',
  async () => {
    await call('POST', '/users', { ...viewer, role: 'viewer' })
    const { page } = await signedIn(viewer)
    const pools = (await call<Named[]>('GET', '/pools')).body
    const www = pools.find(({ name }) => name === 'www-example-com')
    for (const path of ['/services', `/pools/${www?.id}`, '/r/records', '/r/rollouts']) {
      await visit(page, path)
      await page.locator('main h1').waitFor()
      await expect.poll(() => page.locator('main .loading').count()).toBe(0)
      const names = await page.locator('main button').allInnerTexts()
      expect([path, names]).toEqual([path, []])
    }
    expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(0)
  },
  patienceMs,
)

test(
  'a session that ends loses no form; a node that is gone leaves a banner with the age of the data',
  async () => {
    const { page } = await signedIn(admin)
    await visit(page, '/pools')
    await button(page, 'New pool').click()
    await page.getByLabel('Name', { exact: false }).first().fill('half-written')
    await page.context().clearCookies()
    await button(page, 'Review the change').click()
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('Password').fill(admin.password)
    expect(await dialog.getByLabel('E-mail').inputValue()).toBe(admin.email)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await button(page, 'Review the change').click()
    await button(page, 'Commit').click()
    await page.getByRole('link', { name: 'half-written' }).waitFor()

    daemon.signal('SIGKILL')
    await page.getByText('The connection to the node is lost').waitFor()
    await page.getByText(/What you see is \d+ s old/).waitFor()
    expect(await page.getByRole('link', { name: 'half-written' }).count()).toBe(1)
  },
  patienceMs,
)
