// Lists the metrics. Adding one means a row, here or in the file of its topic, and its snapshot.
import type { GitopsSnapshot, MetricsSnapshot, ThreadSnapshot } from './snapshot.ts'
import { alertRows } from './alerts.ts'
import { anycastRows } from './anycast.ts'
import { journalRows } from './journal.ts'
import { healthRows } from './health.ts'
import { exchangeRows } from './exchange.ts'
import { fleetRows } from './fleet.ts'
import { bounded, metricsOf } from './samples.ts'
import type { Metric, MetricRow, MetricRows, Reading, Sample } from './samples.ts'
import { queryLogRows } from './query-log.ts'
import { redirectRows, zonePushRows } from './redirects.ts'
import { resolveRows } from './resolve.ts'
import { timeRows, writeRows } from './times.ts'
import { siteRows } from './site.ts'
import { tlsRows } from './tls.ts'
import { scriptRows } from './scripts.ts'
import { syncStates } from '#ports/operator-view.ts'

/** Values of labels; anything else is counted as `other`, so that no client can add a series. */
const known = {
  outcome: ['client', 'own', 'missing', 'malformed', 'stranger'],
  qtype: 'A NS CNAME SOA PTR HINFO MX TXT AAAA SRV DS DNSKEY SVCB HTTPS AXFR IXFR ANY CAA'.split(
    ' ',
  ),
  rcode: 'NOERROR FORMERR SERVFAIL NXDOMAIN NOTIMP REFUSED NOTAUTH BADVERS BADCOOKIE'.split(' '),
  rollout: 'pending running paused promoted rolled_back'.split(' '),
  window: 'scheduled active completed'.split(' '),
} as const

const total = (threads: readonly ThreadSnapshot[], read: (thread: ThreadSnapshot) => number) =>
  threads.reduce((sum, thread) => sum + read(thread), 0)
const perThread = (read: (thread: ThreadSnapshot) => number) => (snapshot: MetricsSnapshot) =>
  snapshot.threads.map((thread) => ({
    value: read(thread),
    labels: { thread: String(thread.thread) },
  }))

const queries: MetricRows = {
  gslbd_dns_queries_total: {
    help: 'Queries received, by transport.',
    labels: ['transport'],
    read: ({ threads }) => [
      { value: total(threads, ({ udpQueries }) => udpQueries), labels: { transport: 'udp' } },
      { value: total(threads, ({ tcpQueries }) => tcpQueries), labels: { transport: 'tcp' } },
    ],
  },
  gslbd_dns_responses_total: {
    help: 'Responses sent, by response code.',
    labels: ['rcode'],
    read: ({ threads }) => sumBy(threads, 'byRcode', 'rcode'),
  },
  gslbd_dns_responses_by_type_total: {
    help: 'Responses sent, by the type that was asked for.',
    labels: ['qtype'],
    read: ({ threads }) => sumBy(threads, 'byType', 'qtype'),
  },
  gslbd_dns_dropped_total: {
    help: 'Packets that got no response: responses, fragments of a header.',
    read: ({ threads }) => total(threads, ({ dropped }) => dropped),
  },
  gslbd_dns_truncated_total: {
    help: 'Responses with TC set, whose client asks again over TCP.',
    read: ({ threads }) => total(threads, ({ truncated }) => truncated),
  },
  gslbd_dns_no_candidate_total: {
    help: 'Responses without a record because no member of the pool could answer.',
    read: ({ threads }) => total(threads, ({ noCandidate }) => noCandidate),
  },
  gslbd_dns_send_errors_total: {
    help: 'Responses that the kernel did not take.',
    read: ({ threads }) => total(threads, ({ sendErrors }) => sendErrors),
  },
  gslbd_dns_proxy_headers_total: {
    help:
      'Datagrams and connections by their PROXY header, where dns.proxyProtocol names proxies: ' +
      "taken as the client's, the proxy's own, or refused as missing, malformed, of a stranger.",
    labels: ['outcome'],
    read: ({ threads }) => sumBy(threads, 'byProxyOutcome', 'outcome'),
  },
  gslbd_dns_over_limit_total: {
    help: 'Queries answered SERVFAIL because they were more a second than the licence permits.',
    read: ({ threads }) => total(threads, ({ overLimit }) => overLimit),
  },
  gslbd_dns_cookies_total: {
    help:
      'Queries by what they say of DNS cookies: `none`, `malformed`, `client` (it has none of ' +
      'ours yet), `valid`, `expired` or `invalid`.',
    labels: ['cookie'],
    read: ({ threads }) =>
      Object.keys(threads[0]?.byCookie ?? {}).map((cookie) => ({
        value: total(threads, ({ byCookie }) => byCookie[cookie]!),
        labels: { cookie },
      })),
  },
}

