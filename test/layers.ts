// The layers of gslbd as data: who may import whom, what each may load.

export interface Layer {
  readonly folder: string
  /** One line for the reader of ARCHITECTURE.md. */
  readonly says: string
  /** Folders, or parts of one (`dns/name.ts`, `state/ports`), besides the folder itself. */
  readonly mayImport: readonly string[]
  /** npm packages. */
  readonly packages: readonly string[] | 'any'
  /** Modules of Node, without the `node:`. */
  readonly node: readonly string[] | 'any'
}

/** What composition puts together: nearly every layer below it. */
const composed: readonly string[] = [
  'lib dns schemas bundle routing system state answer health journal inputs zones server',
  'diagnostics compiler config judge gitops fleet jobs integrations alerts licence http access',
  'ports api feed external-dns metrics settings import process why questions',
].flatMap((folders) => folders.split(' '))

/** Lowest first. The rows of ARCHITECTURE.md are printed from this table. */
export const layers: readonly Layer[] = [
  {
    folder: 'lib',
    says: 'the few small words all use: Result, assert, clock, random, durations',
    mayImport: [],
    packages: [],
    node: 'any',
  },
  {
    folder: 'dns',
    says: 'the RFCs as pure functions on bytes',
    mayImport: ['lib'],
    packages: [],
    node: ['crypto'],
  },
  {
    folder: 'probes',
    says: 'types of health checks as data: fields, words, what can be wrong; a file for each',
    mayImport: ['lib', 'dns'],
    packages: [],
    node: [],
  },
  {
    folder: 'schemas',
    says: 'every shape that a person or a client can write',
    mayImport: ['lib', 'dns/name.ts', 'probes'],
    packages: ['ajv'],
    node: ['module', 'net'],
  },
  {
    folder: 'bundle',
    says: 'what the runtime knows: the format, its encoder and its loader. The contract',
    mayImport: ['lib', 'dns', 'probes'],
    packages: [],
    node: ['crypto'],
  },
  {
    folder: 'routing',
    says: 'how members are chosen: one table of ways, a file for each',
    mayImport: ['lib', 'dns', 'bundle'],
    packages: ['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync'],
    node: ['crypto'],
  },
  {
    folder: 'state',
    says: 'ports for what is neither in Git nor in a bundle, and their adapters',
    mayImport: ['lib', 'system/worker'],
    packages: 'any',
    node: 'any',
  },
  {
    folder: 'system',
    says: 'what Node does not offer: system calls, sockets by descriptor, threads that end',
    mayImport: ['lib', 'dns', 'routing/choose'],
    packages: ['koffi'],
    node: ['fs', 'module', 'net', 'util', 'worker_threads'],
  },
  {
    folder: 'answer',
    says: 'how a packet becomes an answer; what is counted, sampled and logged of it',
    mayImport: ['lib', 'dns', 'bundle', 'routing', 'system', 'state/ports'],
    packages: [],
    node: ['crypto', 'fs', 'net', 'os', 'worker_threads'],
  },
  {
    folder: 'health',
    says: 'probes, verdicts, and what is known of each member',
    mayImport: ['lib', 'dns', 'probes', 'bundle', 'routing/tables', 'system', 'state/ports'],
    packages: [],
    node: 'any',
  },
  {
    folder: 'journal',
    says: 'what is written down of a node, so that an answer can be explained later',
    mayImport: ['lib', 'dns', 'bundle', 'routing', 'state/ports'],
    packages: [],
    node: ['crypto', 'fs', 'fs/promises', 'path', 'zlib'],
  },
  {
    folder: 'inputs',
    says: 'what answers go by besides bundle and health: geo databases, measurements, host names',
    mayImport: ['lib', 'dns', 'bundle', 'routing', 'system', 'health/thread', 'state/ports'],
    packages: [],
    node: ['dns', 'fs', 'worker_threads'],
  },
  {
    folder: 'zones',
    says: 'zones between servers: transfers, updates, NOTIFY, records written at run time',
    mayImport: [
      'lib',
      'dns',
      'bundle',
      'routing',
      'system',
      'answer',
      'health/probes',
      'inputs/resolve',
      'state/ports',
    ],
    packages: [],
    node: ['crypto', 'dgram', 'dns', 'fs', 'net', 'timers', 'tls', 'worker_threads'],
  },
  {
    folder: 'server',
    says: 'the node that answers: its threads and listeners, and the swap from bundle to bundle',
    mayImport: [
      'lib',
      'dns',
      'bundle',
      'routing',
      'system',
      'answer',
      'health',
      'journal',
      'inputs',
      'zones',
      'state/ports',
    ],
    packages: [],
    node: 'any',
  },
  {
    folder: 'diagnostics',
    says: 'what is said of a faulty configuration: the table of codes, places, printed forms',
    mayImport: ['lib', 'probes'],
    packages: [],
    node: ['crypto'],
  },
  {
    folder: 'compiler',
    says: 'files in; a bundle or diagnostics out. No network, no clock, no disk',
    mayImport: ['lib', 'dns', 'probes', 'schemas', 'bundle', 'routing', 'diagnostics'],
    packages: ['yaml', 'js-yaml'],
    node: ['crypto'],
  },
  {
    folder: 'config',
    says: 'the declared objects, whoever stores them, and how operations change them',
    mayImport: ['lib', 'dns/enclosing-names.ts', 'schemas', 'routing', 'diagnostics', 'compiler'],
    packages: [],
    node: ['crypto'],
  },
  {
    folder: 'judge',
    says: 'what a change does: plan, effects, guardrails, policy tests, simulation',
    mayImport: [
      'lib',
      'dns',
      'schemas',
      'bundle',
      'routing',
      'answer',
      'inputs/geo',
      'diagnostics',
      'compiler',
      'config',
    ],
    packages: [],
    node: ['crypto', 'fs', 'util'],
  },
  {
    folder: 'gitops',
    says: 'the Git side: poll, verify, hold, publish; what walks a history',
    mayImport: ['lib', 'schemas', 'bundle', 'diagnostics', 'compiler', 'config', 'judge'],
    packages: [],
    node: 'any',
  },
  {
    folder: 'fleet',
    says: 'how bundles travel: what a node gives, what a node pulls, the tree of files',
    mayImport: ['lib', 'bundle'],
    packages: [],
    node: 'any',
  },
  {
    folder: 'jobs',
    says: 'what happens on a clock: name, period, function',
    mayImport: ['lib', 'state/ports', 'gitops'],
    packages: [],
    node: 'any',
  },
  {
    folder: 'integrations',
    says: 'servers of others: they get what is declared here, give certificates, tell of members',
    mayImport: [
      ...['lib', 'dns', 'bundle/discovered', 'bundle/redirects', 'routing/tables'],
      ...['inputs/resolve', 'state/ports', 'zones/dynamic', 'ports/acme-dns.ts'],
    ],
    packages: ['@peculiar/x509', 'acme-client', 'aws4fetch', 'saxes', 'yaml'],
    node: 'any',
  },
  {
    folder: 'alerts',
    says: 'conditions, the channels that are told of them, and who in a cluster tells them',
    mayImport: ['lib', 'dns', 'state/ports'],
    packages: ['nodemailer'],
    node: ['crypto', 'dns', 'http', 'https', 'net'],
  },
  {
    folder: 'licence',
    says: 'what the licence permits, with the API off, too',
    mayImport: ['lib', 'schemas', 'routing', 'diagnostics', 'compiler', 'config', 'state/ports'],
    packages: [],
    node: 'any',
  },
  {
    folder: 'http',
    says: 'what requests and answers are made of, before it is known who asks',
    mayImport: ['lib', 'state/ports'],
    packages: ['ajv', 'fast-json-stringify', 'fastify', 'ws'],
    node: ['http', 'net', 'stream', 'util', 'zlib'],
  },
  {
    folder: 'access',
    says: 'who asks, and what they may: credentials, logins, roles',
    mayImport: ['lib', 'schemas', 'config', 'state/ports', 'http'],
    packages: ['bcrypt', 'cookie', 'fastify', 'openid-client', 'otpauth', 'qrcode'],
    node: ['crypto', 'net', 'url'],
  },
  {
    folder: 'ports',
    says: 'what the API, the feed and metrics ask of a running node: a file for each question',
    mayImport: [
      ...['lib', 'bundle', 'routing', 'state/ports', 'diagnostics', 'compiler', 'config'],
      ...['alerts', 'licence', 'http', 'access'],
    ],
    packages: [],
    node: ['stream'],
  },
  {
    folder: 'api',
    says: 'HTTP in; a commit or a state change out',
    mayImport: [
      'lib',
      'schemas',
      'bundle/format',
      'routing',
      'diagnostics',
      'compiler',
      'config',
      'state/ports',
      'alerts',
      'licence',
      'http',
      'access',
      'ports',
    ],
    packages: ['@fastify/static', 'fastify'],
    node: 'any',
  },
  {
    folder: 'feed',
    says: 'changes of the configuration and of health, told over WebSockets',
    mayImport: [
      'lib',
      'compiler/values',
      'config',
      'state/ports',
      'http',
      'access',
      'api/config',
      'ports',
      'api/resources',
    ],
    packages: ['jose'],
    node: ['crypto'],
  },
  {
    folder: 'external-dns',
    says: 'the webhook that external-dns speaks: its endpoints in, one commit out',
    mayImport: [
      ...['lib', 'schemas', 'compiler', 'config', 'licence', 'http', 'access'],
      ...['api/config', 'api/domains', 'ports', 'api/resources', 'api/server'],
    ],
    packages: ['fastify'],
    node: 'any',
  },
  {
    folder: 'metrics',
    says: 'the metrics of a node: one table, printed for Prometheus',
    mayImport: ['probes', 'routing/script', 'state/ports', 'http', 'ports'],
    packages: ['prom-client'],
    node: [],
  },
  {
    folder: 'settings',
    says: 'gslbd.yaml: every key, its type, bounds and meaning',
    mayImport: [
      'lib',
      'schemas',
      'bundle/format',
      'routing/tables',
      'system/process',
      ...['answer/rate-limit/limits.ts', 'health'],
      'server/redirect',
      'diagnostics',
      'compiler',
      'gitops/source',
      'fleet/nodes',
      'licence',
      'access/permissions.ts',
    ],
    packages: [],
    node: ['fs', 'net', 'os', 'path'],
  },
  {
    folder: 'why',
    says: 'answers of the past: looked up, explained, given once more',
    mayImport: [
      'lib',
      'dns',
      'schemas',
      'bundle',
      'routing',
      'answer',
      'journal',
      'inputs',
      'zones/dynamic',
      'server/node',
      'compiler',
      'judge',
      'gitops',
      'settings',
    ],
    packages: [],
    node: ['crypto', 'fs', 'path'],
  },
  {
    folder: 'import',
    says: 'configurations of other systems, zones of other servers in; files of gslbd out',
    mayImport: [
      ...['lib', 'dns', 'schemas', 'bundle/format/limits.ts', 'zones/inbound', 'diagnostics'],
      ...['compiler', 'config', 'settings', 'judge/guard', 'state/ports', 'state/file'],
    ],
    packages: ['yaml'],
    node: ['crypto', 'fs', 'path'],
  },
  {
    folder: 'process',
    says: 'one process and its data directory: lock, keys, log, signals, and the next process',
    mayImport: [
      ...['lib', 'system', 'bundle/signature', 'server/node', 'gitops/trust', 'fleet/nodes'],
      ...['metrics/snapshot.ts', 'settings'],
    ],
    packages: ['pino'],
    node: 'any',
  },
  {
    folder: 'questions',
    says: 'questions to a running node, in threads: simulations, plans, past answers',
    mayImport: [
      ...['lib', 'dns', 'bundle', 'routing', 'system/worker', 'inputs/geo', 'journal'],
      ...['state/ports', 'server/node', 'compiler', 'config', 'judge', 'gitops', 'fleet/delivery'],
      ...['ports', 'why'],
    ],
    packages: [],
    node: 'any',
  },
  {
    folder: 'node',
    says: 'composition: the parts of a running node, started and stopped in order',
    mayImport: composed,
    packages: [],
    node: 'any',
  },
  {
    folder: 'cli',
    says: 'the program `gslbd`: its commands, and what a person sees in the terminal',
    mayImport: [...composed, 'node'],
    packages: 'any',
    node: 'any',
  },
  {
    folder: 'dashboard',
    says: 'the page in the browser: a client of the API, and nothing of the server but its types',
    mayImport: [],
    packages: [
      'preact',
      '@preact/signals',
      'uplot',
      'd3-geo',
      'topojson-client',
      'world-atlas',
      'yaml',
      '@codemirror/autocomplete',
      '@codemirror/commands',
      '@codemirror/lang-yaml',
      '@codemirror/language',
      '@codemirror/lint',
      '@codemirror/state',
      '@codemirror/view',
      '@lezer/highlight',
      'openapi-of-gslbd',
    ],
    node: [],
  },
]

