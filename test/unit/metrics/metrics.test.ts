import type { ShownDelivery } from '#ports/deliveries.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createMetrics } from '#metrics/metrics.ts'
import type { MetricsSnapshot, ThreadSnapshot } from '#metrics/snapshot.ts'
import { metricRows } from '#metrics/table.ts'
import { scriptOutcomeNames } from '#routing/script/contract.ts'
import { metricsReference } from './metrics-reference.ts'

const delivery: ShownDelivery = {
  ...{ channel: 'main', phase: 'rolling', onFailure: 'return', phaseSinceMs: 0, verdict: null },
  good: { seq: 8, digest: 'd'.repeat(64), commit: 'c1' },
  target: { seq: 9, digest: 'e'.repeat(64), commit: 'c2' },
  waves: [
    {
      ...{ nodes: 'canary=true', percent: null, holdSeconds: 60, hasBegun: true },
      ...{ adopted: 1, waiting: 0, refused: 0, silent: 0, isShadow: false, shadow: null },
    },
  ],
  ...{ waitsFor: '', decidedBy: 'n1', fault: '', promised: '' },
}

const noScriptSteps = Object.fromEntries(scriptOutcomeNames.map((name) => [name, 0]))
const thread: ThreadSnapshot = {
  thread: 0,
  busyRatio: 0.25,
  udpQueries: 10,
  tcpQueries: 2,
  dropped: 1,
  truncated: 3,
  noCandidate: 4,
  batches: 5,
  sendErrors: 6,
  overLimit: 7,
  rateLimited: [
    { class: 'answer', action: 'drop', count: 3 },
    { class: 'answer', action: 'slip', count: 2 },
  ],
  rateCrowded: 1,
  byRcode: { NOERROR: 8, NXDOMAIN: 4 },
  byType: { A: 7, AAAA: 5, OTHER: 1 },
  byScriptOutcome: { ...noScriptSteps, done: 6, timeout: 2 },
  byCookie: { none: 5, malformed: 1, client: 3, valid: 2, expired: 1, invalid: 0 },
  byProxyOutcome: { client: 3, own: 1, missing: 0, malformed: 2, stranger: 0 },
  times: {
    sumMs: 12,
    classes: [
      { uptoMs: 0.5, count: 3 },
      { uptoMs: 10, count: 1 },
      { uptoMs: Infinity, count: 0 },
    ],
  },
}
const running = {
  build: { version: '0.1.0', node: 'n1' },
  objects: { zones: 1, services: 2, pools: 3 },
  poolMembers: [{ tenant: 'default', pool: 'web', healthy: 2, unhealthy: 1, warming: 0 }],
  isDatabaseUp: true,
  backupAgeSeconds: 90,
  dataDirectory: { freeRatio: 0.5, isWritable: true },
  apiRequests: [{ method: 'GET', route: '/api/v1/pools/{id}', status: 404, count: 3 }],
  pull: {
    sources: [{ fault: null }, { fault: { code: 'unreachable', message: 'gone' } }],
    contactSecondsAgo: 3,
    pulls: { activated: 2, unchanged: 9, unreachable: 1 },
    wireBytes: 4_096,
    deltas: { used: 2, useless: 1 },
  },
  given: { waiting: 4, sending: 1, turnedAway: 5 },
  fleet: { nodes: 3, strangers: 2, drift: { missing: 1, clock: 0 }, delivery },
  threads: [thread, { ...thread, thread: 1, busyRatio: 0.5 }],
  tcp: {
    ...{ open: 1, accepted: 9, refused: 2, evicted: 3 },
    secure: {
      tls: {
        ...{ open: 4, accepted: 8, refused: 1, evicted: 0, queries: 40 },
        ...{ handshakes: 6, resumed: 2, handshakesFailed: 1 },
      },
      https: {
        ...{ open: 2, accepted: 3, refused: 0, evicted: 0, queries: 30 },
        ...{ handshakes: 3, resumed: 1, handshakesFailed: 0 },
      },
      requests: { answered: 30, badRequest: 2, floods: 1 },
    },
  },
  certificates: [
    { name: 'dns.tls', expiresAtMs: 1_800_000_000_000 },
    { name: 'api.tls.certificates.inner', expiresAtMs: 1_900_000_000_000 },
  ],
  health: {
    probes: {
      tcp: { success: 20, failure: 1 },
      http: { timeout: 2 },
      grpc: { success: 4 },
      dns: { success: 5 },
    },
    late: 1,
    targets: 30,
    workerRestarts: 0,
    members: { healthy: 3, unhealthy: 1, warming: 2, unprobed: 1, unresolved: 0 },
    signalled: { healthy: 4, unhealthy: 5 },
    peers: 2,
  },
  exchange: {
    transfers: { started: 3, incremental: 4, current: 2, refused: 1, ended: 0 },
    transfersWhole: { unknown: 2, old: 1, large: 0 },
    transfersRunning: 1,
    transferHistory: { changes: 5, bytes: 6_000 },
    updates: { NOERROR: 4, '4000': 1, '4001': 1 },
    notify: { sent: 8, acknowledged: 6, failed: 1 },
    inbound: { states: { current: 2, held: 1 }, ageSeconds: 5, transfers: 3, failures: 4 },
    signedMessages: {
      valid: 9,
      repeated: 1,
      malformed: 0,
      badkey: 1,
      badsig: 2,
      badtime: 3,
      badtrunc: 0,
    },
    agreedKeys: { agreed: 3, failed: 1, open: 2 },
  },
  feedClients: 7,
  queryLog: { written: 8, droppedFull: 2, droppedAway: 3, bytes: 4_096, isUp: true },
  isRedisUp: false,
  resolve: {
    discovered: {
      references: { found: 2, stale: 1, missing: 0, refused: 1 },
      ...{ members: 12, held: 3, ageSeconds: 4, failures: { consul: 5 } },
    },
    hostnames: { resolved: 3, stale: 1, unresolved: 0 },
    ageSeconds: 90,
    failures: { timeout: 2 },
  },
  responseRules: new Map([['local', 5]]),
  redirects: {
    listener: { open: 2, accepted: 5, refused: 1, logDropped: 0, byStatus: { '301': 4, '404': 1 } },
    targets: [{ target: 'caddy', isUp: true, rules: 7, drift: 3 }],
  },
  zonePushes: [
    {
      ...{ target: 'aws', isUp: true, isHeld: true, written: 9 },
      records: { same: 40, pending: 3, missing: 1, foreign: 2, conflict: 0, skipped: 5 },
    },
  ],
  alerts: {
    ...{ opened: 4, resolved: 3, findings: 2 },
    delivered: new Map([['webhook', { sent: 6, failed: 1 }]]),
  },
  scripts: { benched: 1, killed: 3 },
  signedAhead: { made: 40_000, leftOut: 12 },
  zonesWithoutKey: 3,
  overlays: { rollouts: { running: 2 }, windows: { active: 1, completed: 4 }, regressions: 3 },
  geo: [{ setting: 'asn.dbPath', buildEpoch: 1_700_000_000, networks: 7, isBroken: true }],
  bundle: {
    seq: 7,
    serial: 12,
    digest: 'c'.repeat(64),
    ageSeconds: 12.5,
    expired: false,
    swaps: 7,
    swapSecondsTotal: 0.125,
    swapSecondsLast: 0.015625,
  },
  gitops: {
    sync: 'held',
    head: 'b'.repeat(40),
    accepted: 'a'.repeat(40),
    active: 'a'.repeat(40),
    commitToActiveSeconds: 0.25,
    contactSecondsAgo: 4,
    looseObjects: 32,
    packings: { done: 2, failed: 1, 'no-git': 0 },
  },
  anycast: {
    ...{ isAnnounced: true, isGuarded: false, driver: { isReachable: true } },
    counts: { announced: 3, withdrawn: 2, answered: 40, silent: 5, driverFaults: 1, overruled: 2 },
  },
  journal: { error: null, bytes: 123_456, losses: 1 },
  apiWrites: {
    sumSeconds: 0.75,
    classes: [
      { uptoSeconds: 0.25, count: 2, exemplar: null },
      {
        uptoSeconds: Infinity,
        count: 1,
        exemplar: { traceId: 'c'.repeat(32), seconds: 0.5, atMs: 12_500 },
      },
    ],
  },
  spans: { sent: 40, dropped: 3, refused: 1, waiting: 8 },
} satisfies MetricsSnapshot

