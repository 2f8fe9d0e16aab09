// The layers of gslbd as data: who may import whom, what each may load, which files are hot.

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
    folder: 'schemas',
    says: 'every shape that a person or a client can write',
    mayImport: ['lib', 'dns/name.ts'],
    packages: ['typebox', 'ajv', 'ajv-formats'],
    node: ['net'],
  },
  {
    folder: 'bundle',
    says: 'what the runtime knows: the format, its encoder and its loader. The contract',
    mayImport: ['lib', 'dns'],
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
    folder: 'compiler',
    says: 'files in; a bundle or diagnostics out. No network, no clock, no disk',
    mayImport: ['lib', 'dns', 'schemas', 'bundle', 'routing'],
    packages: ['yaml', 'ajv', 'typebox'],
    node: ['crypto'],
  },
  {
    folder: 'config',
    says: 'the declared objects, whoever stores them, and how operations change them',
    mayImport: ['lib', 'schemas', 'routing', 'compiler'],
    packages: [],
    node: ['crypto'],
  },
  {
    folder: 'gitops',
    says: 'the only folder that touches Git: poll, verify, hold, publish',
    mayImport: ['lib', 'schemas', 'bundle', 'compiler', 'config'],
    packages: ['isomorphic-git'],
    node: 'any',
  },
  {
    folder: 'state',
    says: 'ports for what is neither in Git nor in a bundle, and their adapters',
    mayImport: ['lib'],
    packages: 'any',
    node: 'any',
  },
  {
    folder: 'runtime',
    says: 'sockets, the answer path, health probes, the bundle slot',
    mayImport: ['lib', 'dns', 'bundle', 'routing', 'state/ports'],
    packages: ['koffi'],
    node: 'any',
  },
  {
    folder: 'plan',
    says: 'two bundles in; out comes which clients get another answer',
    mayImport: ['lib', 'dns', 'bundle', 'routing', 'runtime'],
    packages: [],
    node: ['crypto', 'util'],
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
    says: 'servers of others that get what is declared here: compared, and mended',
    mayImport: ['lib', 'bundle/redirects'],
    packages: ['@kubernetes/client-node'],
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
    mayImport: ['lib', 'schemas', 'routing', 'compiler', 'config', 'state/ports'],
    packages: ['jose', 'typebox'],
    node: 'any',
  },
  {
    folder: 'api',
    says: 'HTTP in; a commit or a state change out',
    mayImport: [
      'lib',
      'schemas',
      'bundle',
      'routing',
      'compiler',
      'config',
      'state/ports',
      'alerts',
      'licence',
    ],
    packages: [
      '@fastify/static',
      'ajv',
      'bcrypt',
      'cookie',
      'fast-json-stringify',
      'fastify',
      'jose',
      'openid-client',
      'otpauth',
      'pino',
      'prom-client',
      'qrcode',
      'typebox',
      'ws',
    ],
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
  {
    folder: 'cli',
    says: 'composition roots; the only reader of `process.env`',
    mayImport: [
      'lib',
      'dns',
      'schemas',
      'bundle',
      'routing',
      'compiler',
      'config',
      'gitops',
      'state',
      'runtime',
      'plan',
      'fleet',
      'jobs',
      'integrations',
      'alerts',
      'licence',
      'api',
    ],
    packages: 'any',
    node: 'any',
  },
]

/** Folders of rows, each with the room of its table: they may hold any number of files. */
export const rowsFolders: readonly { readonly folder: string; readonly table: string }[] = [
  { folder: 'dns/rdata', table: 'dns/rdata' },
  { folder: 'compiler/diagnostics', table: 'compiler/diagnostics' },
  { folder: 'compiler/rules/object', table: 'compiler/rules/object' },
  { folder: 'compiler/rules/tree', table: 'compiler/rules/tree' },
  { folder: 'routing/ways', table: 'routing/choose' },
  { folder: 'runtime/health/probes', table: 'runtime/health/probes' },
  { folder: 'schemas/objects', table: 'schemas/objects' },
  { folder: 'state/ports', table: 'state/ports' },
  { folder: 'state/sql/migrations', table: 'state/sql/database' },
  { folder: 'alerts/conditions', table: 'alerts' },
  { folder: 'alerts/kinds', table: 'alerts' },
  { folder: 'api/routes', table: 'api' },
  { folder: 'cli/commands', table: 'cli' },
]

