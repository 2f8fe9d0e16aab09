// Every screen of the dashboard in a real browser, of a node that has something of each kind.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTcpBackend } from '#test/support/backend.ts'
import type { Backend } from '#test/support/backend.ts'
import { unexpected, useDashboard } from '#test/support/dashboard-node.ts'
import { pathsInNavigation, pictureOf } from '#test/support/dashboard-scene.ts'
import { fillDatabase, fillNode } from '#test/support/dashboard-world.ts'
import type { World } from '#test/support/dashboard-world.ts'
import { vendor } from '#test/support/licences.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { feedMany } from '#test/support/many-pools.ts'
import { lookAt, lookAtNarrow } from '#test/support/screens.ts'

const patienceMs = 600_000
const calls = 1_000
let backend: Backend
let world: World
const node = useDashboard(async () => {
  await fillDatabase(join(node.home, 'data'), calls)
  const dbPath = join(node.home, 'country.mmdb')
  const inGermany = ['10.2.0.0/16', { country: { iso_code: 'DE' } }] as const
  writeFileSync(dbPath, writeMmdb({ type: 'Test-Country', networks: [inGermany] }))
  const publicKey = vendor.publicKey.export({ type: 'spki', format: 'pem' })
  return { auth: { bcryptCost: 10 }, geoip: { dbPath }, license: { publicKey } }
})
const { openPage, signIn, signedIn, visit } = node
/** Nothing is asked, nothing is announced; the check of a domain would leave this machine. */
const empty = new Set(['/trace', '/r/bgp', '/r/domains'])

beforeAll(async () => {
  backend = await startTcpBackend()
  world = await fillNode(node, backend)
})
afterAll(() => backend.close())

test(
  'every screen with what it shows, in both themes, on a desk and on a phone',
  async () => {
    const { page, faults } = await signedIn(world.admin)
    const items = [`/pools/${world.pool}`, `/services/${world.service}`, `/members/${world.member}`]
    const paths = [...(await pathsInNavigation(page)), ...items]
    const found: string[] = []
    for (const path of paths) {
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
