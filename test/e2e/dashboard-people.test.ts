// The dashboard in a real browser as people use it: by keyboard, far away, in a hurry, for years.
import { execFileSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { button, unexpected, useDashboard } from '#test/support/dashboard-node.ts'
import { pathsInNavigation, pictureOf, storeExtremes } from '#test/support/dashboard-scene.ts'
import type { Named } from '#test/support/dashboard-scene.ts'
import { feedMany } from '#test/support/many-pools.ts'
import { lookAt, lookAtNarrow } from '#test/support/screens.ts'

const patienceMs = 600_000
const admin = { email: 'ann@example.com', password: 'correct horse battery' }
const node = useDashboard(() => ({ auth: { bcryptCost: 10 } }))
const { call, openPage, signIn, signedIn, visit } = node
const ids = { pool: '', service: '' }

const made = async (path: string, body: object): Promise<string> => {
  const answer = await call<Named & { readonly error?: string }>('POST', path, body)
  expect([answer.status, answer.body.error]).toEqual([201, undefined])
  return answer.body.id
}

beforeAll(async () => {
  await made('/auth/setup', admin)
  const nameservers = [{ name: 'ns1.example.com.', addresses: ['192.0.2.53'] }]
  const soa = { mname: 'ns1.example.com.', rname: 'hostmaster.example.com.' }
  const zones = [{ name: 'example.com.', nameservers, soa }]
  expect((await call('PUT', '/settings', { zones })).status).toBe(200)
  ids.pool = await made('/pools', { name: 'web' })
  await made(`/pools/${ids.pool}/members`, { ipAddress: '192.0.2.1', port: 80, region: 'DE' })
  const service = { name: 'www', domain: 'www.example.com.', poolId: ids.pool, ttl: 60 }
  ids.service = await made('/services', service)
})

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `(document.activeElement.labels?.[0] ?? document.activeElement).innerText.trim()`,
  )

/** As somebody without a mouse. */
async function tabTo(page: Page, words: RegExp): Promise<void> {
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press('Tab')
    if (words.test(await focused(page))) return
  }
  throw new Error(`no Tab leads to ${words}`)
}

test(
  'the keyboard alone signs in, makes a pool and signs out',
  async () => {
    const { page, faults } = await openPage()
    await page.goto(`${node.origin}/ui/`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expect.poll(() => focused(page)).toMatch(/^E-mail/)
    await page.keyboard.type(admin.email)
    await tabTo(page, /^Password/)
    await page.keyboard.type(admin.password)
    await page.keyboard.press('Enter')
    await page.getByText('live', { exact: true }).waitFor()
    await page.keyboard.press('Control+k')
    await page.locator('input[role=combobox]:focus').waitFor()
    await page.keyboard.type('pools')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Pools' }).waitFor()
    await tabTo(page, /^New pool$/)
    await page.keyboard.press('Enter')
    await page.locator('dialog[open]').waitFor()
    await expect.poll(() => focused(page)).toMatch(/^Name/)
    await page.keyboard.type('by-keyboard')
    await page.keyboard.press('Enter')
    await button(page, 'Commit').waitFor()
    await tabTo(page, /^Commit$/)
    await page.keyboard.press('Enter')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'by-keyboard' }).waitFor()
    await visit(page, '/changes')
    const change = page.getByRole('listitem').filter({ hasText: 'create Pool by-keyboard' })
    await change.filter({ hasText: admin.email }).waitFor()
    await visit(page, '/account')
    await tabTo(page, /^Log out$/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expect.poll(() => focused(page)).toMatch(/^E-mail/)
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'a log-out everywhere ends the sessions of all browsers of the account',
  async () => {
    const { page: here } = await signedIn(admin)
    const { page: there } = await signedIn(admin)
    await visit(here, '/account')
    await button(here, 'Log out everywhere').click()
    await here.getByRole('heading', { name: 'Sign in' }).waitFor()
    await visit(there, '/changes')
    await there.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    expect(await there.evaluate('fetch("/api/v1/pools").then(({ status }) => status)')).toBe(401)
  },
  patienceMs,
)

test(
  'an answer that is late leads nobody in again who has left',
  async () => {
    const { page } = await signedIn(admin)
    const held = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    await page.route('**/api/v1/auth/me', async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await held.promise
      await route.fulfill({ response })
    })
    // With each commit the page asks again what one may do.
    await made('/pools', { name: 'while-leaving' })
    await asked.promise
    await visit(page, '/account')
    await button(page, 'Log out').click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const late = page.waitForResponse('**/api/v1/auth/me')
    held.resolve()
    await (await late).finished()
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.getByRole('heading').count()).toBe(1)
  },
  patienceMs,
)

