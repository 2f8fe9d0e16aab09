// Every screen of the dashboard in a real browser, of a node that has something of each kind.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTcpBackend } from '#test/support/backend.ts'
import type { Backend } from '#test/support/backend.ts'
import { button, unexpected, useDashboard } from '#test/support/dashboard-node.ts'
import { announcement, fillDomains, tellOfNodes } from '#test/support/dashboard-fleet.ts'
import { noteFigures, shownIn } from '#test/support/dashboard-figures.ts'
import { pathsInNavigation, pictureOf } from '#test/support/dashboard-scene.ts'
import { fillDatabase, fillNode } from '#test/support/dashboard-world.ts'
import type { World } from '#test/support/dashboard-world.ts'
import { vendor } from '#test/support/licences.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { feedMany } from '#test/support/many-pools.ts'
import { lookAt, lookAtNarrow } from '#test/support/screens.ts'

const patienceMs = 600_000
const calls = 1_000_000
let atOf: (call: number) => number
let backend: Backend
let world: World
const node = useDashboard(async () => {
  atOf = await fillDatabase(join(node.home, 'data'), calls)
  await fillDomains(join(node.home, 'data'))
  const dbPath = join(node.home, 'country.mmdb')
  const inGermany = ['10.2.0.0/16', { country: { iso_code: 'DE' } }] as const
  writeFileSync(dbPath, writeMmdb({ type: 'Test-Country', networks: [inGermany] }))
  const anycast = announcement(node.home)
  const publicKey = vendor.publicKey.export({ type: 'spki', format: 'pem' })
  const discovery = { sources: { inventory: { type: 'file', path: join(node.home, 'all.json') } } }
  return { auth: { bcryptCost: 10 }, geoip: { dbPath }, license: { publicKey }, anycast, discovery }
})
const { openPage, signIn, signedIn, visit } = node
/** Nothing is asked yet. */
const empty = new Set(['/trace'])

beforeAll(async () => {
  backend = await startTcpBackend()
  world = await fillNode(node, backend)
})
afterAll(() => backend.close())

