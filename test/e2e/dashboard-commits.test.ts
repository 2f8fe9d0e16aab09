// The dashboard in a real browser: edits that become one commit, and what two people do at once.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { button, unexpected, useDashboard } from '#test/support/dashboard-node.ts'
import { pathsInNavigation } from '#test/support/dashboard-scene.ts'
import type { Named } from '#test/support/dashboard-scene.ts'
import { clientId, clientSecret, startIdentityProvider } from '#test/support/identity-provider.ts'
import type { IdentityProvider } from '#test/support/identity-provider.ts'
import { token, vendor } from '#test/support/licences.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { lookAt, lookAtNarrow } from '#test/support/screens.ts'

const patienceMs = 600_000
const admin = { email: 'ann@example.com', password: 'correct horse battery' }
/** What the identity provider knows before the node has its port. */
const door = createServer((browser) => {
  const inside = connect(node.daemon().apiPort, '127.0.0.1')
  for (const [from, to] of [
    [browser, inside],
    [inside, browser],
  ] as const) {
    from.pipe(to)
    from.on('error', () => to.destroy())
  }
})
let provider: IdentityProvider
afterAll(async () => {
  door.close()
  await provider.stop()
})
const node = useDashboard(async () => {
  await once(door.listen(0, '127.0.0.1'), 'listening')
  const redirectUri = `${doorAddress()}/api/v1/auth/oidc/callback`
  provider = await startIdentityProvider(redirectUri)
  const dbPath = join(node.home, 'country.mmdb')
  const inGermany = ['10.2.0.0/16', { country: { iso_code: 'DE' } }] as const
  writeFileSync(dbPath, writeMmdb({ type: 'Test-Country', networks: [inGermany] }))
  const oidc = { enabled: true, discoveryUrl: provider.issuer, clientId, clientSecret, redirectUri }
  const publicKey = vendor.publicKey.export({ type: 'spki', format: 'pem' })
  return { auth: { bcryptCost: 10, oidc }, geoip: { dbPath }, license: { publicKey } }
})
const doorAddress = () => `http://127.0.0.1:${(door.address() as AddressInfo).port}`
const { call, signedIn, visit } = node
const ids = { pool: '', spare: '', service: '' }

const made = async (path: string, body: object): Promise<string> => {
  const answer = await call<Named & { readonly error?: string }>('POST', path, body)
  expect([answer.status, answer.body.error]).toEqual([201, undefined])
  return answer.body.id
}

beforeAll(async () => {
  await made('/auth/setup', admin)
  ids.pool = await made('/pools', { name: 'web' })
  ids.spare = await made('/pools', { name: 'spare' })
  const members = `/pools/${ids.pool}/members`
  await made(members, { ipAddress: '192.0.2.1', port: 80, region: 'DE' })
  await made(members, { ipAddress: '192.0.2.2', port: 80, region: 'US' })
  const service = { name: 'www', domain: 'www.example.com.', poolId: ids.pool, ttl: 60 }
  ids.service = await made('/services', { ...service, filterChain: ['failover'] })
})

/** A client subnet (RFC 7871) of the test's database: 10.2.3.0/24. */
const german = Buffer.from([0, 1, 24, 0, 10, 2, 3])

interface Regions {
  readonly hasDatabase: boolean
  readonly countries: readonly { readonly country: string }[]
}

/** As DNS says it. */
const ttl = async (): Promise<number> => {
  const [answer = ''] = await node.daemon().answers('www.example.com. A')
  return Number(answer.split(' ')[1])
}

const commits = async (): Promise<number> => (await call<Named[]>('GET', '/history')).body.length

