import { describe, expect, test } from 'vitest'
import { conditionOf, conditions } from '#alerts/conditions.ts'
import type { AlertFacts } from '#alerts/facts.ts'
import { FlapCounter, flapLimits } from '#alerts/flap-counter.ts'
import { operatorId } from '#state/ports/alerts.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { healthyFacts } from '#test/support/alerts.ts'

const dayMs = 86_400_000
const nowMs = Date.UTC(2026, 5, 15)
const settings = { geoMaxAgeMs: 45 * dayMs, expiryWarningMs: 14 * dayMs, diskFreeMinPercent: 5 }
const pool = { uid: 'p1', name: 'web', tenant: 'acme', members: 3 }
const licensed = { isEnforced: true, isValid: true, reason: 'fine', expiresAtMs: null, excess: '' }
const file = { name: 'client', path: '/etc/c.pem', error: '', expiresAtMs: nowMs + 90 * dayMs }
const renewal = {
  entry: '',
  ...{ names: ['a.example.com', 'b.example.com'], failure: null, nextMs: null },
  valid: { fromMs: nowMs, toMs: nowMs + 90 * dayMs },
}
const rollout = { uid: 'r1', name: 'up', tenant: 'acme', pool: 'web', reason: 'RTT went up' }
const member = { uid: 'm1', address: '192.0.2.1', pool: 'web', tenant: 'acme', changes: 7 }
const geo = { setting: 'geoip.dbPath', error: '', builtAtMs: nowMs - dayMs }

const told = { ageSeconds: 300, clockErrorMs: -1_500, refusal: 'it is damaged;' }

type Row = readonly [name: string, facts: Partial<AlertFacts>, found: readonly string[]]

