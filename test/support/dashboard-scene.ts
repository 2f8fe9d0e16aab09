// Fills a node with what the tests of the dashboard need, and lists the screens that show it.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { ApiReply } from './api-client.ts'

export interface Named {
  readonly id: string
  readonly name: string
}

type Call = <T = Named>(method: string, path: string, body?: object) => Promise<ApiReply<T>>

export const markup = '<img src=x onerror=document.title=1>'
/** Texts that the API accepts; every screen must show them as text, and run nothing. */
const payloads = [
  markup,
  '"><svg onload=document.title=1>',
  "'-document.title=1-'",
  '{{constructor.constructor("document.title=1")()}}',
  'טקסט הפוך',
  'w'.repeat(63),
] as const
/** A pool, a member, a user, an alert and a record for each payload. */
export async function storePayloads(call: Call): Promise<void> {
  const { id } = (await call('POST', '/pools', { name: markup })).body
  for (const [i, text] of payloads.entries()) {
    const member = { ipAddress: `192.0.2.${10 + i}`, port: 80, name: text, region: 'DE' }
    const made = [
      await call('POST', `/pools/${id}/members`, member),
      await call('POST', '/alerts', alertOf(text)),
      await call('POST', '/records', recordOf(`t${i}`, text)),
    ]
    expect([text, ...made.map(({ status }) => status)]).toEqual([text, 201, 201, 201])
  }
  const user = { email: 'x@example.com', password: 'only looking around', role: 'viewer' }
  await call('POST', '/users', { ...user, displayName: markup })
}

const alertOf = (name: string) => ({
  ...{ name, kind: 'webhook', conditions: ['member-flapping'], enabled: false },
  settings: { url: 'https://alerts.example.com/' },
})
const recordOf = (label: string, text: string) => ({
  ...{ zone: 'example.com.', name: `${label}.example.com.`, type: 'TXT', ttl: 60 },
  values: [JSON.stringify(text.normalize('NFD').replace(/[^\u0020-\u007e]/g, '?'))],
})

interface Extremes {
  /** A name of 255 octets. */
  readonly longest: string
  /** Right-to-left text. */
  readonly name: string
  /** The id of a pool. */
  readonly pool: string
}

/**
 * Makes objects as long as the API allows, of each kind beside pools, members, services and
 * records.
 */
export async function storeExtremes(
  make: (path: string, body: object) => Promise<string>,
  { longest, name, pool }: Extremes,
): Promise<void> {
  const far = longest.slice(1, -1)
  const role = 'r'.repeat(63)
  const user = { email: `${'u'.repeat(200)}@example.com`, password: 'only looking around' }
  const settings = { url: `https://hooks.example.com/${'p'.repeat(200)}` }
  const inHours = (count: number): string => new Date(Date.now() + count * 3_600_000).toISOString()
  const window = { resourceType: 'pool', startAt: inHours(9), endAt: inHours(10) }
  await make('/redirects', { sourceFqdn: `r${far}`, targetUrl: `https://t${far}/` })
  await make('/rpz/rules', { triggerType: 'exact', triggerValue: longest, action: 'passthru' })
  await make('/dns/tsig-keys', { name: `k${far}`, scope: longest })
  await make('/dns/txt-records', { name: `x${far}.`, value: 'v'.repeat(255), ttl: 60 })
  await make('/roles', { name: role, permissions: ['pool:read'] })
  await make('/tenants', { name })
  await make('/users', { ...user, displayName: name, role })
  await make('/alerts', { name, kind: 'slack', enabled: false, settings })
  await make('/alerts/silences', { seconds: 60, subject: far.slice(0, 200), reason: name })
  await make('/maintenance-windows', { ...window, resourceId: pool })
}

/** Traces of a payload that was more than text. */
export const injected =
  "document.querySelectorAll('main img[src=x], main svg[onload], main script').length"

/** Links for a system administrator, who sees all, including those in folded groups. */
export async function pathsInNavigation(page: Page): Promise<string[]> {
  const links = page.getByRole('navigation', { name: 'Screens' }).locator('a')
  await links.filter({ hasText: 'Tenants' }).waitFor({ state: 'attached' })
  return links.evaluateAll((all) =>
    all.map((one) => (one as unknown as { hash: string }).hash.slice(1)),
  )
}

/** Screens in the navigation, and a page of each kind of object below. */
export async function pathsOfScreens(page: Page, call: Call): Promise<string[]> {
  const paths = await pathsInNavigation(page)
  const [service] = (await call<Named[]>('GET', '/services')).body
  const pools = (await call<Named[]>('GET', '/pools')).body
  const odd = pools.find(({ name }) => name === markup)
  const [member] = (await call<Named[]>('GET', `/pools/${odd?.id}/members`)).body
  const [commit] = (await call<{ commit: string }[]>('GET', '/history')).body
  return [
    ...paths,
    `/services/${service?.id}`,
    `/pools/${odd?.id}`,
    `/members/${member?.id}`,
    `/zones/example.com.`,
    `/changes/${commit?.commit}`,
    ...['/account', '/nowhere'],
  ]
}

/** `/pools/019a…` is a picture of its own kind, whatever the id. */
export const pictureOf = (path: string): string =>
  path === '/'
    ? 'overview'
    : path
        .slice(1)
        .replaceAll(/[0-9a-f]{8}[0-9a-f-]+/g, 'one')
        .replaceAll(/[^a-z]+/g, '-')
        .slice(0, 40)

/** The name of the focused field; undefined: none. */
export const fieldWithFocus = (page: Page): Promise<string | undefined> =>
  page.evaluate<string | undefined>('document.activeElement.name')

/** The focused element. A busy browser may lose a key: the next call presses it again. */
export async function focusOfSlash(page: Page): Promise<string> {
  const focus = await page.evaluate<string>('document.activeElement.outerHTML.slice(0, 200)')
  if (focus.includes('data-search')) return focus
  // Leaves whatever an earlier key opened.
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  return focus
}