const rateLimits: MetricRows = {
  gslbd_dns_rate_limited_total: {
    help:
      'Answers beyond a limit of `dns.rrl`, by class: `drop`: not sent; `slip`: sent empty, with ' +
      'TC; `would`: sent all the same, for a dry run.',
    labels: ['class', 'action'],
    read: ({ threads }) =>
      (threads[0]?.rateLimited ?? []).map(({ class: name, action }, i) => ({
        value: threads.reduce((sum, { rateLimited }) => sum + rateLimited[i]!.count, 0),
        labels: { class: name, action },
      })),
  },
  gslbd_dns_rate_limit_crowded_total: {
    help:
      'Answers for which `dns.rrl` had no bucket of their own: where it rises, ' +
      '`dns.rrl.tableSize` is too small.',
    read: ({ threads }) => threads.reduce((sum, { rateCrowded }) => sum + rateCrowded, 0),
  },
}

const signing: MetricRows = {
  gslbd_dnssec_zones_without_key: {
    help:
      'Zones that are to be signed and have no key on this node, which answers them SERVFAIL to ' +
      'clients that validate. Its health and its log say why.',
    read: ({ zonesWithoutKey }) => zonesWithoutKey,
  },
  gslbd_dnssec_signed_ahead_total: {
    help:
      'Signatures that were made before anybody asked: of records, members and denials. It rises ' +
      'after a start, a new configuration or other keys, and a little each day.',
    read: ({ signedAhead }) => signedAhead.made,
  },
  gslbd_dnssec_ahead_left_out: {
    help:
      'Signatures that had no place in the table at the last look: each is made when it is asked ' +
      'for. Where it stays above 0, signed zones have more than there is memory for.',
    read: ({ signedAhead }) => signedAhead.leftOut,
  },
}

/** A label for each source of response rules would be as many series as people write files. */
const sourcesMax = 100

const responseRules: MetricRows = {
  gslbd_response_rule_hits_total: {
    help: 'Questions that a response rule answered or let pass, by the source of the rule.',
    labels: ['source'],
    read: ({ responseRules: hits }) => {
      const named = [...hits].toSorted(([a], [b]) => (a < b ? -1 : 1))
      const rest = named.splice(sourcesMax).reduce((sum, [, value]) => sum + value, 0)
      const samples = named.map(([source, value]) => ({ value, labels: { source } }))
      return rest === 0 ? samples : [...samples, { value: rest, labels: { source: 'other' } }]
    },
  },
}

const threads: MetricRows = {
  gslbd_thread_queries_total: {
    help: 'Queries received, by responder thread. Uneven: the kernel spreads clients unevenly.',
    labels: ['thread'],
    read: perThread(({ udpQueries, tcpQueries }) => udpQueries + tcpQueries),
  },
  gslbd_thread_batches_total: {
    help: 'UDP receive calls that brought packets; queries by batch is how full they are.',
    labels: ['thread'],
    read: perThread(({ batches }) => batches),
  },
  gslbd_thread_busy_ratio: {
    help: 'Part of the last sampling period that the responder worked, 0 to 1.',
    labels: ['thread'],
    read: perThread(({ busyRatio }) => busyRatio),
  },
}

const tcp: MetricRows = {
  gslbd_tcp_connections: {
    help: 'Open DNS connections.',
    read: ({ tcp }) => tcp.open,
  },
  gslbd_tcp_connection_events_total: {
    help: 'DNS connections that were accepted, refused, or closed to make room for newer ones.',
    labels: ['event'],
    read: ({ tcp: { accepted, refused, evicted } }) =>
      Object.entries({ accepted, refused, evicted }).map(([event, value]) => ({
        value,
        labels: { event },
      })),
  },
}

const feed: MetricRows = {
  gslbd_feed_clients: {
    help: 'Clients of the WebSocket feed that are connected to this node.',
    read: ({ feedClients }) => feedClients,
  },
}

const overlays: MetricRows = {
  gslbd_rollouts: {
    help: 'Rollouts of the active bundle, by the state that they are in on this node.',
    labels: ['state'],
    read: ({ overlays: { rollouts } }) => byState(rollouts, known.rollout),
  },
  gslbd_rollout_regressions_total: {
    help: 'Rollouts that this node has rolled back because of what it measured. Alert on it.',
    read: ({ overlays: { regressions } }) => regressions,
  },
  gslbd_maintenance_windows: {
    help: 'Maintenance windows of the active bundle, by state.',
    labels: ['state'],
    read: ({ overlays: { windows } }) => byState(windows, known.window),
  },
}

const geo: MetricRows = {
  gslbd_geo_database_build_timestamp_seconds: {
    help: 'When the database in use was made, by its setting. Alert on its age.',
    labels: ['setting'],
    read: ({ geo: files }) =>
      files.flatMap(({ setting, buildEpoch }) =>
        buildEpoch === null ? [] : [{ value: buildEpoch, labels: { setting } }],
      ),
  },
  gslbd_geo_database_networks: {
    help: 'Networks in the database in use; 0: none.',
    labels: ['setting'],
    read: ({ geo: files }) =>
      files.map(({ setting, networks }) => ({ value: networks, labels: { setting } })),
  },
  gslbd_geo_database_broken: {
    help: '1 when the file as it is now cannot be used. What was loaded before it is. Alert on it.',
    labels: ['setting'],
    read: ({ geo: files }) =>
      files.map(({ setting, isBroken }) => ({ value: isBroken ? 1 : 0, labels: { setting } })),
  },
}