/** Expected findings, as `SEVERITY TENANT SUBJECT: TITLE`. */
const rows: readonly Row[] = [
  ['rollout-regression', {}, []],
  [
    'rollout-regression',
    { regressions: () => [rollout] },
    ['error acme r1: rollout up of pool web was rolled back'],
  ],
  ['pool-without-members', {}, []],
  [
    'pool-without-members',
    { emptyPools: () => [pool, { ...pool, members: 0 }] },
    [
      'critical acme p1: pool web has no member that may answer',
      'critical acme p1: pool web has no member that may answer',
    ],
  ],
  [
    'member-flapping',
    { flapping: () => [{ ...member, windowMs: 600_000 }] },
    ['warning acme m1: member 192.0.2.1 of pool web is flapping'],
  ],
  ['member-down', {}, []],
  [
    'member-down',
    { downMembers: () => [member] },
    ['warning acme m1: member 192.0.2.1 of pool web is down'],
  ],
  ['held-commit', {}, []],
  [
    'held-commit',
    { held: () => ({ code: 'Unsigned', reason: 'A commit has no signature.' }) },
    ['error  configuration: the newest commit is held: Unsigned'],
  ],
  ['geo-database-stale', { geo: () => [geo, { ...geo, builtAtMs: null }] }, []],
  [
    'geo-database-stale',
    {
      geo: () => [
        { ...geo, builtAtMs: nowMs - 46 * dayMs },
        { ...geo, setting: 'asn.dbPath', error: 'it is cut short' },
      ],
    },
    [
      'warning  geoip.dbPath: the database of geoip.dbPath is 46 days old',
      'warning  asn.dbPath: the database of asn.dbPath cannot be used',
    ],
  ],
  ['licence', { licence: () => ({ ...licensed, isEnforced: false, isValid: false }) }, []],
  ['licence', { licence: () => ({ ...licensed, expiresAtMs: nowMs + 15 * dayMs }) }, []],
  [
    'licence',
    { licence: () => ({ ...licensed, isValid: false, reason: 'it has expired' }) },
    ['error  validity: the licence does not count'],
  ],
  [
    'licence',
    { licence: () => ({ ...licensed, expiresAtMs: nowMs + 3 * dayMs + 1, excess: 'two nodes' }) },
    ['warning  expiry: the licence ends in 3 days', 'warning  excess: the licence is exceeded'],
  ],
  ['certificate-renewal', {}, []],
  ['certificate-renewal', { renewals: () => [renewal] }, []],
  [
    'certificate-renewal',
    { renewals: () => [{ ...renewal, failure: 'ca.test cannot be asked', nextMs: nowMs }] },
    ['warning  acme: the certificate of a.example.com and 1 more is not renewed'],
  ],
  [
    'certificate-renewal',
    { renewals: () => [{ ...renewal, names: ['a.example.com'], valid: null, failure: 'no' }] },
    ['error  acme: the certificate of a.example.com is not renewed'],
  ],
  [
    'certificate-renewal',
    {
      renewals: () => [
        {
          ...renewal,
          valid: { fromMs: nowMs - 76 * dayMs, toMs: nowMs + 14 * dayMs },
        },
      ],
    },
    ['warning  acme: the certificate of a.example.com and 1 more is not renewed'],
  ],
  // A certificate of six days is renewed when two are left.
  [
    'certificate-renewal',
    {
      renewals: () => [
        {
          ...renewal,
          valid: { fromMs: nowMs - 4 * dayMs, toMs: nowMs + 2 * dayMs },
        },
      ],
    },
    [],
  ],
  [
    'certificate-renewal',
    {
      renewals: () => [{ ...renewal, valid: { fromMs: nowMs - 91 * dayMs, toMs: nowMs - dayMs } }],
    },
    ['error  acme: the certificate of a.example.com and 1 more is not renewed'],
  ],
  [
    'certificate-renewal',
    { renewals: () => [renewal, { ...renewal, entry: 'inner', failure: 'no' }] },
    [
      'warning  acme.certificates.inner: the certificate of a.example.com and 1 more is not renewed',
    ],
  ],
  ['certificate', { certificates: () => [file] }, []],
  [
    'certificate',
    {
      certificates: () => [
        { ...file, expiresAtMs: nowMs + 2 * dayMs },
        { ...file, name: 'old', expiresAtMs: nowMs },
        { ...file, name: 'gone', error: 'ENOENT', expiresAtMs: null },
      ],
    },
    [
      'warning  client: the certificate client ends in 2 days',
      'error  old: the certificate old has ended',
      'error  gone: the certificate gone cannot be read',
    ],
  ],
  [
    'node-missing',
    { missing: () => [{ node: 'n2', sinceMs: nowMs - 60_000 }] },
    ['error  n2: node n2 is missing'],
  ],
  [
    'drift',
    {
      commits: () =>
        new Map([
          ['n1', 'a'],
          ['n2', 'a'],
        ]),
    },
    [],
  ],
  [
    'drift',
    {
      commits: () =>
        new Map([
          ['n1', 'a'],
          ['n2', ''],
        ]),
    },
    ['warning  configuration: nodes answer from different commits'],
  ],
  [
    'discovery-source',
    {
      discoverySources: () => [
        { name: 'list', state: 'failing', error: 'it is away', held: 0 },
        { name: 'consul', state: 'held', error: '3 of 4 members are not found', held: 3 },
        { name: 'dns', state: 'asking', error: '', held: 0 },
      ],
    },
    [
      'warning  source list: members cannot be discovered by list',
      'warning  source consul: 3 members of consul are not found, and held',
    ],
  ],
  [
    'zone-transfer',
    {
      zoneTransfers: () => [
        { zone: 'a.example.', state: 'failing', serial: 7, error: '192.0.2.53 port 53 is away' },
        { zone: 'b.example.', state: 'held', serial: 7, error: 'It removes 9 of 10 names' },
        { zone: 'c.example.', state: 'current', serial: 7, error: '' },
        { zone: 'e.example.', state: 'refused', serial: undefined, error: 'its NS is no name' },
        { zone: 'd.example.', state: 'expired', serial: 7, error: '192.0.2.53 port 53 is away' },
      ],
    },
    [
      'error  zone a.example.: a.example. cannot be kept up to date from its primary servers; ' +
        'serial 7, which came before, stays',
      'error  zone b.example.: b.example. comes with more changes than guardrails permit, and is ' +
        'held; serial 7, which came before, stays',
      'error  zone e.example.: e.example. is not brought up to date: what its primary servers ' +
        'send cannot be used here; nothing came before: its records are answered SERVFAIL',
      'error  zone d.example.: d.example. has expired: its records are answered SERVFAIL',
    ],
  ],
  [
    'zone-push',
    {
      zonePushes: () => [
        { name: 'aws', zone: 'a.example.', fault: '403; look', held: null, drift: 0 },
        { name: 'lab', zone: 'b.example.', fault: '', held: { deletes: 30, limit: 10 }, drift: 2 },
        { name: 'edge', zone: 'c.example.', fault: '', held: null, drift: 3 },
        { name: 'well', zone: 'd.example.', fault: '', held: null, drift: 0 },
      ],
    },
    [
      'warning  zone push aws: a.example. is not pushed to aws',
      'warning  zone push lab: the push of b.example. to lab is held',
      'warning  zone push edge: 3 records of c.example. at edge are not as they should be',
    ],
  ],
  ['zone-keys', {}, []],
  [
    'zone-keys',
    {
      zoneKeys: () => [
        { kind: 'missing', of: 'far-1', detail: 'Clients that validate get SERVFAIL from it.' },
        { kind: 'stale', of: 'far-2', detail: 'It signs with what it has.' },
        { kind: 'unused', of: 'near-1', detail: 'Keys stay as they are.' },
        { kind: 'behind', of: 'far-3', detail: 'It has not taken newer keys.' },
        { kind: 'left-behind', of: 'far-4', detail: 'It has not taken newer keys.' },
        { kind: 'ds-mismatch', of: 'a.example.', detail: 'The DS is of no key.' },
        { kind: 'waits', of: 'b.example.', detail: 'Key 7 waits for the parent.' },
      ],
    },
    [
      'critical  far-1: missing: node far-1 has no key of a signed zone, which it answers SERVFAIL',
      'warning  far-2: stale: node far-2 gets no answer about keys of zones',
      'error  near-1: unused: keys of zones cannot be used or changed on node near-1',
      'warning  far-3: behind: node far-3 signs with keys of before, and rolls wait for it',
      'error  far-4: left-behind: node far-4 signs with keys of before, and rolls go on without it',
      'error  a.example.: ds-mismatch: the DS records of a.example. at its parent fit no key',
      'warning  b.example.: waits: the roll of the keys of b.example. waits for its parent',
    ],
  ],
  ['delivery-stopped', {}, []],
  [
    'delivery-stopped',
    {
      stoppedDeliveries: () => [
        {
          ...{ channel: 'main', isReturned: true, commit: 'c'.repeat(40) },
          ...{ gate: 'membersDown', wave: 1, value: 100, limit: 20 },
        },
      ],
    },
    ['error  main: commit cccccccccccc was taken back from the nodes'],
  ],
  ['node-degraded', {}, []],
  [
    'node-degraded',
    {
      reasons: () =>
        ['git-unreachable', 'git-held', 'redis-away', 'zone-keys-behind', 'delivery-stopped'].map(
          (code) => ({ code, message: 'The repository is away.' }),
        ),
    },
    [
      'error  git-unreachable: the node is degraded: git-unreachable',
      'warning  redis-away: the node is degraded: redis-away',
      'warning  delivery-stopped: the node is degraded: delivery-stopped',
    ],
  ],
  [
    'node-degraded',
    {
      reasons: () =>
        ['delivery-stopped', 'geo-missing'].map((code) => ({ code, message: 'It is told of.' })),
      geo: () => [{ ...geo, error: 'it is cut short' }],
      stoppedDeliveries: () => [
        {
          ...{ channel: 'main', isReturned: true, commit: 'c'.repeat(40) },
          ...{ gate: 'membersDown', wave: 1, value: 100, limit: 20 },
        },
      ],
    },
    [],
  ],
  ['fleet-degraded', {}, []],
  [
    'fleet-degraded',
    {
      degradedNodes: () =>
        ['zone-key-missing', 'tls-certificate', 'bundle-not-stored'].map((code) => ({
          ...{ node: 'far-1', code },
        })),
    },
    [
      'error  far-1: tls-certificate: node far-1 is degraded: tls-certificate',
      'warning  far-1: bundle-not-stored: node far-1 is degraded: bundle-not-stored',
    ],
  ],
  ['fleet-drift', {}, []],
  [
    'fleet-drift',
    {
      driftedNodes: () =>
        (['missing', 'behind', 'split-seq', 'clock', 'refusing', 'name-taken'] as const).map(
          (kind) => ({ ...{ node: 'far-1', kind, seq: 7 }, ...told }),
        ),
    },
    [
      'error  far-1: missing: node far-1 does not ask for bundles any more',
      'warning  far-1: behind: node far-1 serves an old bundle',
      'critical  far-1: split-seq: node far-1 serves another bundle under the same seq',
      'warning  far-1: clock: the clock of node far-1 is off',
      'error  far-1: refusing: node far-1 refuses a bundle',
      'error  far-1: name-taken: two nodes are called far-1',
    ],
  ],
  [
    'drift',
    {
      redirectTargets: () => [
        { target: 'caddy', mendedLately: 3, fault: '' },
        { target: 'nginx', mendedLately: 2, fault: '' },
        { target: 'cdn', mendedLately: 9, fault: 'the server answers 401' },
      ],
    },
    [
      'warning  redirects of caddy: redirects of caddy are changed by somebody else',
      'warning  redirects of cdn: redirects cannot be written to cdn',
    ],
  ],
  ['disk', { disk: () => ({ fault: '', freePercent: 5 }) }, []],
  ['disk', { disk: () => ({ fault: '', freePercent: null }) }, []],
  [
    'disk',
    { disk: () => ({ fault: '', freePercent: 4.9 }) },
    ['warning  data-directory: 4 % of the disk of the data directory is free'],
  ],
  [
    'disk',
    { disk: () => ({ fault: 'It is read-only.', freePercent: 50 }) },
    ['critical  data-directory: the data directory cannot be written'],
  ],
]

