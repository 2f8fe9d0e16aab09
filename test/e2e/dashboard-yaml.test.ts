// The dashboard in a real browser: an object is edited in its form, or as YAML beside it.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { button, unexpected, useDashboard } from '#test/support/dashboard-node.ts'
import type { Named } from '#test/support/dashboard-scene.ts'
import { token, vendor } from '#test/support/licences.ts'
import { startReportingDoor } from '#test/support/report-only-proxy.ts'
import type { ReportingDoor } from '#test/support/report-only-proxy.ts'
import { lookAt, lookAtNarrow } from '#test/support/screens.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const patienceMs = 600_000
const admin = { email: 'ann@example.com', password: 'correct horse battery' }
const publicKey = vendor.publicKey.export({ type: 'spki', format: 'pem' })
const node = useDashboard(() => ({ auth: { bcryptCost: 10 }, license: { publicKey } }))
const { call, signedIn, visit } = node
const ids = { web: '', spare: '', service: '' }
let door: ReportingDoor

const made = async (path: string, body: object): Promise<string> => {
  const answer = await call<Named & { readonly error?: string }>('POST', path, body)
  expect([answer.status, answer.body.error]).toEqual([201, undefined])
  return answer.body.id
}

beforeAll(async () => {
  door = await startReportingDoor(node.daemon().apiPort)
  node.origin = door.origin
  await made('/auth/setup', admin)
  const exp = Math.round(Date.now() / 1_000) + 86_400
  const licence = { token: token({ tier: 'enterprise', exp }) }
  expect((await call('POST', '/license', licence)).status).toBeLessThan(300)
  ids.web = await made('/pools', { name: 'web' })
  ids.spare = await made('/pools', { name: 'spare' })
  await made(`/pools/${ids.web}/members`, { ipAddress: '192.0.2.1', port: 80 })
  await made(`/pools/${ids.spare}/members`, { ipAddress: '192.0.2.2', port: 80 })
  const service = { name: 'www', domain: 'www.example.com.', poolId: ids.web, ttl: 60 }
  ids.service = await made('/services', service)
})
afterAll(() => door.close())

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'The object as YAML' })
const textOf = (page: Page): Promise<string> =>
  editorOf(page).evaluate((one) => {
    const { childNodes } = one as unknown as { childNodes: Iterable<{ textContent: string }> }
    return [...childNodes].map(({ textContent }) => textContent).join('\n')
  })