const idle: MetricsSnapshot = {
  ...running,
  threads: [],
  responseRules: new Map(),
  bundle: {
    seq: 0,
    serial: 0,
    digest: '',
    ageSeconds: null,
    expired: false,
    swaps: 0,
    swapSecondsTotal: 0,
    swapSecondsLast: null,
  },
  ...{ alerts: null, anycast: null, journal: null, apiWrites: null, spans: null, zonePushes: [] },
  gitops: {
    sync: 'starting',
    head: null,
    accepted: null,
    active: null,
    commitToActiveSeconds: null,
    contactSecondsAgo: null,
    looseObjects: null,
    packings: { done: 0, failed: 0, 'no-git': 0 },
  },
}

/** Lines with samples of our own metrics. */
async function samples(...snapshots: MetricsSnapshot[]): Promise<string[]> {
  let current: MetricsSnapshot = running
  const metrics = createMetrics(() => current)
  let text = ''
  for (const snapshot of snapshots) {
    current = snapshot
    text = await metrics.text()
  }
  return text.split('\n').filter((line) => line.startsWith('gslbd_'))
}

describe('a scrape', () => {
  const expected = [
    'gslbd_build_info{version="0.1.0",node="n1"} 1',
    'gslbd_services 2',
    'gslbd_pool_members{tenant="default",pool="web",health="unhealthy"} 1',
    'gslbd_api_requests_total{method="GET",route="/api/v1/pools/{id}",status="404"} 3',
    'gslbd_dns_answer_seconds_bucket{le="0.0005"} 6',
    'gslbd_dns_answer_seconds_bucket{le="0.01"} 8',
    'gslbd_dns_answer_seconds_bucket{le="+Inf"} 8',
    'gslbd_dns_answer_seconds_sum 0.024',
    'gslbd_dns_answer_seconds_count 8',
    'gslbd_database_up 1',
    'gslbd_backup_age_seconds 90',
    'gslbd_gitops_contact_age_seconds 4',
    'gslbd_resolve_hostnames{state="stale"} 1',
    'gslbd_resolve_age_seconds 90',
    'gslbd_resolve_failures_total{reason="timeout"} 2',
    'gslbd_transfers_total{result="current"} 2',
    'gslbd_transfers_total{result="incremental"} 4',
    'gslbd_transfers_whole_total{reason="unknown"} 2',
    'gslbd_transfers_running 1',
    'gslbd_transfer_history_changes 5',
    'gslbd_transfer_history_bytes 6000',
    'gslbd_updates_total{rcode="NOERROR"} 4',
    'gslbd_updates_total{rcode="other"} 2',
    'gslbd_notify_total{result="acknowledged"} 6',
    'gslbd_signed_messages_total{result="badtime"} 3',
    'gslbd_dns_queries_total{transport="udp"} 20',
    'gslbd_dns_queries_total{transport="tcp"} 4',
    'gslbd_dns_responses_total{rcode="NXDOMAIN"} 8',
    'gslbd_dns_responses_by_type_total{qtype="AAAA"} 10',
    'gslbd_dns_dropped_total 2',
    'gslbd_dns_truncated_total 6',
    'gslbd_dns_no_candidate_total 8',
    'gslbd_dns_send_errors_total 12',
    'gslbd_response_rule_hits_total{source="local"} 5',
    'gslbd_alerts_total{event="opened"} 4',
    'gslbd_alerts_total{event="resolved"} 3',
    'gslbd_alert_findings 2',
    'gslbd_alert_messages_total{kind="webhook",result="sent"} 6',
    'gslbd_alert_messages_total{kind="webhook",result="failed"} 1',
    'gslbd_rollouts{state="running"} 2',
    'gslbd_rollouts{state="rolled_back"} 0',
    'gslbd_rollout_regressions_total 3',
    'gslbd_maintenance_windows{state="active"} 1',
    'gslbd_dnssec_zones_without_key 3',
    'gslbd_dnssec_signed_ahead_total 40000',
    'gslbd_dnssec_ahead_left_out 12',
    'gslbd_thread_queries_total{thread="1"} 12',
    'gslbd_thread_batches_total{thread="0"} 5',
    'gslbd_thread_busy_ratio{thread="1"} 0.5',
    'gslbd_tcp_connections 1',
    'gslbd_feed_clients 7',
    'gslbd_tcp_connection_events_total{event="evicted"} 3',
    'gslbd_probes_total{type="tcp",result="success"} 20',
    'gslbd_probes_total{type="http",result="timeout"} 2',
    'gslbd_probes_total{type="grpc",result="success"} 4',
    'gslbd_probes_total{type="dns",result="success"} 5',
    'gslbd_probes_late_total 1',
    'gslbd_probe_targets 30',
    'gslbd_probe_worker_restarts_total 0',
    'gslbd_members{health="unhealthy"} 1',
    'gslbd_members{health="warming"} 2',
    'gslbd_members_unprobed 1',
    'gslbd_members_signalled{health="unhealthy"} 5',
    'gslbd_peer_nodes 2',
    'gslbd_redis_up 0',
    `gslbd_bundle_info{digest="${'c'.repeat(64)}"} 1`,
    'gslbd_bundle_seq 7',
    'gslbd_soa_serial 12',
    'gslbd_bundle_age_seconds 12.5',
    'gslbd_bundle_expired 0',
    'gslbd_bundle_swaps_total 7',
    'gslbd_bundle_swap_seconds_total 0.125',
    'gslbd_bundle_last_swap_seconds 0.015625',
    `gslbd_gitops_commit_info{stage="head",commit="${'b'.repeat(40)}"} 1`,
    'gslbd_gitops_sync_state{state="held"} 1',
    'gslbd_gitops_sync_state{state="synced"} 0',
    'gslbd_gitops_commit_to_active_seconds 0.25',
    'gslbd_api_write_seconds_bucket{le="0.25"} 2',
    'gslbd_api_write_seconds_bucket{le="+Inf"} 3',
    'gslbd_api_write_seconds_sum 0.75',
    'gslbd_api_write_seconds_count 3',
    'gslbd_trace_spans_total{outcome="dropped"} 3',
    'gslbd_trace_spans_waiting 8',
  ]
  test.each(expected)('shows %s', async (line) => {
    expect(await samples(running)).toContain(line)
  })

  test('shows every row of the table', async () => {
    const shown = new Set((await samples(running)).map((line) => line.split(/[ {]/)[0]))
    const families = [...shown].map((name) => name?.replace(/_(bucket|sum|count)$/, ''))
    expect([...new Set(families)].sort()).toEqual(metricRows.map(({ name }) => name).sort())
  })

  test('is OpenMetrics on request, with the trace of a write', async () => {
    const text = await createMetrics(() => running).text('openmetrics')
    const lines = text.split('\n')
    expect(lines).toContain('# TYPE gslbd_trace_spans counter')
    expect(lines).toContain('gslbd_trace_spans_total{outcome="dropped"} 3')
    expect(lines).toContain(
      `gslbd_api_write_seconds_bucket{le="+Inf"} 3 # {trace_id="${'c'.repeat(32)}"} 0.5 12.5`,
    )
    expect(text).toMatch(/[^\n]\n# EOF\n$/)
  })

  test('does not add up scrapes', async () => {
    expect(await samples(running, running, running)).toEqual(await samples(running))
  })

  test('forgets the digest and the commits that are no longer true', async () => {
    const next: MetricsSnapshot = {
      ...running,
      bundle: { ...running.bundle, digest: 'd'.repeat(64) },
      gitops: { ...running.gitops, head: 'e'.repeat(40) },
    }
    const lines = await samples(running, next)
    expect(lines.filter((line) => line.startsWith('gslbd_bundle_info'))).toEqual([
      `gslbd_bundle_info{digest="${'d'.repeat(64)}"} 1`,
    ])
    expect(lines.join('\n')).not.toContain('b'.repeat(40))
  })

  test('leaves out what is not known yet, instead of a 0 that reads as fresh', async () => {
    const names = (await samples(idle)).map((line) => line.split(/[ {]/)[0])
    for (const name of [
      'gslbd_bundle_info',
      'gslbd_bundle_age_seconds',
      'gslbd_bundle_last_swap_seconds',
      'gslbd_gitops_commit_info',
      'gslbd_gitops_commit_to_active_seconds',
    ]) {
      expect(names).not.toContain(name)
    }
    expect(names).toContain('gslbd_bundle_seq')
  })

  test('has the process itself', async () => {
    const text = await createMetrics(() => running).text()
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
    expect(text).toMatch(/^process_cpu_seconds_total [\d.]+$/m)
  })
})

test('sources of response rules beyond a hundred share one series', async () => {
  const names = Array.from({ length: 103 }, (_, i) => `feed-${String(i).padStart(3, '0')}`)
  const responseRules = new Map(names.map((name) => [name, 2]))
  const lines = (await samples({ ...running, responseRules })).filter((line) =>
    line.startsWith('gslbd_response_rule_hits_total'),
  )
  expect(lines).toHaveLength(101)
  expect(lines).toContain('gslbd_response_rule_hits_total{source="other"} 6')
})

test('unknown types and codes share one series', async () => {
  const odd = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`TYPE${i + 1000}`, 1]))
  const lines = await samples({
    ...running,
    threads: [{ ...thread, byType: { ...odd, A: 1 }, byRcode: { RCODE11: 3 } }],
  })
  expect(lines.filter((line) => line.includes('qtype='))).toEqual([
    'gslbd_dns_responses_by_type_total{qtype="other"} 500',
    'gslbd_dns_responses_by_type_total{qtype="A"} 1',
  ])
  expect(lines).toContain('gslbd_dns_responses_total{rcode="other"} 3')
})

