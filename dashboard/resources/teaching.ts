// What each resource is for, and how one begins, where its list is empty.

/** By path: one line under the title, and what an empty list says. */
export const teaching: Readonly<Record<string, readonly [lead: string, empty?: string]>> = {
  '/api/v1/records': [
    'Plain records of your zones, beside the services.',
    'Add what a zone has besides services: MX, TXT, CAA, or the addresses of a single host.',
  ],
  '/api/v1/domains': [
    'Domains that are delegated to this server by others.',
    'Register a domain, put the record it shows into the parent zone, then verify.',
  ],
  '/api/v1/redirects': [
    'Names that lead browsers to another address.',
    'A redirect answers HTTP for a name and sends the browser on.',
  ],
  '/api/v1/rpz/rules': [
    'Answers that go before everything else: a firewall for DNS.',
    'Block or rewrite names or clients here.',
  ],
  '/api/v1/dns/txt-records': [
    'TXT records that programs set at run time, for certificates above all.',
    'ACME clients put their challenges here, by RFC 2136 or by the API.',
  ],
  '/api/v1/dns/tsig-keys': [
    'Keys that sign updates and transfers.',
    'Make a key for each program that updates records or transfers zones.',
  ],
  '/api/v1/rollouts': [
    'A new member gets its weight step by step, and loses it when it does worse.',
    'Begin one when a member is new or changed, and watch it grow.',
  ],
  '/api/v1/maintenance-windows': [
    'Members leave the answers for a while, and come back by themselves.',
    'Plan one before you work on a machine.',
  ],
  '/api/v1/cluster/nodes': ['The nodes that share this state, and what each serves.'],
  '/api/v1/alerts': [
    'Who is told when something is wrong.',
    'Add a webhook, a mailbox, Slack or PagerDuty, then send a test.',
  ],
  '/api/v1/alerts/events': [
    'What alerts have begun and ended.',
    'When a condition is met, it is listed here with its time.',
  ],
  '/api/v1/alerts/silences': [
    'Conditions that nobody is told of for a while.',
    'Silence what you know about, so that other alerts are heard.',
  ],
  '/api/v1/bgp': [
    'Addresses that this node announces by BGP, or why it does not.',
    'Set anycast.driver in the settings: routers then send each client to the nearest node.',
  ],
  '/api/v1/unused': ['What no query has used lately, and TTLs that could be better.'],
  '/api/v1/settings': ['Settings of this node, from file and environment, and of the repository.'],
  '/api/v1/license': ['What this installation may do.'],
  '/api/v1/usage': ['Queries and calls of the last week, by hour.'],
  '/api/v1/users': ['Who may sign in.', 'Invite the first colleague with New.'],
  '/api/v1/roles': ['What people may do; three are built in.', 'Make one where these do not fit.'],
  '/api/v1/tenants': ['Teams that see nothing of each other.', 'All are of the tenant default.'],
}