const zoned = [
  ['Asia/Tokyo', 9],
  ['America/New_York', -5],
] as const

test.each(zoned)(
  'times are those of a reader in %s, with UTC in the title',
  async (timezoneId, hours) => {
    const { page: any } = await openPage()
    const context = await any.context().browser()!.newContext({ timezoneId, locale: 'en-GB' })
    try {
      const page = await context.newPage()
      page.setDefaultTimeout(60_000)
      await signIn(page, admin)
      await visit(page, '/audit')
      const time = page.locator('main td time').first()
      await time.waitFor()
      const at = new Date((await time.getAttribute('datetime')) ?? '')
      const utc = `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
      expect(await time.getAttribute('title')).toContain(utc)
      // January to December: New York is at -4 in summer, as the browser knows.
      const offset: number = await page.evaluate(`-new Date(${+at}).getTimezoneOffset() / 60`)
      expect([hours, hours + 1]).toContain(offset)
      const there = new Date(+at + offset * 3_600_000).toISOString()
      expect(await time.innerText()).toContain(there.slice(11, 19))
    } finally {
      await context.close()
    }
  },
  patienceMs,
)

test(
  'the session is not in addresses, storage or log, nor within reach of scripts',
  async () => {
    const { page, requests } = await signedIn(admin)
    for (const path of ['/services', `/pools/${ids.pool}`, '/r/users', '/account', '/audit']) {
      await visit(page, path)
      await page.locator('main h1').waitFor()
    }
    const cookies = await page.context().cookies()
    const session = cookies.find(({ name }) => name === 'gslb_session')
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    const secrets = [session!.value, admin.password]
    const kept = await page.evaluate<string>(`JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
      performance.getEntriesByType('resource').map(({ name }) => name),
    ])`)
    const shown = await page.content()
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(10)
      for (const place of [kept, shown, requests.join('\n'), node.daemon().output]) {
        expect(place.includes(secret)).toBe(false)
      }
    }
  },
  patienceMs,
)

test(
  'a change that is copied as curl does in a shell what the form would have done',
  async () => {
    const { page } = await signedIn(admin)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const clip = () => page.evaluate<string>('navigator.clipboard.readText()')
    await visit(page, `/services/${ids.service}`)
    await button(page, 'Edit').click()
    await page.getByLabel('TTL').fill('33')
    await button(page, 'Review the change').click()
    await page.getByLabel('Why, in one line').fill(`it's slow`)
    await button(page, 'Copy as YAML').click()
    await expect.poll(clip).toMatch(/^ttl: 33$/m)
    await button(page, 'Copy as curl').click()
    await expect.poll(clip).toMatch(/^curl -s -X PATCH /)
    const text = execFileSync('sh', ['-c', await clip()], {
      env: { PATH: process.env['PATH'], GSLB_API_KEY: 'ab'.repeat(32) },
      encoding: 'utf8',
    })
    expect(JSON.parse(text)).toMatchObject({ name: 'www', ttl: 33 })
    expect(await node.daemon().answers('www.example.com. A')).toEqual([
      'www.example.com. 33 IN A 192.0.2.1',
    ])
    const [last] = (await call<{ readonly subject: string }[]>('GET', '/history')).body
    expect(last?.subject).toBe(`it's slow`)
  },
  patienceMs,
)

const label = (letter: string): string => letter.repeat(61)
/** 255 octets with the length of each label and the end: the longest that DNS has. */
const longest = `${label('a')}.${label('b')}.${label('c')}.${'d'.repeat(55)}.example.com.`