/** Writes the whole text anew by keyboard alone: everything can be done that way. */
async function write(page: Page, text: string): Promise<void> {
  await editorOf(page).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

test(
  'the code of the editor comes when it is opened, and not before',
  async () => {
    const { page, requests, faults } = await signedIn(admin)
    await visit(page, `/services/${ids.service}`)
    await button(page, 'Edit').click()
    await page.getByLabel('TTL').waitFor()
    const isEditor = (url: string): boolean => /yaml-field-[^/]*\.js$/.test(url)
    expect(requests.filter(isEditor)).toEqual([])
    await button(page, 'YAML').click()
    await editorOf(page).waitFor()
    expect(requests.filter(isEditor)).toHaveLength(1)
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'completion offers fields, values and the pools by name; the form and the commit have them',
  async () => {
    const { page, faults } = await signedIn(admin)
    await visit(page, `/services/${ids.service}`)
    await button(page, 'Edit').click()
    await page.getByLabel('TTL').fill('61')
    await button(page, 'YAML').click()
    await editorOf(page).waitFor()
    expect(await textOf(page)).toContain('ttl: 61')
    // Beside the id stands what it is.
    expect(await textOf(page)).toContain(`${ids.web}" ← pool web`)

    await write(page, 'name: www\ndomain: www.example.com.\nanswer')
    const options = page.getByRole('option')
    await page.keyboard.press('Control+Space')
    await expect
      .poll(() => options.allInnerTexts())
      .toEqual([expect.stringMatching(/^answerCount/)])
    expect(await lookAt(page, 'yaml-completion')).toEqual([])
    await page.keyboard.press('Enter')
    await page.keyboard.type('2')
    await page.keyboard.press('Enter')
    await page.keyboard.insertText('poolId: ')
    await page.keyboard.press('Control+Space')
    await expect.poll(() => options.filter({ hasText: 'pool spare' }).count()).toBe(1)
    await page.keyboard.type('pool s')
    await expect.poll(() => options.count()).toBe(1)
    // Enter means a new line while a list has just come: an offer is taken by a click at once.
    await options.click()
    await page.keyboard.press('Enter')
    await page.keyboard.insertText('algorithm: ')
    await page.keyboard.press('Control+Space')
    await expect.poll(() => options.filter({ hasText: 'failover' }).count()).toBe(1)
    await page.keyboard.type('failo')
    await expect.poll(() => options.count()).toBe(1)
    await options.click()
    await expect.poll(() => textOf(page)).toContain(`poolId: ${ids.spare} ← pool spare`)

    await button(page, 'Form').click()
    expect(await page.getByLabel('Answer count').inputValue()).toBe('2')
    expect(await page.getByLabel('Algorithm').inputValue()).toBe('failover')
    const pool = page.getByLabel('Pool', { exact: true })
    expect(await pool.inputValue()).toBe(ids.spare)
    // A line that is gone is a field that goes back to what it is by itself.
    expect(await page.getByLabel('TTL').inputValue()).toBe('')
    await page.getByLabel('TTL').fill('8')
    await button(page, 'YAML').click()
    await expect.poll(() => textOf(page)).toContain('ttl: 8')
    await button(page, 'Review the change').click()
    await page.getByRole('row', { name: /TTL/ }).waitFor()
    await button(page, 'Commit').click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(await node.daemon().answers('www.example.com. A')).toEqual([
      'www.example.com. 8 IN A 192.0.2.2',
    ])
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

const wrongs = [
  ['a value', 'name: www\nttl: soon\ndomain: www.example.com.\n', 2, /ttl: must be a whole number/],
  [
    'a field that is none',
    'name: www\n\ntttl: 5\ndomain: www.example.com.\n',
    3,
    /tttl: there is no such field; did you mean "ttl"/,
  ],
  ['a rule of the compiler', 'name: www\ndomain: a..b\n', 2, /domain: /],
  ['what is not YAML', 'name: www\nttl: [1\n', 3, /This is not YAML/],
] as const

test(
  "mistakes are marked at their line with the API's sentence, while one writes",
  async () => {
    const { page } = await signedIn(admin)
    await visit(page, `/services/${ids.service}`)
    await button(page, 'Edit').click()
    await button(page, 'YAML').click()
    await editorOf(page).waitFor()
    for (const [kind, text, line, words] of wrongs) {
      await write(page, text)
      const told = page.getByRole('dialog').getByRole('status').getByRole('button')
      const atLine = told.filter({ hasText: new RegExp(`^Line ${line}: `) })
      await atLine.filter({ hasText: words }).first().waitFor()
      // Marks of the text before may stay for a moment.
      const marks = page.locator('.cm-lint-marker-error')
      await waitUntil(`one mark: ${kind}`, async () => (await marks.count()) === 1)
    }
    await button(page, 'Review the change').click()
    await page
      .getByRole('alert')
      .filter({ hasText: /^Line 3: This is not YAML/ })
      .waitFor()

    await write(page, 'name: www\ndomain: www.example.com.\nttl: soon\n')
    await button(page, 'Review the change').click()
    await page.getByRole('alert').filter({ hasText: 'ttl: must be' }).waitFor()
    const told = button(
      page,
      'Line 3: ttl: must be a whole number from 0 to 2147483647 or null, not this text of 4 characters',
    )
    await told.click()
    await page.keyboard.insertText('# here\n')
    expect(await textOf(page)).toContain('# here\nttl: soon')
    expect(await page.getByRole('alert').count()).toBe(1)
    await write(page, 'name: www\ndomain: www.example.com.\nttl: 5\n')
    await expect.poll(() => page.locator('.cm-lint-marker-error').count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
    await write(page, 'name: www\ndomain: www.example.com.\nttl: soon\n')
    await told.waitFor()
    expect(await lookAt(page, 'yaml-wrong')).toEqual([])
    expect(await lookAtNarrow(page, 'yaml-wrong')).toEqual([])
  },
  patienceMs,
)

test(
  'Tab indents, Escape and Tab leave the editor, and Escape alone closes nothing',
  async () => {
    const { page } = await signedIn(admin)
    await visit(page, '/pools')
    await button(page, 'New pool').click()
    await button(page, 'YAML').click()
    await editorOf(page).waitFor()
    expect(await lookAt(page, 'yaml-new')).toEqual([])
    expect(await lookAtNarrow(page, 'yaml-new')).toEqual([])
    await editorOf(page).focus()
    await page.keyboard.press('Tab')
    const isInside = () => page.locator('.cm-content:focus').count()
    expect(await isInside()).toBe(1)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    expect(await isInside()).toBe(0)
    expect(await page.locator('dialog[open]').count()).toBe(1)
    await write(page, 'name: made-as-yaml\nminHealthy: 0\n')
    await button(page, 'Review the change').click()
    await button(page, 'Commit').click()
    await page.getByRole('link', { name: 'made-as-yaml' }).waitFor()
    const pools = (await call<(Named & { minHealthy: number })[]>('GET', '/pools')).body
    expect(pools.find(({ name }) => name === 'made-as-yaml')?.minHealthy).toBe(0)
  },
  patienceMs,
)

test(
  'a rollout of two steps and an alert channel are made with fields, and a refusal is at its field',
  async () => {
    const { page, faults } = await signedIn(admin)
    const [member] = (await call<Named[]>('GET', `/pools/${ids.web}/members`)).body
    await visit(page, '/r/rollouts')
    await button(page, 'New').click()
    await page.getByRole('combobox', { name: /^Member/ }).fill(member!.id)
    for (const [i, weight] of ['10', '50'].entries()) {
      await button(page, 'Add step').click()
      await page.getByLabel(`Weight pct of step ${i + 1}`).fill(weight)
      await page.getByLabel(`Hold seconds of step ${i + 1}`).fill('600')
    }
    await button(page, 'Add step').click()
    await button(page, 'Remove step 3').click()
    await page.getByLabel('Min healthy members').fill('1')
    expect(await lookAt(page, 'rollout-form')).toEqual([])
    expect(await lookAtNarrow(page, 'rollout-form')).toEqual([])
    await button(page, 'Review the change').click()
    await button(page, 'Commit').click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    const rollouts = (
      await call<{ steps: object[]; regressionPolicy: object }[]>('GET', '/rollouts')
    ).body
    expect(rollouts).toMatchObject([
      {
        steps: [
          { weightPct: 10, holdSeconds: 600 },
          { weightPct: 50, holdSeconds: 600 },
        ],
        regressionPolicy: { minHealthyMembers: 1 },
      },
    ])

    await visit(page, '/r/alerts')
    await button(page, 'New').click()
    await page.getByLabel(/^Name/).fill('team')
    await page.getByLabel(/^Kind/).selectOption('webhook')
    await page.getByLabel(/^Conditions/).fill('member-flapping')
    await page.getByLabel('URL').fill('ftp://alerts.example.com/')
    await page.getByRole('button', { name: /^(Save|Review the change)$/ }).click()
    const told = page.getByRole('dialog').locator('.fault')
    await told.filter({ hasText: 'must be an https:// address' }).waitFor()
    expect(await page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
    expect(await lookAt(page, 'alert-refused')).toEqual([])
    await page.getByLabel('URL').fill('https://alerts.example.com/')
    // What was said of the address before is gone, in both places.
    expect(await told.count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByRole('button', { name: /^(Save|Review the change)$/ }).click()
    await expect
      .poll(async () => (await call<Named[]>('GET', '/alerts')).body.map(({ name }) => name))
      .toEqual(['team'])
    // The refusal.
    expect(unexpected(faults)).toEqual([expect.stringContaining('status of 400')])
  },
  patienceMs,
)

const program = 'result = candidates\n  .map((one) => one.ip)'

/** The form of the service, and what is done with its chain. */
async function openChain() {
  const { page, faults } = await signedIn(admin)
  await visit(page, `/services/${ids.service}`)
  await button(page, 'Edit').click()
  const items = page.getByRole('list', { name: 'Filter chain' }).getByRole('listitem')
  const names = () => items.locator('strong').allInnerTexts()
  const add = async (name: string): Promise<void> => {
    await button(page, 'Add a step').click()
    await page.getByRole('button', { name: new RegExp(`^${name}\\b(?!-)`) }).click()
  }
  return { page, faults, items, names, add }
}

test(
  'a filter chain is a list of steps that are added, set, and moved by key and by pointer',
  async () => {
    const { page, faults, items, names, add } = await openChain()
    const adder = button(page, 'Add a step')
    await adder.focus()
    await page.keyboard.press('Enter')
    expect(await adder.getAttribute('aria-expanded')).toBe('true')
    const offered = page.locator('.kinds button')
    expect(await offered.count()).toBeGreaterThan(10)
    const words = await offered.allInnerTexts()
    expect(words.filter((one) => !/^[a-z-]+\n.{10}/.test(one))).toEqual([])
    expect(await lookAt(page, 'chain-kinds')).toEqual([])
    // It closes what is open, and not the form around it.
    await page.keyboard.press('Escape')
    expect(await adder.getAttribute('aria-expanded')).toBe('false')
    expect(await page.locator('dialog[open]').count()).toBe(1)

    await add('sticky')
    await add('failover')
    await add('script')
    // What is added is set at once.
    await page.keyboard.insertText(program)
    expect(await names()).toEqual(['1. sticky', '2. failover', '3. script'])
    await page.getByText('Never reached: failover ends the chain.').waitFor()
    const up = page.getByRole('button', { name: 'Move step 3, script, up' })
    await up.focus()
    await page.keyboard.press('Enter')
    expect(await names()).toEqual(['1. sticky', '2. script', '3. failover'])
    const told = page.getByRole('dialog').getByRole('status')
    await told.filter({ hasText: 'script is now step 2 of 3.' }).waitFor({ state: 'attached' })
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Move step 2, script, up')
    await page.keyboard.press('Enter')
    // At the end of the way the other button has the focus.
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe(
      'Move step 1, script, down',
    )
    expect(await names()).toEqual(['1. script', '2. sticky', '3. failover'])
    expect(await page.getByLabel('Program').inputValue()).toBe(program)

    const grip = (await items.nth(1).locator('.grip').boundingBox())!
    const first = (await items.nth(0).boundingBox())!
    await page.mouse.move(grip.x + 5, grip.y + 5)
    await page.mouse.down()
    await page.mouse.move(first.x + 20, first.y + 5, { steps: 4 })
    expect(await items.nth(0).getAttribute('class')).toBe('drop-before')
    await page.mouse.up()
    expect(await names()).toEqual(['1. sticky', '2. script', '3. failover'])
    expect(await lookAt(page, 'chain-steps')).toEqual([])
    expect(await lookAtNarrow(page, 'chain-steps')).toEqual([])

    await button(page, 'YAML').click()
    await editorOf(page).waitFor()
    expect(await textOf(page)).toMatch(/filterChain:\n *- sticky\n *- "script:result[^]*- failover/)
    expect(unexpected(faults)).toEqual([])
  },
  patienceMs,
)

test(
  'steps are as the YAML has them, and what the API refuses stands at its step',
  async () => {
    const { page, faults, items, names, add } = await openChain()
    await button(page, 'YAML').click()
    await editorOf(page).waitFor()
    await write(page, 'name: www\ndomain: www.example.com.\nfilterChain: [geoip, geo-pi, wrr]\n')
    await button(page, 'Form').click()
    expect(await names()).toEqual(['1. geoip', '2. geo-pi', '3. wrr'])
    await items.nth(0).getByText("keeps members whose region is the client's").waitFor()
    await items.nth(1).getByText('This node knows no such step.').waitFor()
    await button(page, 'Review the change').click()
    await items.nth(1).locator('.fault').filter({ hasText: 'did you mean' }).waitFor()
    expect(await page.locator('.chain .fault').count()).toBe(1)
    expect(await lookAt(page, 'chain-refused')).toEqual([])
    await page.getByRole('button', { name: 'Remove step 2, geo-pi' }).click()
    expect(await names()).toEqual(['1. geoip', '2. wrr'])
    await add('script')
    await page.keyboard.insertText('result = (')
    await page.getByRole('button', { name: 'Move step 3, script, up' }).click()
    await button(page, 'Review the change').click()
    await items.nth(1).locator('.fault').filter({ hasText: 'filterChain.1' }).waitFor()
    expect(await page.getByLabel('Program').getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Program').fill(program)
    await button(page, 'Review the change').click()
    await button(page, 'Commit').click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    const { filterChain } = (
      await call<{ filterChain: string[] }>('GET', `/services/${ids.service}`)
    ).body
    expect(filterChain).toEqual(['geoip', `script:${program}`, 'wrr'])
    // The refusals.
    expect(unexpected(faults).filter((one) => !one.includes('status of 400'))).toEqual([])
  },
  patienceMs,
)

test(
  'on a phone the buttons of each member are in view without scrolling sideways',
  async () => {
    const { page } = await signedIn(admin)
    await page.setViewportSize({ width: 360, height: 740 })
    await visit(page, `/pools/${ids.web}`)
    const table = page.getByRole('group', { name: 'Members' })
    await table.waitFor()
    expect(
      await table.evaluate((one) => {
        const { scrollWidth, clientWidth } = one as unknown as Record<string, number>
        return scrollWidth! - clientWidth!
      }),
    ).toBe(0)
    for (const name of ['Drain', 'Disable', 'Edit', 'Delete']) {
      const { x, width } = (await button(page, `${name} 192.0.2.1`).boundingBox())!
      expect([name, x >= 0 && x + width <= 360]).toEqual([name, true])
    }
    expect(await table.getByRole('row').count()).toBe(2)
    expect(await lookAt(page, 'members-phone')).toEqual([])
  },
  patienceMs,
)

test('the policy of the page permits all that the editor does', () => {
  expect(door.reports).toEqual([])
})
