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
}

const made: readonly Heading[] = [
  {
    name: 'Watch',
    entries: [
      { name: 'Overview', path: '/', needs: 'any' },
      { name: 'Services', path: '/services', needs: 'service:read' },
      { name: 'Pools', path: '/pools', needs: 'pool:read' },
      { name: 'Trace', path: '/trace', needs: 'service:read' },
      { name: 'Timeline', path: '/timeline', needs: 'maintenance:read' },
    ],
  },
  {
    name: 'Configuration',
    entries: [
      { name: 'Changes', path: '/changes', needs: 'history:read' },
      { name: 'Git', path: '/git', needs: 'settings:read' },
    ],
  },
]

/** A path of the API, the name of its screen, and where it is if it was made by hand. */
type Row = readonly [path: string, name: string, screen?: string]

/** By heading; without a screen by hand it has the general one. */
const general: readonly { readonly name: string; readonly paths: readonly Row[] }[] = [
  {
    name: 'DNS',
    paths: [
      ['/api/v1/settings', 'Zones', '/zones'],
      ['/api/v1/records', 'Records'],
      ['/api/v1/domains', 'Domains'],
      ['/api/v1/redirects', 'Redirects'],
      ['/api/v1/rpz/rules', 'Response rules'],
      ['/api/v1/dns/txt-records', 'TXT records'],
      ['/api/v1/dns/tsig-keys', 'TSIG keys'],
    ],
  },
  {
    name: 'Traffic',
    paths: [
      ['/api/v1/rollouts', 'Rollouts'],
      ['/api/v1/maintenance-windows', 'Maintenance windows'],
      ['/api/v1/rum/status', 'User measurement', '/coverage'],
    ],
  },
  {
    name: 'Node',
    paths: [
      ['/api/v1/cluster/nodes', 'Nodes'],
      ['/api/v1/deliveries', 'Waves', '/waves'],
      ['/api/v1/alerts', 'Alerts'],
      ['/api/v1/alerts/events', 'Alert events'],
      ['/api/v1/alerts/silences', 'Silences'],
      ['/api/v1/settings', 'Settings'],
      ['/api/v1/license', 'Licence'],
      ['/api/v1/usage', 'Usage', '/usage'],
      ['/api/v1/bgp', 'BGP'],
      ['/api/v1/unused', 'Unused'],
    ],
  },
  {
    name: 'Access',
    paths: [
      ['/api/v1/users', 'Users'],
      ['/api/v1/roles', 'Roles'],
      ['/api/v1/tenants', 'Tenants'],
      ['/api/v1/audit', 'Audit', '/audit'],
    ],
  },
]

/** They have a screen by hand, or are part of one; `gslbd plan` reads the up to 50,000 networks. */
const shownElsewhere = new Set([
  ...['pools', 'services', 'history', 'gitops/status', 'snapshot', 'dashboard/stats'],
  ...['client-regions', 'health/members'],
  ...['health', 'ready', 'auth/me', 'auth/config', 'auth/oidc/authorize', 'auth/oidc/callback'],
  ...['ws', 'ws/token', 'openapi.json', 'docs', 'rum.js', 'rum/config', 'rum/networks'],
])

/** What this caller may see. A path that a later API has gets an entry by itself. */
export function headingsOf(operations: Operations | null): readonly Heading[] {
  const found = operations === null ? [] : generalOf(operations)
  return [...made, ...found]
    .map(({ name, entries }) => ({ name, entries: entries.filter(({ needs }) => can(needs)) }))
    .filter(({ entries }) => entries.length > 0)
}

function generalOf(operations: Operations): Heading[] {
  const named = new Set(general.flatMap(({ paths }) => paths.map(([path]) => path)))
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
    ...general.map(({ name, paths }) => ({
      name,
      entries: paths.flatMap((row) => entry(...row)),
    })),
    { name: 'More', entries: others.flatMap(({ path, tag }) => entry(path, tag)) },
  ]
}

/** `/api/v1/rpz/rules` → `/r/rpz.rules`. */
export const screenOf = (path: string): string =>
  `/r/${path.slice('/api/v1/'.length).replaceAll('/', '.')}`

/** The way back. */
export const pathOf = (name: string): string => `/api/v1/${name.replaceAll('.', '/')}`

export function nameOf(path: string): string | undefined {
  const rows = general.flatMap(({ paths }) => paths)
  return rows.find(([one, , screen]) => one === path && screen === undefined)?.[1]
}