test(
  'the longest names, and those that run from right to left, fit on every screen that has them',
  async () => {
    expect(longest.length).toBe(254)
    const name = 'مجمع الخوادم'
    const pool = await made('/pools', { name })
    const member = { ipAddress: '192.0.2.7', port: 80, name: 'طرف', region: 'DE' }
    const memberId = await made(`/pools/${pool}/members`, member)
    const service = await made('/services', {
      ...{ name: `long-${'n'.repeat(58)}`, domain: longest, poolId: pool },
    })
    const record = { zone: 'example.com.', name: `e${longest.slice(1)}`, type: 'TXT', ttl: 60 }
    await made('/records', { ...record, values: [`"${'v'.repeat(255)}"`] })
    await storeExtremes(made, { longest, name, pool })
    const { page, faults } = await signedIn(admin)
    const screens = {
      'long-services': '/services',
      'long-service': `/services/${service}`,
      'long-pools': '/pools',
      'long-pool': `/pools/${pool}`,
      'long-member': `/members/${memberId}`,
      'long-zone': '/zones/example.com.',
      'long-records': '/r/records',
      'long-changes': '/changes',
      'long-trace': `/trace?name=${longest}`,
    }
    const found: string[] = []
    for (const [picture, path] of Object.entries(screens)) {
      await visit(page, path)
      await page.locator('main h1').waitFor()
      await expect.poll(() => page.locator('main .loading').count()).toBe(0)
      found.push(...(await lookAt(page, picture)), ...(await lookAtNarrow(page, picture)))
    }
    for (const path of await pathsInNavigation(page)) {
      await visit(page, path)
      await page.locator('main h1').waitFor()
      await expect.poll(() => page.locator('main .loading').count()).toBe(0)
      found.push(...(await lookAtNarrow(page, `long${pictureOf(path)}`)))
    }
    expect(found).toEqual([])
    await visit(page, '/services')
    await page.getByRole('row', { name: /^a{61}.*1 not probed/ }).waitFor()
    await page.getByRole('link', { name: longest }).click()
    await page.getByRole('heading', { name: longest }).waitFor()
    await page.getByRole('link', { name }).waitFor()
    await visit(page, '/trace')
    await page.getByLabel('Name').fill(longest)
    await button(page, 'Trace').click()
    await page.getByText('IN A 192.0.2.7').waitFor()
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'rows do not move while the pointer is over them, and their numbers go on',
  async () => {
    const { page } = await openPage()
    await feedMany(page, 50)
    await signIn(page, admin)
    // Three of the fifty pools have a fault.
    await page.evaluate('changeHealth(6)')
    await visit(page, '/pools?only=with+a+fault')
    const names = () => page.locator('main tbody tr a').allInnerTexts()
    const three = ['shop-00000', 'shop-00001', 'shop-00002']
    await expect.poll(names).toEqual(three)
    const second = page.getByRole('link', { name: 'shop-00001' })
    await second.hover()
    const before = await second.boundingBox()
    await page.evaluate('changeHealth(94); changeHealth(2)')
    await page.getByText('48 rows to update when the pointer leaves').waitFor()
    expect(await names()).toEqual(three)
    expect(await second.boundingBox()).toEqual(before)
    await page.getByRole('row', { name: /^shop-00000 2 up/ }).waitFor()
    await page.getByRole('heading', { name: 'Pools' }).hover()
    await expect.poll(async () => (await names()).length).toBe(49)
    expect((await names())[0]).toBe('shop-00001')
  },
  patienceMs,
)

test(
  'a form knows members by their addresses, and one Escape loses nothing of it',
  async () => {
    const { page, faults } = await signedIn(admin)
    await visit(page, '/r/maintenance-windows')
    await button(page, 'New').click()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await button(page, 'New').click()
    const field = page.locator('dialog').getByLabel('Resource required')
    await field.fill('192.0.2.1')
    const option = page.locator('dialog datalist option').first()
    expect(await option.textContent()).toBe('192.0.2.1:80 of web')
    const [member] = (await call<Named[]>('GET', `/pools/${ids.pool}/members`)).body
    expect(await option.getAttribute('value')).toBe(member?.id)
    await field.fill(member?.id ?? '')
    await page.getByText('192.0.2.1:80 of web', { exact: true }).last().waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Escape once more drops what you have written.').waitFor()
    expect(await field.inputValue()).toBe(member?.id)
    expect(await lookAt(page, 'window-form')).toEqual([])
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })

    await visit(page, '/r/rollouts')
    await button(page, 'New').click()
    await button(page, 'Add step').click()
    await page.getByLabel('Weight pct of step 1').waitFor()
    expect(await lookAt(page, 'rollout-row')).toEqual([])
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

const oddAddresses = [
  ['/services/%E0%A4%A', 'there is no such service'],
  ['/pools?only=__proto__', 'web'],
  ['/pools?only=constructor', 'web'],
  ['/services?q=%5B(*%2B', 'No service has these words'],
  ['/pools?only=with+a+fault&q=zzz', 'No pool with these words under “with a fault”'],
  ['/timeline?range=__proto__', 'Events'],
  ['/audit?from=abc&to=9e99', 'Audit'],
  ['/audit?from=9e99', 'Audit'],
  ['/trace?name=%F0%9F%92%A9', 'Trace'],
  ['/changes/%00', 'there is no such commit'],
  ['/zones/nope.', 'There is no such zone'],
  ['/r/records/zzz', 'there is no such record'],
  ['/r/__proto__', "This node's API has no such resource"],
  ['//', 'There is nothing at //'],
] as const

test(
  'no address breaks a screen, and what breaks one leaves the others whole',
  async () => {
    const { page, faults } = await signedIn(admin)
    for (const [path, words] of oddAddresses) {
      await visit(page, path)
      await page.locator('main').getByText(words).first().waitFor()
      expect([path, await page.getByText('This screen has failed').count()]).toEqual([path, 0])
    }
    await visit(page, '/r/records/zzz')
    await page.getByRole('alert').waitFor()
    expect(await page.locator('main').getByRole('button', { name: 'Delete' }).count()).toBe(0)
    expect(faults.filter((fault) => !/status of 40[014]/.test(fault))).toEqual([])

    await page.route('**/api/v1/rum/status', (route) => route.fulfill({ json: 'a surprise' }))
    await visit(page, '/coverage')
    await page.getByRole('heading', { name: 'This screen has failed' }).waitFor()
    await page.getByRole('alert').filter({ hasText: 'Nothing was changed.' }).waitFor()
    await visit(page, '/pools')
    await page.getByRole('link', { name: 'web' }).waitFor()
    await visit(page, '/coverage')
    await page.getByRole('heading', { name: 'This screen has failed' }).waitFor()
    await page.unroute('**/api/v1/rum/status')
    await button(page, 'Try again').click()
    await page.getByRole('heading', { name: 'User measurement' }).waitFor()
  },
  patienceMs,
)

test(
  'a member is disabled and enabled again, and a change is taken back, with a look at DNS',
  async () => {
    const { page, faults } = await signedIn(admin)
    const answers = () => node.daemon().answers('www.example.com. A')
    const commit = async (): Promise<void> => {
      await button(page, 'Review the change').click()
      await button(page, 'Commit').click()
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    await visit(page, `/pools/${ids.pool}`)
    await button(page, 'Disable 192.0.2.1').click()
    await commit()
    await page.getByText('disabled', { exact: true }).first().waitFor()
    await expect.poll(answers).toEqual(['NOERROR'])
    await button(page, 'Enable 192.0.2.1').click()
    await commit()
    // Without the address there is one line, too: that of the response code.
    await expect.poll(async () => (await answers())[0]).toMatch(/ A 192\.0\.2\.1$/)

    const before = await answers()
    await call('PATCH', `/services/${ids.service}`, { ttl: 44 })
    await expect.poll(answers).toEqual(['www.example.com. 44 IN A 192.0.2.1'])
    await visit(page, '/changes')
    await page
      .getByRole('link', { name: /update Service www/ })
      .first()
      .click()
    await page.getByRole('row', { name: /TTL/ }).filter({ hasText: '44' }).waitFor()
    await button(page, 'Take it back').click()
    const dialog = page.getByRole('dialog', { name: 'Take this change back?' })
    await dialog.getByRole('button', { name: 'Take it back' }).click()
    await page.getByRole('heading', { name: 'Changes' }).waitFor()
    await expect.poll(answers).toEqual(before)
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'a trace of another time knows the windows of that time',
  async () => {
    const [member] = (await call<Named[]>('GET', `/pools/${ids.pool}/members`)).body
    const dayMs = 86_400_000
    const inDays = (days: number): Date => new Date(Date.now() + days * dayMs)
    await made('/maintenance-windows', {
      ...{ resourceType: 'member', resourceId: member?.id },
      ...{ startAt: inDays(2).toISOString(), endAt: inDays(4).toISOString() },
    })
    const { page } = await signedIn(admin)
    await visit(page, '/trace?name=www.example.com.')
    await button(page, 'Trace').click()
    await page.getByText('Candidates: 1').waitFor()
    const local = await page.evaluate<string>(
      `new Date(${+inDays(3)} - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16)`,
    )
    await page.getByLabel('When; empty: now').fill(local)
    await button(page, 'Trace').click()
    await page.getByText('Candidates: none').waitFor()
    await page.getByText('No records.').waitFor()
  },
  patienceMs,
)
