// The table of resources by group of the menu: the screen of each, what it is for, how one begins.

interface ResourceRow {
  /** Behind `/api/v1/`. */
  readonly path: string
  readonly name: string
  /** Made by hand; without it, a path has the general one. */
  readonly screen?: string
  /** Text of one line under the title; left out: the summary of the API. */
  readonly lead?: string
  /** Text of an empty list. */
  readonly empty?: string
}

/**
 * Four screens, the groups and the screens of one group are at most 15 items: more is read, not
 * seen. A resource without a row has its screen all the same: the menu lists it under `More`.
 */
export const groups: readonly { readonly name: string; readonly rows: readonly ResourceRow[] }[] = [
  {
    name: 'DNS',
    rows: [
      { path: 'settings', name: 'Zones', screen: '/zones' },
      {
        ...{ path: 'records', name: 'Records' },
        lead: 'Plain records of your zones, beside the services.',
        empty:
          'Add what a zone has besides services: MX, TXT, CAA, or the addresses of a single host.',
      },
      {
        ...{ path: 'domains', name: 'Domains' },
        lead: 'Domains that are delegated to this server by others.',
        empty: 'Register a domain, put the record it shows into the parent zone, then verify.',
      },
      {
        ...{ path: 'dnssec/zones', name: 'DNSSEC' },
        lead: 'Signed zones: their keys, and what these wait for.',
        empty: 'No zone is signed: set dnssec of a zone.',
      },
      {
        ...{ path: 'rpz/rules', name: 'Response rules' },
        lead: 'Answers that go before everything else: a firewall for DNS.',
        empty: 'Block or rewrite names or clients here.',
      },
      {
        ...{ path: 'dns/txt-records', name: 'TXT records' },
        lead: 'TXT records that programs set at run time; the API lists other types, too.',
        empty: 'ACME clients put their challenges here, by RFC 2136 or by the API.',
      },
    ],
  },
  {
    name: 'Traffic',
    rows: [
      { path: 'maintenance-windows', name: 'Timeline', screen: '/timeline' },
      {
        ...{ path: 'maintenance-windows', name: 'Maintenance windows' },
        lead: 'Members leave the answers for a while, and come back by themselves.',
        empty: 'Plan one before you work on a machine.',
      },
      {
        ...{ path: 'rollouts', name: 'Rollouts' },
        lead: 'A new member gets its weight step by step, and loses it when it does worse.',
        empty: 'Begin one when a member is new or changed, and watch it grow.',
      },
      { path: 'rum/status', name: 'User measurement', screen: '/coverage' },
      {
        ...{ path: 'redirects', name: 'Redirects' },
        lead: 'Names that lead browsers to another address.',
        empty: 'A redirect answers HTTP for a name and sends the browser on.',
      },
      {
        ...{ path: 'rrl/allowlist', name: 'Never rate limited' },
        lead: 'Networks of clients that response rate limiting leaves alone on all nodes.',
        empty: 'Add the networks of large resolvers that many people share.',
      },
    ],
  },
  {
    name: 'Configuration',
    rows: [
      { path: 'history', name: 'Changes', screen: '/changes' },
      { path: 'gitops/status', name: 'Git', screen: '/git' },
      { path: 'deliveries', name: 'Waves', screen: '/waves' },
      {
        ...{ path: 'settings', name: 'Settings' },
        lead: 'Settings of this node, from file and environment, and of the repository.',
      },
      {
        ...{ path: 'discovery/sources', name: 'Discovery' },
        lead: 'Sources that members of pools are discovered by, and what they hold back.',
        empty: 'Name a source in the settings of this node: discovery.sources.',
      },
      {
        ...{ path: 'unused', name: 'Unused' },
        lead: 'What no query has used lately, and TTLs that could be better.',
      },
    ],
  },
  {
    name: 'Nodes and alerts',
    rows: [
      {
        ...{ path: 'cluster/nodes', name: 'Nodes' },
        lead: 'The nodes that share this state, and what each serves.',
      },
      {
        ...{ path: 'bgp', name: 'BGP' },
        lead: 'Addresses that this node announces by BGP, or why it does not.',
        empty:
          'Set anycast.driver in the settings: routers then send each client to the nearest node.',
      },
      { path: 'usage', name: 'Usage', screen: '/usage' },
      {
        ...{ path: 'alerts', name: 'Alerts' },
        lead: 'Who is told when something is wrong.',
        empty: 'Add a channel, then send a test.',
      },
      {
        ...{ path: 'alerts/events', name: 'Alert events' },
        lead: 'What alerts have begun and ended.',
        empty: 'When a condition is met, it is listed here with its time.',
      },
      {
        ...{ path: 'alerts/silences', name: 'Silences' },
        lead: 'Conditions that nobody is told of for a while.',
        empty: 'Silence what you know about, so that other alerts are heard.',
      },
    ],
  },
  {
    name: 'Access',
    rows: [
      {
        ...{ path: 'users', name: 'Users' },
        lead: 'Who may sign in.',
        empty: 'Invite the first colleague with New.',
      },
      {
        ...{ path: 'roles', name: 'Roles' },
        lead: 'What people may do; three are built in.',
        empty: 'Make one where these do not fit.',
      },
      {
        ...{ path: 'tenants', name: 'Tenants' },
        lead: 'Teams that see nothing of each other.',
        empty: 'All are of the tenant default.',
      },
      {
        ...{ path: 'dns/tsig-keys', name: 'TSIG keys' },
        lead: 'Keys that sign updates and transfers.',
        empty: 'Make a key for each program that updates records or transfers zones.',
      },
      { path: 'audit', name: 'Audit', screen: '/audit' },
      {
        ...{ path: 'license', name: 'Licence' },
        lead: 'What this installation may do.',
      },
    ],
  },
]

export const apiPathOf = ({ path }: ResourceRow): string => `/api/v1/${path}`

/** The row of a path that has the general screen. */
export const rowOf = (path: string): ResourceRow | undefined =>
  groups
    .flatMap(({ rows }) => rows)
    .find((row) => apiPathOf(row) === path && row.screen === undefined)

/** Titles of lists that are shown on another screen, and have one of their own by their address. */
export const unlistedNames: ReadonlyMap<string, string> = new Map([
  ['acme/certificates', 'Certificates'],
  ['acme-dns/keys', 'acme-dns keys'],
  ['dns/written-records', 'Records written at run time'],
  ['zone-transfers', 'Zones from elsewhere'],
  ['zone-pushes', 'Zones pushed elsewhere'],
])

/** The title of the general screen of a path. */
export const titleOfPath = (path: string): string =>
  rowOf(path)?.name ??
  unlistedNames.get(path.slice('/api/v1/'.length)) ??
  path.slice('/api/v1/'.length).replaceAll('/', '.')
