// The dashboard in a real browser where something does not go well: a connection that breaks, hangs
// or loses an answer, somebody who edits the same, a message that does not arrive.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { button, useDashboard } from '#test/support/dashboard-node.ts'
import type { Named } from '#test/support/dashboard-scene.ts'
import { startPassage } from '#test/support/tcp-passage.ts'
import type { TcpPassage } from '#test/support/tcp-passage.ts'

const patienceMs = 600_000
const admin = { email: 'ann@example.com', password: 'correct horse battery' }
const node = useDashboard(() => ({ auth: { bcryptCost: 10 } }))
const { call, signedIn, visit } = node

const made = async (path: string, body: object): Promise<string> => {
  const answer = await call<Named & { readonly error?: string }>('POST', path, body)
  expect([answer.status, answer.body.error]).toEqual([201, undefined])
  return answer.body.id
}

let passage: TcpPassage
beforeAll(async () => {
  await made('/auth/setup', admin)
  passage = await startPassage(() => node.daemon().apiPort)
  node.origin = `http://127.0.0.1:${passage.port}`
})
afterAll(() => passage.stop())

const lost = (page: Page) => page.getByText('The connection to the node is lost')
const mark = `globalThis.sameDocument ??= Math.random()`

test.each([
  ['is shut', 'shut', false],
  ['is mute', 'mute', false],
  ['is mute while the clock goes back', 'mute', true],
] as const)(
  'a page whose connection %s comes back by itself with all that happened meanwhile',
  async (what, how, isSetBack) => {
    const [before, other, after] = [`web ${what}`, `made ${what}`, `renamed ${what}`] as const
    const pool = await made('/pools', { name: before })
    const { page } = await signedIn(admin)
    await page.clock.install()
    await page.reload()
    await visit(page, '/pools')
    await page.getByRole('link', { name: before, exact: true }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    const loaded = await page.evaluate<number>(mark)
    if (isSetBack) await page.clock.setSystemTime(Date.now() - 3_600_000)
    passage.state = how
    if (how === 'shut') passage.cut()
    // Nobody tells a browser that the other end is gone: only its silence does.
    else await page.clock.runFor(40_000)
    await lost(page).waitFor()
    await made('/pools', { name: other })
    await call('PATCH', `/pools/${pool}`, { name: after })
    passage.state = 'open'
    passage.cut()
    await page.clock.runFor(20_000)
    await page.getByRole('link', { name: other }).waitFor()
    await page.getByRole('link', { name: after }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await lost(page).waitFor({ state: 'detached' })
    expect(await page.evaluate<number>(mark)).toBe(loaded)
  },
  patienceMs,
)

const review = async (page: Page, field: string, value: string): Promise<void> => {
  await page.getByLabel(field, { exact: true }).fill(value)
  await button(page, 'Review the change').click()
  await button(page, 'Commit').waitFor()
}

test(
  'two people edit other fields of one service at once, and both edits are there',
  async () => {
    const poolId = await made('/pools', { name: 'shared' })
    const id = await made('/services', { name: 'www', domain: 'www.example.com.', poolId, ttl: 60 })
    const { page: ann } = await signedIn(admin)
    const { page: bob } = await signedIn(admin)
    for (const page of [ann, bob]) {
      await visit(page, `/services/${id}`)
      await button(page, 'Edit').click()
    }
    await review(ann, 'TTL', '7')
    await review(bob, 'Name', 'www-of-bob')
    await button(ann, 'Commit').click()
    await ann.locator('dialog').waitFor({ state: 'detached' })
    await button(bob, 'Commit').click()
    await bob.getByText('Somebody changed this').waitFor()
    await bob.getByText('They changed: TTL.').waitFor()
    // His form still has the old one, and he did not touch it.
    expect(await bob.getByRole('row', { name: /TTL/ }).count()).toBe(0)
    await button(bob, 'Go on with mine').click()
    await button(bob, 'Review the change').click()
    expect(await bob.getByRole('row', { name: /TTL/ }).count()).toBe(0)
    await button(bob, 'Commit').click()
    await bob.locator('dialog').waitFor({ state: 'detached' })
    const { body } = await call<{ name: string; ttl: number }>('GET', `/services/${id}`)
    expect(body).toMatchObject({ name: 'www-of-bob', ttl: 7 })
  },
  patienceMs,
)

test(
  'a member that somebody adds to a pool meanwhile is no other version of its fields',
  async () => {
    const id = await made('/pools', { name: 'grown' })
    const { page } = await signedIn(admin)
    await visit(page, `/pools/${id}`)
    await button(page, 'Edit').click()
    await review(page, 'Name', 'grown-renamed')
    await made(`/pools/${id}/members`, { ipAddress: '192.0.2.7', port: 80 })
    await button(page, 'Commit').click()
    await page.getByText('They changed none of these fields').waitFor()
    await button(page, 'Go on with mine').click()
    await button(page, 'Review the change').click()
    await button(page, 'Commit').click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    const { body } = await call<{ readonly name: string }>('GET', `/pools/${id}`)
    expect(body.name).toBe('grown-renamed')
  },
  patienceMs,
)

test(
  'a commit whose answer is lost is not called undone, and is not made twice',
  async () => {
    const id = await made('/pools', { name: 'late' })
    const { page } = await signedIn(admin)
    await visit(page, `/pools/${id}`)
    await button(page, 'Edit').click()
    await review(page, 'Name', 'late-renamed')
    await page.route(
      `**/api/v1/pools/${id}`,
      async (route) => {
        await route.fetch()
        await route.abort('connectionreset')
      },
      { times: 1 },
    )
    await button(page, 'Commit').click()
    await page.getByText('it is not known whether it has done this').waitFor()
    await button(page, 'Commit').click()
    await page.getByText('It is as you want it already.').waitFor()
    const { body } = await call<readonly { readonly subject: string }[]>('GET', '/history')
    expect(body.filter(({ subject }) => subject.includes('late-renamed'))).toHaveLength(1)
  },
  patienceMs,
)

test(
  'a test of a channel says that it was not delivered, and why',
  async () => {
    const settings = { url: 'https://127.0.0.1:9/hook' }
    const id = await made('/alerts', { name: 'on-call', kind: 'webhook', settings })
    const { page } = await signedIn(admin)
    await visit(page, `/r/alerts/${id}`)
    await button(page, 'Test').click()
    await page.getByRole('dialog', { name: 'Test?' }).getByRole('button', { name: 'Test' }).click()
    const dialog = page.getByRole('dialog', { name: 'It was not delivered' })
    await dialog.getByText('internal address').waitFor()
    await button(page, 'Close').last().click()
    await page.locator('dialog').waitFor({ state: 'detached' })
  },
  patienceMs,
)