const bundle: MetricRows = {
  gslbd_bundle_info: {
    help: 'The active bundle by its SHA-256; always 1. Nodes that agree show the same.',
    labels: ['digest'],
    read: ({ bundle: { digest } }) => (digest === '' ? [] : [{ value: 1, labels: { digest } }]),
  },
  gslbd_bundle_seq: {
    help: 'Position of the active bundle in the channel of this node; 0 before the first.',
    read: ({ bundle }) => bundle.seq,
  },
  gslbd_soa_serial: {
    help: 'Serial of the SOA records, the same on all nodes that serve the same commit.',
    read: ({ bundle }) => bundle.serial,
  },
  gslbd_bundle_age_seconds: {
    help: 'Time since the channel record of the active bundle was issued.',
    read: ({ bundle }) => bundle.ageSeconds,
  },
  gslbd_bundle_expired: {
    help: '1 when the channel record is past its expiry. The node serves on; find out why.',
    read: ({ bundle }) => bundle.expired,
  },
  gslbd_bundle_swaps_total: {
    help: 'Bundles that the responders changed to.',
    read: ({ bundle }) => bundle.swaps,
  },
  gslbd_bundle_swap_seconds_total: {
    help: 'Time of all swaps, each from its publication until the last responder acknowledged it.',
    read: ({ bundle }) => bundle.swapSecondsTotal,
  },
  gslbd_bundle_last_swap_seconds: {
    help: 'Time of the newest swap.',
    read: ({ bundle }) => bundle.swapSecondsLast,
  },
}

/** No samples of a node that follows no repository. */
const followed =
  (read: (gitops: GitopsSnapshot) => Reading): MetricRow['read'] =>
  ({ gitops }) =>
    gitops === null ? null : read(gitops)

const gitops: MetricRows = {
  gslbd_gitops_commit_info: {
    help: 'Commit by stage (head, accepted, active); always 1.',
    labels: ['stage', 'commit'],
    read: followed(({ head, accepted, active }) =>
      Object.entries({ head, accepted, active }).flatMap(([stage, commit]) =>
        commit === null ? [] : [{ value: 1, labels: { stage, commit } }],
      ),
    ),
  },
  gslbd_gitops_sync_state: {
    help: '1 for the state that the repository is in, 0 for the others. Alert on `held`.',
    labels: ['state'],
    read: followed(({ sync }) =>
      syncStates.map((state) => ({ value: sync === state ? 1 : 0, labels: { state } })),
    ),
  },
  gslbd_gitops_commit_to_active_seconds: {
    help: 'From the moment the newest accepted commit was seen until all responders used it.',
    read: followed(({ commitToActiveSeconds }) => commitToActiveSeconds),
  },
  gslbd_gitops_contact_age_seconds: {
    help: 'Since the remote repository last answered. Alert above some polls.',
    read: followed(({ contactSecondsAgo }) => contactSecondsAgo),
  },
  gslbd_gitops_loose_objects: {
    help: 'Objects of the repository that no pack holds yet, about.',
    read: followed(({ looseObjects }) => looseObjects),
  },
  gslbd_gitops_packings_total: {
    help:
      'How often git has packed the repository (`done`), or could not (`failed`). `no-git` is 1 ' +
      'on a node without git.',
    labels: ['outcome'],
    read: followed(({ packings }) =>
      Object.entries(packings).map(([outcome, value]) => ({ value, labels: { outcome } })),
    ),
  },
}

export const metricRows: readonly Metric[] = Object.freeze(
  [
    siteRows,
    queries,
    rateLimits,
    timeRows,
    responseRules,
    scriptRows,
    signing,
    threads,
    tcp,
    feed,
    exchangeRows,
    queryLogRows,
    redirectRows,
    zonePushRows,
    alertRows,
    healthRows,
    resolveRows,
    overlays,
    geo,
    bundle,
    gitops,
    fleetRows,
    tlsRows,
    anycastRows,
    journalRows,
    writeRows,
  ].flatMap(metricsOf),
)

function byState(counts: Readonly<Record<string, number>>, states: readonly string[]): Sample[] {
  return states.map((state) => ({ value: counts[state] ?? 0, labels: { state } }))
}

function sumBy(
  threads: readonly ThreadSnapshot[],
  field: 'byRcode' | 'byType' | 'byProxyOutcome',
  label: 'rcode' | 'qtype' | 'outcome',
): Sample[] {
  const sums: Record<string, number> = {}
  for (const thread of threads) {
    for (const [name, count] of Object.entries(thread[field])) {
      sums[name] = (sums[name] ?? 0) + count
    }
  }
  return bounded(sums, known[label]).map(([name, value]) => ({ value, labels: { [label]: name } }))
}