test(
  'every screen is complete in both themes, on a desk and on a phone',
  async () => {
    const { page, faults } = await signedIn(world.admin)
    const items = [`/pools/${world.pool}`, `/services/${world.service}`, `/members/${world.member}`]
    const paths = [...(await pathsInNavigation(page)), ...items]
    const found: string[] = []
    for (const path of paths) {
      // A node that says nothing for a minute counts as silent.
      await tellOfNodes(node)
      await visit(page, path)
      await page.locator('main h1').waitFor()
      await expect.poll(() => page.locator('main .loading').count()).toBe(0)
      const isEmpty = (await page.locator('main .empty').count()) > 0
      if (isEmpty !== empty.has(path)) found.push(`${path} is ${isEmpty ? 'empty' : 'filled'}`)
      found.push(...(await lookAt(page, pictureOf(path))))
      found.push(...(await lookAtNarrow(page, pictureOf(path))))
      const entries = page.locator('main tbody tr.leads a[href^="#/r/"]')
      const [href] = await entries.evaluateAll((all) =>
        all.map((one) => (one as unknown as { hash: string }).hash),
      )
      if (href !== undefined) paths.push(href.slice(1))
    }
    expect(found).toEqual([])
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'the menu has at most 15 items on each screen; its groups fold, and stay as they were left',
  async () => {
    const { page, faults } = await signedIn(world.admin)
    const menu = page.getByRole('navigation', { name: 'Screens' })
    const here = menu.getByRole('link').and(page.locator('[aria-current="page"]'))
    const paths = await pathsInNavigation(page)
    expect([paths.length > 25, new Set(paths).size]).toEqual([true, paths.length])
    for (const path of paths) {
      await visit(page, path)
      await expect.poll(() => here.getAttribute('href')).toBe(`#${path}`)
      const items = menu.getByRole('link').or(menu.getByRole('button'))
      expect([path, (await items.count()) <= 15]).toEqual([path, true])
    }

    await visit(page, '/')
    const group = menu.getByRole('button', { name: 'DNS' })
    const records = menu.getByRole('link', { name: 'Records', exact: true })
    const isOpen = () => group.getAttribute('aria-expanded')
    await expect.poll(isOpen).toBe('false')
    expect(await records.count()).toBe(0)
    await group.focus()
    await page.keyboard.press('Enter')
    expect([await isOpen(), await records.count()]).toEqual(['true', 1])
    await page.keyboard.press('Tab')
    expect(await menu.locator(':focus').innerText()).toBe('Zones')
    await page.reload()
    await records.click()
    await page.getByRole('heading', { name: 'Records' }).waitFor()
    // It is folded where one is, and open again on the next of its screens.
    await group.click()
    expect([await isOpen(), await records.count()]).toEqual(['false', 0])
    await visit(page, '/zones')
    await records.waitFor()
    await visit(page, '/')
    await expect.poll(isOpen).toBe('false')
    await page.reload()
    await expect.poll(isOpen).toBe('false')

    await page.setViewportSize({ width: 360, height: 740 })
    expect(await group.count()).toBe(0)
    await button(page, 'Menu').click()
    await group.click()
    expect(await lookAt(page, 'menu-phone')).toEqual([])
    await records.click()
    await page.getByRole('heading', { name: 'Records' }).waitFor()
    expect(await group.count()).toBe(0)
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'a phone shows all of an entry that has no page of its own',
  async () => {
    const { page } = await signedIn(world.admin)
    await page.setViewportSize({ width: 360, height: 740 })
    const shown = async (path: string): Promise<string[]> => {
      await visit(page, path)
      const heads = page.locator('main thead th').filter({ visible: true })
      await heads.first().waitFor()
      return (await heads.allInnerTexts()).filter((text) => text !== '')
    }
    expect(await shown('/r/bgp')).toEqual(expect.arrayContaining(['Announced', 'Reason']))
    // A domain has one.
    expect(await shown('/r/domains')).toEqual(['Domain', 'Verified'])
  },
  patienceMs,
)

test(
  'the overview tells which other nodes are not well, and why',
  async () => {
    await tellOfNodes(node, { iad1: { reasons: ['bundle-old'] } })
    const { page } = await signedIn(world.admin)
    const tile = page.getByRole('link', { name: /^Other nodes/ })
    await tile.filter({ hasText: /3 of 4 well.*iad1 is degraded \(bundle-old\)/ }).waitFor()
    await tellOfNodes(node)
    await page.reload()
    await tile.filter({ hasText: /4 of 4 well/ }).waitFor()
  },
  patienceMs,
)

test(
  'a wave that has not begun counts no nodes',
  async () => {
    const { page } = await signedIn(world.admin)
    await tellOfNodes(node)
    await visit(page, '/waves')
    const steps = page.locator('main .steps .step')
    await steps.filter({ hasText: '1 of 1 have it; then 10 min of watching' }).waitFor()
    await steps.filter({ hasText: 'comes after the one before; then 10 min' }).waitFor()
    expect(await page.locator('main').innerText()).not.toContain('0 of 0')
  },
  patienceMs,
)

test(
  'the page of a deleted pool or service says so, and a form keeps its text',
  async () => {
    const { page } = await signedIn(world.admin)
    const { id } = (await node.call('POST', '/pools', { name: 'short-lived' })).body
    const service = { name: 'short', domain: 'short.example.com.', poolId: id, ttl: 30 }
    const { id: serviceId } = (await node.call('POST', '/services', service)).body
    const open = [
      [`/services/${serviceId}`, 'there is no such service'],
      [`/pools/${id}`, 'there is no such pool'],
    ] as const
    for (const [path, words] of open) {
      await visit(page, path)
      await button(page, 'Edit').first().click()
      const name = page.getByRole('dialog').getByLabel(/^Name/).first()
      await name.fill('written')
      expect((await node.call('DELETE', path)).status).toBe(204)
      await page.locator('main [role=alert]').filter({ hasText: words }).waitFor()
      expect(await name.inputValue()).toBe('written')
      await page.keyboard.press('Escape')
    }
  },
  patienceMs,
)

test(
  'unknown values are not shown as none, and appear by themselves',
  async () => {
    const { page } = await signedIn(world.admin)
    const broken = (route: Route) => route.fulfill({ status: 500 })
    const told = page.getByRole('alert').filter({ hasText: 'the node answered 500' })
    await page.route('**/api/v1/snapshot', broken)
    await visit(page, '/pools')
    await page.reload()
    await told.waitFor()
    expect(await page.getByText('No pools yet').count()).toBe(0)
    await visit(page, '/')
    await told.waitFor()
    expect(await page.locator('main').innerText()).not.toMatch(/No members yet|0 of 0/)
    await visit(page, '/pools')
    await page.unroute('**/api/v1/snapshot')
    await page.getByRole('link', { name: 'shop', exact: true }).waitFor()

    await page.route('**/api/v1/openapi.json', broken)
    await visit(page, '/r/records')
    await page.reload()
    await told.waitFor()
    await page.unroute('**/api/v1/openapi.json')
    await button(page, 'Try again').click()
    await page.getByRole('link', { name: 'docs.example.com.' }).waitFor()

    const { page: theirs } = await openPage()
    await theirs.goto(`${node.origin}/ui/`)
    await theirs.getByLabel('E-mail').fill('dee@example.com')
    await theirs.getByLabel('Password').fill('only looking around')
    await button(theirs, 'Sign in').click()
    await theirs.getByRole('heading', { name: 'Overview' }).waitFor()
    await visit(theirs, '/services')
    await theirs.getByRole('alert').filter({ hasText: 'snapshot:read' }).waitFor()
    expect(await theirs.getByText('No services yet').count()).toBe(0)
  },
  patienceMs,
)

interface AxNode {
  readonly role?: { readonly value: string }
  readonly name?: { readonly value: string }
  readonly properties?: readonly { readonly name: string; readonly value: { value: unknown } }[]
}

test(
  'a reader of screens is told where it is, how long a list is, and what has happened',
  async () => {
    const { page } = await signedIn(world.admin)
    const tools = await page.context().newCDPSession(page)
    const focused = async (): Promise<string> => {
      const { nodes } = await tools.send('Accessibility.getFullAXTree')
      const has = ({ role, properties = [] }: AxNode): boolean =>
        role?.value !== 'RootWebArea' &&
        properties.some(({ name, value }) => name === 'focused' && value.value === true)
      const node = (nodes as readonly AxNode[]).find(has)
      return `${node?.role?.value} ${node?.name?.value}`
    }
    const titles: string[] = []
    for (const path of (await pathsInNavigation(page)).slice(1)) {
      await visit(page, path)
      const title = await page.locator('main h1').innerText()
      await expect.poll(() => page.title(), { message: path }).toBe(`${title} · gslbd`)
      expect([path, await focused()]).toEqual([path, `main ${title}`])
      titles.push(title)
    }
    expect(new Set(titles).size).toBe(titles.length)

    await visit(page, '/audit')
    const table = page.locator('main table')
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('201')
    const indexes = await table
      .locator('tr[aria-rowindex]')
      .evaluateAll((all) =>
        all.map((one) => Number((one as unknown as { ariaRowIndex: string }).ariaRowIndex)),
      )
    expect(indexes).toEqual(indexes.map((_, i) => i + 1))

    await page
      .getByRole('status')
      .filter({ hasText: /^live$/ })
      .waitFor()
    const happened = page.getByRole('status', { name: 'What has happened' })
    expect(await happened.innerText()).toBe('')
    await visit(page, '/pools')
    await button(page, 'New pool').click()
    await page.getByLabel(/^Name/).first().fill('told')
    await button(page, 'Review the change').click()
    await button(page, 'Commit').click()
    await happened.filter({ hasText: 'Done: New pool.' }).waitFor()
  },
  patienceMs,
)

test(
  'the audit screen shows both ends of a million calls, and holds a few thousand',
  async () => {
    const { page, faults, requests } = await signedIn(world.admin)
    const status = page.getByRole('main').getByRole('status')
    const row = `document.querySelector('main tbody tr code') !== null`
    const auditMs = await shownIn(page, `location.hash = '#/audit'`, row)
    await status.filter({ hasText: /^200 calls/ }).waitFor()
    const box = page.getByRole('group', { name: 'Audit' })
    const older = button(page, 'Begin with the older ones')
    const lastRow = page.locator('main tbody tr[aria-rowindex]').last()
    const toTheEnd = async (): Promise<string | null> => {
      await box.evaluate('document.querySelector(".table-box").scrollTop = 1e9')
      return lastRow.getAttribute('aria-rowindex')
    }
    await expect.poll(toTheEnd).toBe('5001')
    await older.waitFor()
    expect(requests.filter((url) => url.includes('/api/v1/audit?'))).toHaveLength(25)
    expect(await status.innerText()).toMatch(/^5,000 calls/)
    expect(await page.locator('main tbody tr').count()).toBeLessThan(100)
    expect(await lookAt(page, 'audit-million')).toEqual([])
    expect(await lookAtNarrow(page, 'audit-million')).toEqual([])
    await expect.poll(toTheEnd).toBe('5001')
    const last = await lastRow.locator('code').first().innerText()
    await older.click()
    await status.filter({ hasText: /^200 calls/ }).waitFor()
    await page.getByText(last, { exact: true }).waitFor()
    await page.goBack()
    await status.filter({ hasText: /^200 calls/ }).waitFor()

    await visit(page, '/git')
    await page.getByRole('heading', { name: 'Git' }).waitFor()
    const far = `location.hash = '#/audit?to=${atOf(101)}'`
    const auditFarMs = await shownIn(page, far, row)
    await page.getByText('POST /pools/100', { exact: true }).waitFor()
    await status.filter({ hasText: /^100 calls/ }).waitFor()
    noteFigures({ auditMs, auditFarMs })
    // A busy machine is given ten times what a machine at rest needs.
    expect(Math.max(auditMs, auditFarMs)).toBeLessThan(10_000)
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'a filter that finds nothing says so',
  async () => {
    const { page } = await signedIn(world.admin)
    await visit(page, `/audit?method=POST&from=${Date.now() - 60_000}`)
    await page.getByText('POST /auth/login').first().waitFor()
    await page.getByLabel('Last four characters of the key').fill('none')
    await page.getByText('No call is like this').waitFor()
    await expect.poll(() => page.url()).toContain('actor=none')
  },
  patienceMs,
)

test(
  'the words of a search are in the address at a pause, and before a click leads away',
  async () => {
    const { page } = await openPage()
    await feedMany(page, 200)
    await signIn(page, world.admin)
    await visit(page, '/pools')
    const search = page.getByRole('searchbox')
    await search.fill('shop-00001')
    await expect.poll(() => page.url()).toMatch(/#\/pools\?q=shop-00001$/)
    await search.fill('shop-00002')
    // In the same task, as fast as nobody is: no pause is between the letter and the click.
    await page.evaluate(`{
      const box = document.querySelector('[data-search]')
      box.value = 'shop-0000'
      box.dispatchEvent(new Event('input', { bubbles: true }))
      document.querySelector('main tbody a').click()
    }`)
    await page.getByRole('heading', { name: 'shop-00002' }).waitFor()
    await page.goBack()
    await expect.poll(() => search.inputValue()).toBe('shop-0000')
    await page.getByRole('status').filter({ hasText: '10 pools' }).waitFor()
  },
  patienceMs,
)

const answersOfNodes = [
  ['nothing', (route) => route.abort(), 'the node does not answer'],
  ['500 without a reason', (route) => route.fulfill({ status: 500 }), 'the node answered 500'],
  [
    'a page of a proxy',
    (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Welcome</h1>' }),
    'a page of HTML came in place of data',
  ],
  [
    '503 that does not end',
    (route) =>
      route.fulfill({
        ...{ status: 503, contentType: 'application/json', headers: { 'retry-after': '0' } },
        body: '{"error":"the configuration is being read"}',
      }),
    'the configuration is being read',
  ],
  [
    'JSON that is cut',
    (route) => route.fulfill({ status: 502, contentType: 'application/json', body: '{"error' }),
    'the node answered 502',
  ],
] as const satisfies readonly (readonly [string, (route: Route) => Promise<void>, string])[]

/** What they show is known already, or they ask when somebody does. */
const silent = new Set(['/services', '/pools', '/trace', '/account'])
const sayMs = 60_000

test(
  'each screen reports any fault of a node in words, and recovers',
  async () => {
    const { page, faults } = await signedIn(world.admin)
    const items = [`/pools/${world.pool}`, `/services/${world.service}`, `/members/${world.member}`]
    const more = ['/account', '/zones/example.com.', '/r/records/none', '/changes/HEAD']
    const paths = [...(await pathsInNavigation(page)), ...items, ...more]
    const found: string[] = []
    for (const path of paths) {
      for (const [kind, answer, words] of answersOfNodes) {
        await page.route(/\/api\/v1\/|\/metrics$/, answer)
        // Else the screen that is there would stay, with what it knows.
        await visit(page, '/nowhere')
        await page.getByRole('heading', { name: 'No such screen' }).waitFor()
        await visit(page, path)
        await page.locator('main h1').waitFor()
        const told = page.locator('main').getByRole('alert').filter({ hasText: words })
        if (!silent.has(path)) {
          await told
            .first()
            .waitFor({ timeout: sayMs })
            .catch(() => found.push(`${path}, ${kind}`))
        }
        await page.unrouteAll({ behavior: 'wait' })
        const again = told.getByRole('button', { name: 'Try again' })
        // What asks again by itself may have taken the button away.
        await again.evaluateAll((all) => {
          for (const one of all) (one as unknown as { click: () => void }).click()
        })
        await expect.poll(() => told.count(), { message: `${path}, ${kind}` }).toBe(0)
      }
    }
    expect(found).toEqual([])
    expect(faults.filter((fault) => !/^Failed to load resource/.test(fault))).toEqual([])
  },
  patienceMs,
)