test(
  'several edits are collected, reviewed together, and made in one commit with its subject',
  async () => {
    const { page, faults } = await signedIn(admin)
    const before = await commits()
    await visit(page, `/services/${ids.service}`)
    await button(page, 'Edit').click()
    await page.getByLabel('TTL').fill('7')
    await button(page, 'Review the change').click()
    await button(page, 'Add to a commit').click()
    await page.locator('dialog').waitFor({ state: 'detached' })

    await visit(page, `/pools/${ids.pool}`)
    await button(page, 'Edit 192.0.2.1').click()
    await page.getByLabel('Weight', { exact: true }).fill('30')
    await button(page, 'Review the change').click()
    await button(page, 'Add to a commit').click()
    await visit(page, `/pools/${ids.spare}`)
    await button(page, 'Delete').click()
    await button(page, 'Add to a commit').click()
    expect(await commits()).toBe(before)

    // The form of an edit that waits goes on where it was.
    await visit(page, `/services/${ids.service}`)
    await button(page, 'Edit').click()
    expect(await page.getByLabel('TTL').inputValue()).toBe('7')
    await page.getByLabel('TTL').fill('8')
    await button(page, 'Review the change').click()
    await button(page, 'Replace in the commit').click()

    await button(page, '3 edits to commit').click()
    const list = page.getByRole('dialog', { name: 'One commit' }).getByRole('listitem')
    await expect.poll(() => list.count()).toBe(3)
    await page.getByText('Effect of all:').waitFor()
    await button(page, 'Which answers change?').click()
    await page
      .getByRole('row', { name: /www\.example\.com\. A / })
      .first()
      .waitFor()
    await page.getByLabel('Why, in one line').fill('größer: the move')
    expect(await lookAt(page, 'commit-of-several')).toEqual([])
    expect(await lookAtNarrow(page, 'commit-of-several')).toEqual([])
    await button(page, 'Commit 3 edits').click()
    await page.getByRole('link', { name: /^commit / }).click()
    await page.getByRole('heading', { name: 'größer: the move' }).waitFor()
    expect(await page.getByRole('button', { name: /to commit/ }).count()).toBe(0)
    expect(await commits()).toBe(before + 1)
    expect(await ttl()).toBe(8)
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'an edit that waits meets the edit of somebody else, and what is gone is dropped',
  async () => {
    const spare = await made('/pools', { name: 'short-lived' })
    const { page } = await signedIn(admin)
    const collectEdit = async (path: string, label: RegExp, value: string): Promise<void> => {
      await visit(page, path)
      await button(page, 'Edit').click()
      await page.getByLabel(label).first().fill(value)
      await button(page, 'Review the change').click()
      await button(page, 'Add to a commit').click()
    }
    await collectEdit(`/services/${ids.service}`, /^TTL/, '17')
    await collectEdit(`/pools/${spare}`, /^Name/, 'longer')
    const { body } = await call<{ readonly ttl: number }>('PATCH', `/services/${ids.service}`, {
      ttl: 19,
    })
    expect(body.ttl).toBe(19)
    await call('DELETE', `/pools/${spare}`)

    await button(page, '2 edits to commit').click()
    const dialog = page.getByRole('dialog', { name: 'One commit' })
    await dialog.getByText('Somebody changed this since the edit began.').waitFor()
    const row = dialog.getByRole('row', { name: /TTL/ })
    expect(await row.innerText()).toMatch(/19\s+17/)
    expect(await lookAt(page, 'commit-overrun')).toEqual([])
    await dialog.getByText('Somebody has deleted this since. Drop the edit.').waitFor()
    await button(page, 'Drop: Edit short-lived').click()
    await button(page, 'Go on with mine').click()
    await button(page, 'Commit 1 edit').click()
    await page.getByRole('link', { name: /^commit / }).waitFor()
    await button(page, 'Close').last().click()
    expect(await ttl()).toBe(17)
    // Another account begins without what this one has collected.
    await collectEdit(`/services/${ids.service}`, /^TTL/, '18')
    await visit(page, '/account')
    await button(page, 'Log out').click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByLabel('E-mail').fill(admin.email)
    await page.getByLabel('Password').fill(admin.password)
    await button(page, 'Sign in').click()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    expect(await page.getByRole('button', { name: /to commit/ }).count()).toBe(0)
  },
  patienceMs,
)

test(
  'a trace has the answers of two commits side by side, and its client by a click on the map',
  async () => {
    const { page, faults } = await signedIn(admin)
    await visit(page, '/changes')
    const made = page.getByRole('link', { name: 'größer: the move' })
    await made.click()
    await page.getByRole('link', { name: 'Trace before and after' }).click()
    await page.getByLabel('Name').fill('www.example.com')
    await button(page, 'Trace').click()
    const [kept, now] = ['Kept', 'Now'].map((name) => page.getByRole('region', { name }))
    await kept!.getByText('www.example.com. 60 IN A').waitFor()
    await now!.getByText('www.example.com. 8 IN A').waitFor()
    expect(await lookAt(page, 'trace-commits')).toEqual([])
    expect(await lookAtNarrow(page, 'trace-commits')).toEqual([])

    await page.getByText('Choose the client on the map').click()
    const country = page.getByLabel('Country of the client')
    await country.selectOption('Germany')
    const subnet = page.getByLabel('Client subnet (ECS)')
    await expect.poll(() => subnet.inputValue()).toBe('10.2.0.0/24')
    const mark = await page.getByRole('link', { name: 'The client is in Germany' }).boundingBox()
    await country.selectOption('')
    await expect.poll(() => subnet.inputValue()).toBe('')
    const { x, y, width, height } = mark!
    await page.mouse.click(x + width / 2, y + height / 2)
    await expect.poll(() => country.inputValue()).toBe('DE')
    await expect.poll(() => subnet.inputValue()).toBe('10.2.0.0/24')
    expect(await lookAt(page, 'trace-map')).toEqual([])
    await country.selectOption('Japan')
    await page.getByText('the geo database has no clients of JP').waitFor()
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'the overview shows where queries come from, by a sample that keeps no address',
  async () => {
    const asked = await call<Regions>('GET', '/client-regions')
    expect(asked.body.hasDatabase).toBe(true)
    await expect
      .poll(
        async () => {
          await node
            .daemon()
            .answers('www.example.com. A', { opt: { options: [{ code: 8, data: german }] } })
          const { countries } = (await call<Regions>('GET', '/client-regions')).body
          return countries.map(({ country }) => country)
        },
        { timeout: 120_000 },
      )
      .toContain('DE')
    const { page, faults } = await signedIn(admin)
    const map = page.getByRole('region', { name: 'Where members and clients are' })
    await map.getByRole('link', { name: /^Clients in Germany: \d+ % of the queries$/ }).waitFor()
    await map.getByText(/^Queries of the last .* came from .*Germany \d+ %/).waitFor()
    expect(await lookAt(page, 'overview-clients')).toEqual([])
    expect(await lookAtNarrow(page, 'overview-clients')).toEqual([])
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'single sign-on leads to the provider and back to the dashboard',
  async () => {
    provider.person = { sub: 'uma', email: 'uma@example.com', email_verified: true, name: 'Uma' }
    const { page } = await node.openPage()
    await page.goto(`${doorAddress()}/ui/`)
    await page.getByRole('link', { name: 'Sign in with single sign-on' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('link', { name: /^uma@example\.com/ }).waitFor()
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ui\/(?:#\/?)?$/)
  },
  patienceMs,
)

test(
  "two tabs see each other's changes, and a log-out in one loses no form",
  async () => {
    const { page: first } = await signedIn(admin)
    const second = await first.context().newPage()
    await visit(first, '/pools')
    await visit(second, '/pools')
    await button(second, 'New pool').click()
    await second.getByLabel('Name', { exact: false }).first().fill('of-the-second')
    await visit(first, '/account')
    await button(first, 'Log out').click()
    await first.getByRole('heading', { name: 'Sign in' }).waitFor()

    await button(second, 'Review the change').click()
    const dialog = second.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('Password').fill(admin.password)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    // The other tab has the same cookie.
    await first.goto('about:blank')
    await visit(first, '/pools')
    await first.getByText('live', { exact: true }).waitFor()
    await button(second, 'Review the change').click()
    await button(second, 'Commit').click()
    await first.getByRole('link', { name: 'of-the-second' }).waitFor()
  },
  patienceMs,
)

test(
  'a key that is shown this once stays until it is kept, and another replaces it',
  async () => {
    const { page, faults } = await signedIn(admin)
    const keep = async (): Promise<string> => {
      const dialog = page.getByRole('dialog', { name: 'API key' })
      const key = dialog.getByRole('group', { name: 'API key' })
      await key.waitFor()
      expect(await lookAt(page, 'key-shown-once')).toEqual([])
      for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape')
      const text = await key.innerText()
      await dialog.getByRole('button', { name: 'I have kept it' }).click()
      await dialog.waitFor({ state: 'detached' })
      return text.trim()
    }
    const statusOf = async (key: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` }
      return (await fetch(`${node.origin}/api/v1/pools`, { headers })).status
    }
    await visit(page, '/r/tenants')
    await page.getByRole('button', { name: /^New/ }).click()
    await page.getByRole('dialog').getByLabel(/^Name/).fill('shop')
    await button(page, 'Review the change').click()
    await button(page, 'Commit').click()
    const first = await keep()
    expect(await statusOf(first)).toBe(200)
    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await button(page, 'New key').click()
    await page.getByRole('dialog').getByRole('button', { name: 'New key' }).click()
    const second = await keep()
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200])
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'a tenant that is deleted under the feet of its people shows nothing more, and says why',
  async () => {
    const user = { email: 'sam@example.org', password: 'somewhere else now' }
    const answer = await call<{ readonly tenant: Named }>('POST', '/tenants', { name: 'other' })
    const { tenant } = answer.body
    await made('/users', { ...user, role: 'tenant_admin', tenantId: tenant.id })
    const { page } = await signedIn(user)
    await visit(page, '/pools')
    await page.getByText('No pools yet').waitFor()
    expect((await call('DELETE', `/tenants/${tenant.id}`)).status).toBe(204)
    await visit(page, '/changes')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('Password').fill(user.password)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await dialog.getByRole('alert').waitFor()
    expect(await page.locator('main').innerText()).not.toContain('of-the-second')
  },
  patienceMs,
)

const clocks = [
  [5, 'The clock of this computer is 5 h ahead of the node'],
  [-7, 'The clock of this computer is 7 h behind the node'],
] as const

test.each(clocks)(
  'a computer whose clock is %i hours off sees the times of the node, and is told',
  async (hours, words) => {
    const { page } = await node.openPage()
    await page.addInitScript(`{
      const real = Date.now
      Date.now = () => real() + ${hours} * 3_600_000
    }`)
    await node.signIn(page, admin)
    await page.getByText(words).waitFor()
    const last = page.getByRole('region', { name: 'What changed last' })
    await last.getByRole('listitem').first().waitFor()
    expect(await last.innerText()).not.toMatch(/\d (?:h|d)\b/)
    expect(await lookAt(page, hours > 0 ? 'overview-clock' : 'overview-clock-behind')).toEqual([])
    // What begins now begins when it is now at the node.
    await visit(page, `/pools/${ids.pool}`)
    await button(page, 'Drain 192.0.2.1').click()
    const start = await page.getByLabel(/^Start at/).inputValue()
    const startMs = await page.evaluate<number>(`+new Date(${JSON.stringify(start)})`)
    expect(Math.abs(startMs - Date.now())).toBeLessThan(5 * 60_000)
  },
  patienceMs,
)

const opener = /^(?:New|Edit|Delete|Add|Set up|Change)\b/

test(
  'back and forward go through every form, and leave none behind',
  async () => {
    const { page, faults } = await signedIn(admin)
    const paths = await pathsInNavigation(page)
    const more = [`/services/${ids.service}`, `/pools/${ids.pool}`]
    const opened: string[] = []
    for (const path of [...paths, ...more]) {
      await visit(page, '/git')
      await visit(page, path)
      await expect.poll(() => page.locator('main .loading').count()).toBe(0)
      const names = await page.getByRole('button', { name: opener }).allInnerTexts()
      for (const name of new Set(names)) {
        await button(page, name).first().click()
        await page.locator('dialog[open]').waitFor()
        await page.goBack()
        await page.getByRole('heading', { name: 'Git', exact: true }).waitFor()
        expect([path, name, await page.locator('dialog').count()]).toEqual([path, name, 0])
        await page.goForward()
        await button(page, name).first().waitFor()
        opened.push(`${path} ${name}`)
      }
    }
    expect(opened.length).toBeGreaterThan(10)
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

/** It ends while the page is at work: a moment that a slow machine has passed is tried again. */
async function applyEnding(seconds: number): Promise<void> {
  const exp = Math.ceil(Date.now() / 1_000) + seconds
  const key = token({ tier: 'enterprise', maxRps: 1_000_000, exp })
  const { status } = await call('POST', '/license', { token: key })
  if (status !== 200) await applyEnding(2 * seconds)
}

test(
  'a licence that ends is told at once; what it forbids is offered no more, and reads go on',
  async () => {
    const { page, faults } = await signedIn(admin)
    await visit(page, '/r/redirects')
    await page.getByRole('button', { name: /^New/ }).click()
    const inputs = page.locator('dialog input[required]')
    for (const input of await inputs.all()) await input.fill('https://www.example.com/')
    await applyEnding(2)
    interface Licence {
      readonly valid: boolean
      readonly reason: string
    }
    const state = async () => (await call<Licence>('GET', '/license')).body
    await expect.poll(async () => (await state()).valid, { timeout: 60_000 }).toBe(false)
    const refused = await call<{ readonly error: string }>('POST', '/tenants', { name: 'late' })
    expect(refused.status).toBe(403)

    await button(page, 'Review the change').click()
    const words = /redirects need the paid licence tier.*is expired; apply a licence/
    await page.getByRole('alert').filter({ hasText: words }).waitFor()
    expect(await inputs.first().inputValue()).toBe('https://www.example.com/')
    await button(page, 'Close').click()
    const note = page.getByRole('note')
    await note.filter({ hasText: /^Redirects need the paid licence tier/ }).waitFor()
    expect(await page.getByRole('button', { name: /^New/ }).count()).toBe(0)
    await page.getByText(/^The licence expired on \d{4}-\d\d-\d\d/).waitFor()
    expect((await state()).reason).toMatch(/^the licence expired on /)
    expect(await lookAt(page, 'redirects-unlicensed')).toEqual([])
    expect(await lookAtNarrow(page, 'redirects-unlicensed')).toEqual([])

    await visit(page, '/r/tenants')
    await note.filter({ hasText: new RegExp(`^${refused.body.error}`, 'i') }).waitFor()
    await visit(page, '/timeline')
    await note.filter({ hasText: /^Rollouts need/ }).waitFor()
    await button(page, 'New window').waitFor()
    await visit(page, '/services')
    await page.getByRole('link', { name: 'www.example.com.' }).waitFor()
    await button(page, 'New service').waitFor()
    expect((await node.daemon().answers('www.example.com. A')).length).toBeGreaterThan(0)
    expect(faults.filter((fault) => !/status of 40[134]/.test(fault))).toEqual([])
  },
  patienceMs,
)