describe('the table keeps the conventions of Prometheus', () => {
  test.each(metricRows)('$name', ({ name, type, labels, help }) => {
    expect(name).toMatch(/^gslbd_[a-z]+(_[a-z]+)*$/)
    expect(name.endsWith('_total')).toBe(type === 'counter')
    expect(name).not.toMatch(/_(counter|gauge|count|sum|bucket)$/)
    // Base units only, as suffixes: https://prometheus.io/docs/practices/naming/
    expect(name).not.toMatch(
      /_(ms|millis|milliseconds|microseconds|minutes|hours|percent|kb|mb)(_|$)/,
    )
    expect(help).toMatch(/^[A-Z0-9].*\.$/)
    for (const label of labels) expect(label).toMatch(/^[a-z]+(_[a-z]+)*$/)
  })

  test('and no two rows share a family', () => {
    const families = metricRows.map(({ name }) => name.replace(/_total$/, ''))
    expect(new Set(families).size).toBe(families.length)
  })

  test('and each sample has exactly the labels of its row', () => {
    for (const { name, labels, read } of metricRows) {
      for (const sample of read(running)) {
        if (['_sum', '_count'].includes(sample.suffix ?? '')) continue
        expect(Object.keys(sample.labels).sort(), name).toEqual([...labels].sort())
      }
    }
  })
})

test('docs/reference/metrics.md is up to date (GSLBD_UPDATE=1 rewrites it)', () => {
  const path = 'docs/reference/metrics.md'
  if (process.env['GSLBD_UPDATE'] === '1') writeFileSync(path, metricsReference())
  expect(readFileSync(path, 'utf8')).toBe(metricsReference())
})
