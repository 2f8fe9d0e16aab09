// Lists every key of gslbd.yaml: its type, bounds, default and meaning, and whether SIGHUP applies
// it.
import { healthPolicies } from '#health/view/policy.ts'
import {
  boolean,
  certificates,
  choice,
  database,
  duration,
  integer,
  names,
  nodeNamePattern,
  networks,
  pemFile,
  section,
  serverCertificates,
  settled,
  text,
} from '#settings/forms/forms.ts'
import { valueNames } from '#bundle/format/routing-text.ts'
import type { SettingLeaf } from '#settings/forms/forms.ts'
import { acme } from '#settings/sections/acme.ts'
import { acmeDns } from '#settings/sections/acme-dns.ts'
import { alerts } from '#settings/sections/alerts.ts'
import { anycast } from '#settings/sections/anycast.ts'
import { backup } from '#settings/sections/backup.ts'
import { journal } from '#settings/sections/journal.ts'
import { databaseSection, redis } from '#settings/sections/stores.ts'
import { bundle, roles } from '#settings/sections/bundle.ts'
import { discovery } from '#settings/sections/discovery.ts'
import { dns } from '#settings/sections/dns.ts'
import { externalDns } from '#settings/sections/external-dns.ts'
import { node } from '#settings/sections/node.ts'
import { license } from '#settings/sections/license.ts'
import { oidc } from '#settings/sections/oidc.ts'
import { queryLog } from '#settings/sections/query-log.ts'
import { redirect } from '#settings/sections/redirect.ts'
import { telemetry } from '#settings/sections/telemetry.ts'
import { zonePush } from '#settings/pushes/zone-push.ts'

const statusPage = section(
  'A page at `/status/` that says to everybody whether chosen names are well. ' +
    '[More](../operations/dashboard.md#a-public-status-page).',
  {
    names: names({
      description:
        'Domains of services, in the order of the page. Empty: there is no page. Everybody who ' +
        'reaches the API reads them.',
    }),
    title: text(100, { default: 'Status', description: 'Its heading.' }),
  },
)

const apiTls = section(
  'TLS for the API and the dashboard: `api.port` then speaks https alone. ' +
    '[More](../operations/certificates.md).',
  {
    certFile: pemFile(
      'File with the certificate, and those that lead to its root; both files are read again ' +
        'when they change.',
    ),
    keyFile: pemFile('File with its private key.'),
    certificates: serverCertificates('More certificates'),
    acme: boolean({
      default: false,
      description:
        'Whether the certificate is the one of `acme`, in the place of `certFile`; it is behind ' +
        'those of `certificates`.',
    }),
  },
)

const api = section('The HTTP API. [More](../operations/access.md).', {
  enabled: boolean({ default: false, description: 'Whether the API listens.' }),
  listenAddr: text(45, {
    default: '127.0.0.1',
    'x-kind': 'address',
    description:
      'Address of the API. Without GSLB_API_KEY it must be of this machine alone: every request ' +
      "is then the system administrator's.",
  }),
  port: integer(0, 65_535, {
    default: 8_080,
    description: 'TCP port of the API. 0 takes a free one and logs it.',
  }),
  tls: apiTls,
  trustedProxies: networks({
    description:
      'Proxies in front of the API, whose X-Forwarded-For, -Proto and -Host are believed. ' +
      'Otherwise the address of the connection is that of the client, and one client has half of ' +
      'all connections at most.',
  }),
  allowDevMode: boolean({
    default: false,
    description:
      'Lets the API listen beyond this machine without GSLB_API_KEY. Everybody who reaches it ' +
      'may then change everything.',
  }),
  maxWebSocketClients: integer(0, 100_000, {
    default: 1_000,
    description:
      'Open connections of the feed; one tenant takes at most half of them. 0 turns it off. ' +
      '[More](../operations/feed.md).',
  }),
  webuiPath: text(4_096, {
    'x-kind': 'path',
    'x-default': 'none',
    'x-expected': 'the path of a directory with an index.html',
    description:
      'Directory of another web dashboard than the one that comes with gslbd, served at `/ui/`. ' +
      'Everybody who reaches the API can read all in it but what begins with a dot. ' +
      '[More](../operations/access.md#a-web-dashboard-of-your-own).',
  }),
  statusPage,
})

const auth = section('Logins. [More](../operations/access.md).', {
  sessionTTL: duration({
    default: '24h',
    minimumMs: 60_000,
    maximumMs: 365 * 86_400_000,
    description: 'Life of a session.',
  }),
  sessionExtend: boolean({
    default: true,
    description: 'Whether the life of a session begins anew with each of its requests.',
  }),
  bcryptCost: integer(10, 14, {
    default: 12,
    description:
      'Work of one password check: each step doubles it. 12 takes a quarter of a second.',
  }),
  setupEndpoint: boolean({
    default: true,
    description:
      'Whether POST /api/v1/auth/setup creates the first account; from then on it is 404 for ' +
      'ever, also when all are deleted. `gslbd serve --create-admin` does it otherwise.',
  }),
  oidc,
})

