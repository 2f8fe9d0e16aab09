// The page of the reference in a real browser, from a real node, under its own policy.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '#api/routes.ts'
import { useBrowser } from '#test/support/chromium.ts'
import type { Visited } from '#test/support/chromium.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const { start } = useDaemons()
/** Seconds on a machine at rest. */
const stepMs = 60_000
const patienceMs = 240_000

const openPage = useBrowser(stepMs)

const home = makeTempDir('reference')
let origin: string
beforeAll(async () => {
  const file = join(home, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  const api = { enabled: true, port: 0 }
  writeFileSync(file, JSON.stringify({ dataDir: './data', dns, api }))
  const { apiPort } = await start('serve', '--settings', file)
  origin = `http://127.0.0.1:${apiPort}`
})
afterAll(() => removeTempDir(home))

async function openReference(): Promise<Visited> {
  const visited = await openPage()
  await visited.page.goto(`${origin}/api/v1/docs`)
  await visited.page.locator('.opblock').first().waitFor()
  return visited
}

/** In this order, whatever lies between them. */
const inOrder = (...words: string[]): RegExp => new RegExp(words.join('[^]*'))

/** The page holds only the routes in view: half a window further, and after the end the top. */
const idsAndScroll = `
  scrollY + innerHeight + 1 < document.body.scrollHeight
    ? scrollBy(0, innerHeight / 2)
    : scrollTo(0, 0);
  Array.from(document.querySelectorAll('.opblock'), ({ id }) => id)`

test(
  'the reference has each route with types, limits, defaults and curl, and asks no other host',
  async () => {
    const { page, requests, faults } = await openReference()
    const seen = new Set<string>()
    const look = async (): Promise<number> => {
      for (const id of await page.evaluate<string[]>(idsAndScroll)) seen.add(id)
      return seen.size
    }
    await expect.poll(look).toBe(routes.length)

    await page.locator('.operation-filter-input').fill('POST /api/v1/services')
    const create = page.locator('#operations-Services-postServices')
    await create.locator('.opblock-summary-control').click()
    const body = create.locator('.opblock-section-request-body')
    await body.locator('.json-schema-2020-12').first().waitFor()
    const fields = await body.innerText()
    expect(fields).toMatch(inOrder('name', 'string', '\\[1, 255\\] characters'))
    expect(fields).toMatch(inOrder('algorithm', 'Enum', '"weighted-round-robin"', 'Default'))
    expect(fields).toMatch(inOrder('ttl', 'integer', '\\[0, 2147483647\\]', 'Default', '60'))
    const description = create.locator('.opblock-description')
    expect(await description.locator('p code').allInnerTexts()).toEqual(['service:write'])
    const sample = await description.locator('pre').innerText()
    expect(sample).toContain(`curl -s -X POST ${origin}/api/v1/services`)
    expect(sample).toContain(`-d '{"name":"web","domain":"shop.example.com."}'`)
    expect(await create.locator('a[href*=".md"]').count()).toBe(0)

    expect(requests.filter((url) => !url.startsWith(`${origin}/`))).toEqual([])
    expect(faults).toEqual([])
  },
  patienceMs,
)

test(
  'the reference is searched by the words of a route, and a route is tried in it',
  async () => {
    const { page, faults, requests } = await openReference()
    const search = page.locator('.operation-filter-input')
    expect(await search.getAttribute('placeholder')).toContain('Search')
    await search.fill('HEALTH check tlsSkip')
    await search.fill('first account')
    const found = page.locator('.opblock')
    const setup = expect.stringContaining('/auth/setup') as string
    await expect.poll(() => found.allInnerTexts()).toContainEqual(setup)
    expect(await page.locator('.opblock-tag').count()).toBeLessThan(10)
    await search.fill('no route has these words')
    await expect.poll(() => found.count(), { timeout: stepMs }).toBe(0)

    await search.fill('/api/v1/auth/config')
    await expect.poll(() => found.count(), { timeout: stepMs }).toBe(1)
    await found.locator('.opblock-summary-control').click()
    await found.getByRole('button', { name: 'Try it out' }).click()
    await found.getByRole('button', { name: 'Execute' }).click()
    const answer = found.locator('.live-responses-table')
    await answer.waitFor()
    expect(await answer.innerText()).toMatch(inOrder('200', '"oidcEnabled": false'))
    expect(await found.locator('.request-snippets, .curl').first().innerText()).toContain('curl')
    expect(requests).toContain(`${origin}/api/v1/auth/config`)
    expect(faults).toEqual([])
  },
  patienceMs,
)
