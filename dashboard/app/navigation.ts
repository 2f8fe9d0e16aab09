// Lists the screens by heading: those made by hand, and one for each other resource of the API.
import type { Operations } from '../api/document.ts'
import { can } from '../api/session.ts'
import { apiPathOf, groups, unlistedNames } from '../resources/table.ts'

export interface Entry {
  readonly name: string
  readonly path: string
  /** A permission, or `any`. */
  readonly needs: string
}

export interface Heading {
  readonly name: string
  readonly entries: readonly Entry[]
  /** True: a group of the menu; false: its screens are in the menu themselves. */
  readonly folds: boolean
}

/** Available before the API's document is. */
const first: Heading = {
  name: 'Watch',
  folds: false,
  entries: [
    { name: 'Overview', path: '/', needs: 'any' },
    { name: 'Services', path: '/services', needs: 'service:read' },
    { name: 'Pools', path: '/pools', needs: 'pool:read' },
    { name: 'Trace', path: '/trace', needs: 'service:read' },
  ],
}

/**
 * Shown on another screen: the certificate of an ACME server is in the health of a node. The up to
 * 50,000 networks are for `gslbd plan`, and zones from and to other servers for `gslbd status` and
 * `gslbd push`.
 */
const shownElsewhere = new Set([
  ...['pools', 'services', 'snapshot', 'dashboard/stats'],
  ...['client-regions', 'health/members'],
  ...['health', 'ready', 'auth/me', 'auth/config', 'auth/oidc/authorize', 'auth/oidc/callback'],
  ...['ws', 'ws/token', 'openapi.json', 'docs', 'rum.js', 'rum/config', 'rum/networks'],
  ...unlistedNames.keys(),
])

/** Screens that this caller may see. A path of a later API gets an entry by itself. */
export function headingsOf(operations: Operations | null): readonly Heading[] {
  const found = operations === null ? [] : groupsOf(operations)
  return [first, ...found]
    .map((heading) => ({ ...heading, entries: heading.entries.filter(({ needs }) => can(needs)) }))
    .filter(({ entries }) => entries.length > 0)
}

function groupsOf(operations: Operations): Heading[] {
  const named = new Set(groups.flatMap(({ rows }) => rows.map(apiPathOf)))
  const entry = (path: string, name: string, screen = screenOf(path)): Entry[] => {
    const operation = operations.get(`GET ${path}`)
    return operation === undefined ? [] : [{ name, path: screen, needs: operation.needs }]
  }
  const others = [...operations.values()].filter(
    ({ method, path, needs }) =>
      method === 'GET' &&
      path.startsWith('/api/v1/') &&
      !path.includes('{') &&
      needs !== 'public' &&
      !named.has(path) &&
      !shownElsewhere.has(path.slice('/api/v1/'.length)),
  )
  return [
    ...groups.map(({ name, rows }) => ({
      name,
      folds: true,
      entries: rows.flatMap((row) => entry(apiPathOf(row), row.name, row.screen)),
    })),
    { name: 'More', folds: true, entries: others.flatMap(({ path, tag }) => entry(path, tag)) },
  ]
}

/** Turns `/api/v1/rpz/rules` into `/r/rpz.rules`. */
const screenOf = (path: string): string =>
  `/r/${path.slice('/api/v1/'.length).replaceAll('/', '.')}`

/** The reverse. */
export const pathOf = (name: string): string => `/api/v1/${name.replaceAll('.', '/')}`