const gitops = section('Where the configuration comes from and whose signatures are believed.', {
  url: text(2_000, {
    default: '',
    'x-kind': 'git-url',
    description:
      'Address of the configuration repository: https://, http://, ssh://git@host/path or ' +
      'git@host:path. Empty: the bare repository `config.git` in the data directory is the ' +
      'origin. An address with a password belongs in GSLB_GITOPS_URL, not in the file. It needs ' +
      'the program git, and for SSH also ssh. [More](../operations/trust.md#credentials).',
  }),
  sshKey: text(4_096, {
    'x-kind': 'path',
    'x-default': '`ssh_key` in the data directory',
    description: 'Private key for a remote over SSH, without a passphrase.',
  }),
  knownHosts: text(4_096, {
    'x-kind': 'path',
    'x-default': '`known_hosts` in the data directory',
    description: 'Host keys that are believed of a remote over SSH; no other one is.',
  }),
  branch: text(200, {
    default: 'main',
    pattern: '^(?!.*(\\.\\.|//|\\.lock$))[A-Za-z0-9_]([A-Za-z0-9_./-]*[A-Za-z0-9_-])?$',
    'x-expected': 'the name of a branch, such as main',
    description: 'Branch that is served.',
  }),
  poll: duration({
    default: '30s',
    minimumMs: 1_000,
    maximumMs: 86_400_000,
    reload: true,
    description:
      'How often a remote is asked for a new head. The local origin is watched and needs no poll.',
  }),
  packAfterObjects: integer(0, 1_000_000, {
    default: 2_000,
    description:
      'Loose objects of the repository in the data directory after which git packs them; a write ' +
      'makes about five. 0: never. [More](../operations/backups.md#the-size-of-the-repository).',
  }),
  requireSignature: boolean({
    default: true,
    description: 'Whether every commit must carry a signature by a key of `allowedSigners`.',
  }),
  checkPushes: boolean({
    default: true,
    'x-reload': true,
    description:
      'Whether a push to `config.git` in the data directory that the node would hold is refused, ' +
      'with the reason on the terminal of who pushes. ' +
      '[More](../operations/trust.md#the-verdict-at-the-push).',
  }),
  allowedSigners: text(4_096, {
    'x-kind': 'path',
    'x-default': '`allowed_signers` in the data directory',
    'x-reload': true,
    description: 'OpenSSH allowed_signers file with the keys whose commits are accepted.',
  }),
})