/** Folders of rows, each with the room of its table: they may hold any number of files. */
export const rowsFolders: readonly { readonly folder: string; readonly table: string }[] = [
  { folder: 'probes', table: 'probes' },
  { folder: 'diagnostics', table: 'diagnostics' },
  { folder: 'compiler/rules/object', table: 'compiler/rules/object' },
  { folder: 'compiler/rules/tree', table: 'compiler/rules/tree' },
  { folder: 'routing/ways', table: 'routing/choose' },
  { folder: 'health/probes', table: 'health/probes' },
  { folder: 'schemas/objects', table: 'schemas/objects' },
  { folder: 'state/ports', table: 'state/ports' },
  { folder: 'state/sql/migrations', table: 'state/sql/database' },
  { folder: 'alerts/conditions', table: 'alerts' },
  { folder: 'alerts/kinds', table: 'alerts' },
  { folder: 'ports', table: 'ports' },
  { folder: 'api/routes', table: 'api' },
  { folder: 'cli/commands', table: 'cli' },
]

/** Folders that may import anything and that no layer imports. */
export const outside: readonly string[] = ['test', 'bench', 'bin', 'clients', 'examples', 'docs']

/** Dependencies that nothing imports, each with what runs it. */
export const programs: Readonly<Record<string, string>> = {
  '@types/node': 'npm run types',
  eslint: 'npm run lint',
}

