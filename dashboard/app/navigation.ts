// The screens by heading: those made by hand, and one for each other resource of the API.
import type { Operations } from '../api/document.ts'
import { can } from '../api/session.ts'

export interface Entry {
  readonly name: string
  readonly path: string
  /** A permission, or `any`. */
  readonly needs: string
}

export interface Heading {
  readonly name: string
  readonly entries: readonly Entry[]
  /** It is a group of the menu; without it, its screens stand there for themselves. */
  readonly folds: boolean
}

/** They are there before the document of the API is. */
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

/** A path of the API, the name of its screen, and where it is if it was made by hand. */
type Row = readonly [path: string, name: string, screen?: string]

/**
 * Without a screen by hand a path has the general one. Four screens, the groups and the screens of
 * one group are at most 15 items: more is read, not seen.
 */
const groups: readonly { readonly name: string; readonly paths: readonly Row[] }[] = [
  {
    name: 'DNS',
    paths: [
      ['/api/v1/settings', 'Zones', '/zones'],
      ['/api/v1/records', 'Records'],
      ['/api/v1/domains', 'Domains'],
      ['/api/v1/redirects', 'Redirects'],
      ['/api/v1/rpz/rules', 'Response rules'],
      ['/api/v1/dns/txt-records', 'TXT records'],
    ],
  },
  {
    name: 'Traffic',
    paths: [
      ['/api/v1/maintenance-windows', 'Timeline', '/timeline'],
      ['/api/v1/maintenance-windows', 'Maintenance windows'],
      ['/api/v1/rollouts', 'Rollouts'],
      ['/api/v1/rum/status', 'User measurement', '/coverage'],
    ],
  },
  {
    name: 'Configuration',
    paths: [
      ['/api/v1/history', 'Changes', '/changes'],
      ['/api/v1/gitops/status', 'Git', '/git'],
      ['/api/v1/deliveries', 'Waves', '/waves'],
      ['/api/v1/settings', 'Settings'],
      ['/api/v1/unused', 'Unused'],
    ],
  },
  {
    name: 'Nodes and alerts',
    paths: [
      ['/api/v1/cluster/nodes', 'Nodes'],
      ['/api/v1/bgp', 'BGP'],
      ['/api/v1/usage', 'Usage', '/usage'],
      ['/api/v1/alerts', 'Alerts'],
      ['/api/v1/alerts/events', 'Alert events'],
      ['/api/v1/alerts/silences', 'Silences'],
    ],
  },
  {
    name: 'Access',
    paths: [
      ['/api/v1/users', 'Users'],
      ['/api/v1/roles', 'Roles'],
      ['/api/v1/tenants', 'Tenants'],
      ['/api/v1/dns/tsig-keys', 'TSIG keys'],
      ['/api/v1/audit', 'Audit', '/audit'],
      ['/api/v1/license', 'Licence'],
    ],
  },
]

/** They have a screen by hand, or are part of one; `gslbd plan` reads the up to 50,000 networks. */
const shownElsewhere = new Set([
  ...['pools', 'services', 'snapshot', 'dashboard/stats'],
  ...['client-regions', 'health/members'],
  ...['health', 'ready', 'auth/me', 'auth/config', 'auth/oidc/authorize', 'auth/oidc/callback'],
  ...['ws', 'ws/token', 'openapi.json', 'docs', 'rum.js', 'rum/config', 'rum/networks'],
])

/** What this caller may see. A path that a later API has gets an entry by itself. */
export function headingsOf(operations: Operations | null): readonly Heading[] {
  const found = operations === null ? [] : groupsOf(operations)
  return [first, ...found]
    .map((heading) => ({ ...heading, entries: heading.entries.filter(({ needs }) => can(needs)) }))
    .filter(({ entries }) => entries.length > 0)
}

function groupsOf(operations: Operations): Heading[] {
  const named = new Set(groups.flatMap(({ paths }) => paths.map(([path]) => path)))
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
    ...groups.map(({ name, paths }) => ({
      name,
      folds: true,
      entries: paths.flatMap((row) => entry(...row)),
    })),
    { name: 'More', folds: true, entries: others.flatMap(({ path, tag }) => entry(path, tag)) },
  ]
}

/** `/api/v1/rpz/rules` → `/r/rpz.rules`. */
export const screenOf = (path: string): string =>
  `/r/${path.slice('/api/v1/'.length).replaceAll('/', '.')}`

/** The way back. */
export const pathOf = (name: string): string => `/api/v1/${name.replaceAll('.', '/')}`

export function nameOf(path: string): string | undefined {
  const rows = groups.flatMap(({ paths }) => paths)
  return rows.find(([one, , screen]) => one === path && screen === undefined)?.[1]
}