describe('conditions', () => {
  test.each(rows)('%s, by what there is', (name, facts, expected) => {
    const condition = conditionOf(name)!
    const found = condition.find({ ...healthyFacts, nowMs: () => nowMs, ...facts }, settings)
    const lines = found.map(
      ({ severity = condition.severity, tenantId, subject, title }) =>
        `${severity} ${tenantId} ${subject}: ${title}`,
    )
    expect(lines).toEqual(expected)
    for (const { detail } of found) expect(detail).not.toBe('')
  })

  test('each has rows above, and those of the operator concern no tenant', () => {
    expect(new Set(rows.map(([name]) => name))).toEqual(new Set(conditions.map(({ name }) => name)))
    for (const [name, facts] of rows) {
      const condition = conditionOf(name)!
      const found = condition.find({ ...healthyFacts, nowMs: () => nowMs, ...facts }, settings)
      const isOperators = condition.audience === 'operator'
      for (const { tenantId } of found) expect(tenantId === operatorId).toBe(isOperators)
    }
  })

  test('do not hold on a node where all is well', () => {
    const found = conditions.flatMap((condition) => condition.find(healthyFacts, settings))
    expect(found).toEqual([])
  })
})

describe('flapping', () => {
  const time = new FakeTime(nowMs)
  const counter = new FlapCounter(time.clock)
  const changes = () => counter.flapping().map(({ uid, changes: count }) => `${uid} ${count}`)

  test('counts within the window, by member, and forgets', () => {
    for (let i = 1; i < flapLimits.changesMin; i++) {
      counter.note('m1', '192.0.2.1')
      time.pass(1_000)
    }
    counter.note('m2', '192.0.2.2')
    expect(changes()).toEqual([])
    counter.note('m1', '192.0.2.1')
    expect(changes()).toEqual([`m1 ${flapLimits.changesMin}`])
    time.pass(flapLimits.windowMs - 5_000)
    expect(changes()).toEqual([])
    for (let i = 0; i < 1_000; i++) counter.note('m3', '192.0.2.3')
    expect(changes()).toEqual([`m3 ${flapLimits.changesMax}`])
  })
})