/** The file, as people write it. Defaults are defined here and nowhere else. */
export const SettingsFile = settled(
  {
    dataDir: text(4_096, {
      default: './data',
      'x-kind': 'path',
      description:
        'Directory for bundles, keys and the local origin. Written in the file, it is ' +
        'relative to the file; the default is in the working directory, wherever the file is.',
    }),
    roles,
    dns,
    bundle,
    node,
    api,
    acme,
    acmeDns,
    auth,
    database: databaseSection,
    redis,
    backup,
    journal,
    alerts,
    anycast,
    gitops,
    domains: section('Delegated domains. [More](../operations/domains.md).', {
      verifyInterval: duration({
        default: '10m',
        minimumMs: 30_000,
        maximumMs: 7 * 86_400_000,
        description:
          'From one check of a domain to the next, give or take a tenth. One of several nodes ' +
          'that share a database makes it.',
      }),
      allowPrivate: boolean({
        default: false,
        description:
          'Whether checks ask servers at private and other special-purpose addresses (RFC 6890), ' +
          'too: for zones of an internal network. Addresses that gslb.yaml gives for its own ' +
          'name servers are always asked.',
      }),
    }),
    externalDns,
    discovery,
    license,
    queryLog,
    redirect,
    telemetry,
    zonePush,
    health: section('Health probes.', {
      enabled: boolean({
        default: false,
        description:
          'Whether members are probed. Without probes every member counts as healthy, whatever ' +
          'outside monitors say of it.',
      }),
      allowScriptChecks: boolean({
        default: false,
        description:
          'Whether health checks of type `script` run. They run with the rights of this process: ' +
          'whoever may push to the configuration may then run programs here. While it is false, ' +
          'the API and `gslbd check` refuse such a check; one that comes by Git is not run, and ' +
          'its pool counts as without a check.',
      }),
      probers: integer(0, 100, {
        default: 0,
        description:
          'How many nodes of a site (`node.labels`: `region`, or else `site`) probe a member, ' +
          'where nodes tell each other what they find. The others go by their word. 0: each ' +
          'node probes every member. [More](../operations/health-fleet.md).',
      }),
      webhookAllowedHosts: networks({
        description:
          'Internal addresses and networks that health checks of type `webhook` may ask. ' +
          'Loopback, link-local, private, shared, documentation and other reserved addresses are ' +
          'refused otherwise.',
      }),
      clientCertificates: certificates({
        description:
          'Client certificates that health checks of type `http` and `grpc` may show, by the ' +
          'name that they use: PEM files, each `{ cert: PATH, key: PATH, tenants: [ID, …] }`. ' +
          'Renewed files are taken over within half a minute. Without `tenants` only the tenant ' +
          '`default` may use it.',
      }),
    }),
    state: section('Whose health decides, where several nodes tell each other what they see.', {
      healthPolicy: choice([...healthPolicies], {
        default: 'local-or-global-fallback',
        description:
          '`local-only`: the probes of this node. `prefer-local`: those, and before the first ' +
          'one the word of the other nodes. `local-or-global-fallback`: also when its last probe ' +
          'is older than three intervals. `global-any-healthy`: healthy where any node says so. ' +
          '`global-quorum`: where `quorumMinPercent` of them do. ' +
          '[More](../operations/health.md#whose-health-decides).',
      }),
      quorumMinPercent: integer(1, 100, {
        default: 51,
        description: 'Share of the nodes that must say healthy under `global-quorum`, in percent.',
      }),
      nodeName: text(253, {
        pattern: nodeNamePattern,
        'x-default': "the machine's host name",
        'x-expected': 'letters, digits, dots, dashes and underscores',
        description:
          'Name of this node to the others and in the API. No two nodes that share a ' +
          '`redis.url` or a `database.url` may have the same.',
      }),
    }),
    geoip: section('Where clients are. [More](../operations/geo-data.md).', {
      dbPath: database(
        'A city or country database. Cities have places on the globe, for `geo-ip`.',
      ),
      countClients: boolean({
        default: true,
        description:
          'Whether the node counts by country where a sample of the queries comes from, for ' +
          'the dashboard. No address is kept.',
      }),
    }),
    asn: section('Whose networks clients are in.', {
      dbPath: database('A database of autonomous systems.'),
    }),
    latency: section('What latency routing knows of clients.', {
      geoipDBPath: database('A country database of its own; otherwise that of `geoip.dbPath`.'),
    }),
    logging: section('The log, on standard output.', {
      format: choice(['auto', 'text', 'json'], {
        default: 'auto',
        description:
          '`text` for people, `json` for machines, `auto`: text on a terminal and JSON ' +
          'elsewhere. In text an error is its message; its stack is shown at level `debug`.',
      }),
      level: choice(['debug', 'info', 'warn', 'error'], {
        default: 'info',
        'x-reload': true,
        description: 'Least severe message that is written.',
      }),
      pseudonymous: boolean({
        default: false,
        description:
          'Whether the log, the audit log and its copy name accounts by their ids alone, without ' +
          'e-mail addresses.',
      }),
    }),
  },
  {
    additionalProperties: false,
    title: 'gslbd settings',
    description: 'Settings of one gslbd node: gslbd.yaml.',
  },
)

/** A section, or a setting when it has no properties. */
interface Tree {
  readonly properties?: Readonly<Record<string, Tree>>
}
const tree = SettingsFile as Tree

/**
 * Settings that change answers belong in the repository, so that all nodes agree. They are listed
 * here by name, so that a node which only answers does not load their schemas.
 */
export const repositoryKeys: readonly string[] = Object.freeze(
  [
    'asn.rules',
    'defaults',
    'geoip.endpointLocations',
    'guardrails',
    'latency.fallbackRegion',
    'latency.minRTTThresholdMs',
    'latency.regionBonusMultiplier',
    'mapFile',
    'names',
    'rateLimitExempt',
    'zones',
    ...valueNames.filter((name) => !keysUnder([]).includes(name)),
  ].sort(),
)

/** Settings that are accepted but not used, with the reason. */
export const ignoredSettings: Readonly<Record<string, string>> = Object.freeze({
  'database.cacheTTL':
    'No answer is read from the database: answers come from the active commit, in memory, and ' +
    'follow a change at once.',
})

export interface SettingRow {
  /** The key as people write it: `dns.tcp.idleTimeout`. */
  readonly key: string
  readonly path: readonly string[]
  readonly leaf: SettingLeaf
}

/** Every setting, in the order of the schema. */
export const settingRows: readonly SettingRow[] = Object.freeze([...rowsOf(tree, [])])

function* rowsOf(schema: Tree, path: readonly string[]): Generator<SettingRow> {
  const { properties } = schema
  if (properties === undefined) {
    yield { key: path.join('.'), path, leaf: schema as SettingLeaf }
    return
  }
  for (const [name, child] of Object.entries(properties)) yield* rowsOf(child, [...path, name])
}

/** Names that may stand under `path`, for a did-you-mean. */
export function keysUnder(path: readonly string[]): readonly string[] {
  let node: Tree | undefined = tree
  for (const name of path) node = node?.properties?.[name]
  return Object.keys(node?.properties ?? {})
}