/** Folders that may import anything and that no layer imports. */
export const outside: readonly string[] = ['test', 'bench', 'bin', 'examples', 'docs']

/** What a folder must not reach through any number of imports, types included. */
export const unreachable: readonly { readonly from: string; readonly never: readonly string[] }[] =
  [
    { from: 'runtime', never: ['compiler', 'gitops', 'schemas', 'api', 'jobs', 'cli'] },
    { from: 'compiler', never: ['runtime', 'gitops', 'state', 'api', 'jobs', 'cli'] },
    { from: 'routing', never: ['compiler', 'runtime', 'gitops', 'state', 'api', 'jobs', 'cli'] },
  ]

export interface PurityRule {
  /** A folder, or a file. */
  readonly from: string
  readonly node: readonly string[]
  /** Left out: those of its layer. */
  readonly packages?: readonly string[]
}

/** What a folder or a file may load through any number of run-time imports. */
export const pure: readonly PurityRule[] = [
  { from: 'compiler', node: ['crypto', 'net'] },
  { from: 'routing', node: ['crypto'] },
  { from: 'bundle', node: ['crypto'] },
  { from: 'dns', node: ['crypto'] },
  // Threads that answer: what they load costs memory in each, and keeps queries waiting at a start.
  {
    from: 'runtime/threads/responder.ts',
    node: ['v8', 'vm', 'module', 'crypto', 'worker_threads'],
    packages: [],
  },
  {
    from: 'runtime/threads/stream-worker.ts',
    node: ['v8', 'vm', 'module', 'crypto', 'worker_threads', 'net', 'dgram', 'timers/promises'],
    packages: [],
  },
]

/** Files under the hot-path law; a trailing slash names a folder. Each must exist. */
export const hot: readonly string[] = [
  'runtime/answer/answer.ts',
  'runtime/answer/answer-policy.ts',
  'runtime/answer/query-bucket.ts',
  'runtime/answer/message.ts',
  'runtime/answer/transaction.ts',
  'runtime/answer/question.ts',
  'runtime/answer/lookup.ts',
  'runtime/counters/mark.ts',
  'runtime/answer/dynamic.ts',
  'runtime/answer/records.ts',
  'runtime/answer/rrsets.ts',
  'runtime/answer/written-names.ts',
  'runtime/answer/aliases.ts',
  'runtime/answer/zone-cut.ts',
  'runtime/answer/response-policy.ts',
  'runtime/answer/edns.ts',
  'runtime/answer/chaos.ts',
  'routing/ways/',
  'routing/chain/chain.ts',
  'routing/chain/client.ts',
  'routing/chain/lookup-client.ts',
  'routing/tables/network-tables.ts',
  'routing/chain/networks.ts',
  'routing/chain/prefer.ts',
  'routing/geo/places.ts',
  'routing/chain/scope.ts',
  'routing/chain/scope-cache.ts',
  'routing/chain/outcomes.ts',
  'routing/state/candidate-lists.ts',
  'routing/chain/work-reserve.ts',
  'routing/choose/choose.ts',
  'routing/choose/choose-by-table.ts',
  'routing/choose/table-step.ts',
  'routing/rum/table.ts',
  'routing/script/reorder.ts',
  'routing/tables/range-table.ts',
  'routing/tables/row-groups.ts',
  'runtime/script/client.ts',
  'runtime/counters/batch-timer.ts',
  'runtime/samples/query-sampler.ts',
  'runtime/query-log/query-tap.ts',
  'runtime/threads/look-ahead.ts',
  'runtime/threads/respond.ts',
  'lib/random.ts',
]

/** Started by name, so nobody imports them. What package.json's scripts start counts as well. */
export const entries: readonly string[] = ['cli/main.ts', 'bin/build.ts', 'dashboard/main.tsx']

/** Complete and tested before the part of the product that calls them; each says which one. */
export const awaited: readonly string[] = []

export const sizes = {
  fileLinesMax: 500,
  functionLinesMax: 70,
  columnsMax: 100,
  roomFilesMax: 18,
} as const