/** What a folder must not reach through any number of imports, types included. */
export const unreachable: readonly { readonly from: string; readonly never: readonly string[] }[] =
  [
    { from: 'server', never: ['compiler', 'gitops', 'schemas', 'api', 'jobs', 'node', 'cli'] },
    { from: 'compiler', never: ['server', 'answer', 'gitops', 'state', 'api', 'node', 'cli'] },
    { from: 'routing', never: ['compiler', 'answer', 'gitops', 'state', 'api', 'node', 'cli'] },
    // They are packages of their own.
    { from: 'clients', never: layers.map(({ folder }) => folder) },
  ]

export interface PurityRule {
  /** A folder, or a file. */
  readonly from: string
  readonly node: readonly string[]
  /** Left out: those of its layer. */
  readonly packages?: readonly string[]
}

const answering = ['v8', 'vm', 'module', 'crypto', 'util', 'worker_threads']

/** What a folder or a file may load through any number of run-time imports. */
export const pure: readonly PurityRule[] = [
  { from: 'compiler', node: ['crypto', 'module', 'net'] },
  { from: 'routing', node: ['crypto'] },
  { from: 'bundle', node: ['crypto'] },
  { from: 'dns', node: ['crypto'] },
  // Threads that answer: what they load costs memory in each, and keeps queries waiting at a start.
  {
    from: 'server/threads/responder.ts',
    ...{ node: answering, packages: [] },
  },
  {
    from: 'server/threads/stream-worker.ts',
    node: [...answering, 'net', 'dgram', 'timers/promises', 'fs', 'tls', 'http2'],
    packages: [],
  },
]

/** Started by name, so nobody imports them. What package.json's scripts start counts as well. */
export const entries: readonly string[] = ['cli/main.ts', 'bin/build.ts', 'dashboard/main.tsx']

export const sizes = {
  fileLinesMax: 500,
  functionLinesMax: 70,
  columnsMax: 100,
  roomFilesMax: 18,
  layerLinesMax: 14_000,
  /** Commands and what a person sees: what a node does stands below. */
  cliLinesMax: 9_000,
} as const
