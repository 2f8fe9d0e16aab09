// Metrics of the redirect listener, and of the servers of others that get redirects and zones.
import type { MetricRows } from './samples.ts'
import type { ZonePushSnapshot } from './snapshot.ts'

/** Rows of the metrics table about redirects. */
export const redirectRows: MetricRows = {
  gslbd_redirect_requests_total: {
    help:
      'Requests to the redirect listener, by status: 301, 302, 307 and 308 are redirects, 404 is ' +
      'a host without one, 503 a node without a configuration.',
    labels: ['status'],
    read: ({ redirects: { listener } }) =>
      Object.entries(listener?.byStatus ?? {}).map(([status, value]) => ({
        value,
        labels: { status },
      })),
  },
  gslbd_redirect_open_connections: {
    help: 'Open connections of the redirect listener.',
    read: ({ redirects: { listener } }) => listener?.open,
  },
  gslbd_redirect_connections_total: {
    help: 'Connections to the redirect listener: `accepted`, or `refused` over a limit.',
    labels: ['result'],
    read: ({ redirects: { listener } }) =>
      listener === null
        ? []
        : (['accepted', 'refused'] as const).map((result) => ({
            value: listener[result],
            labels: { result },
          })),
  },
  gslbd_redirect_log_lines_dropped_total: {
    help: 'Lines of the access log of redirects that the disk did not take. Alert on any.',
    read: ({ redirects: { listener } }) => listener?.logDropped,
  },
  gslbd_redirect_target_up: {
    help: 'Whether the last look at a server that gets redirects went well. Alert on 0.',
    labels: ['target'],
    read: ({ redirects: { targets } }) =>
      targets.flatMap(({ target, isUp }) =>
        isUp === null ? [] : [{ value: isUp ? 1 : 0, labels: { target } }],
      ),
  },
  gslbd_redirect_target_rules: {
    help: 'Redirects that were there after the last look.',
    labels: ['target'],
    read: ({ redirects: { targets } }) =>
      targets.map(({ target, rules }) => ({ value: rules, labels: { target } })),
  },
  gslbd_redirect_target_drift_total: {
    help: 'Redirects that somebody else had changed or taken away there, and that were mended.',
    labels: ['target'],
    read: ({ redirects: { targets } }) =>
      targets.map(({ target, drift }) => ({ value: drift, labels: { target } })),
  },
}

const kinds = ['same', 'pending', 'missing', 'foreign', 'conflict', 'skipped'] as const

/** Rows of the metrics table about zones that are pushed to other servers. */
export const zonePushRows: MetricRows = {
  gslbd_zone_push_up: {
    help: 'Whether the last push of a zone, or look at its target, went well. Alert on 0.',
    labels: ['target'],
    read: ({ zonePushes }) =>
      zonePushes.flatMap(({ target, isUp }) =>
        isUp === null ? [] : [{ value: isUp ? 1 : 0, labels: { target } }],
      ),
  },
  gslbd_zone_push_records: {
    help:
      'Records at the last look at a target: `same` are as they are wanted, `pending` still to ' +
      'be written, deleted or given another TTL, `missing` were taken away there, `foreign` are ' +
      'of others; sets that foreign records block, or whose change it does not take: `conflict`; ' +
      'sets of a kind that it cannot hold: `skipped`. ' +
      'Drift is `missing`, `foreign` and `conflict`.',
    labels: ['target', 'kind'],
    read: ({ zonePushes }) =>
      zonePushes.flatMap((push) =>
        kinds.map((kind) => ({
          value: countOf(push, kind),
          labels: { target: push.target, kind },
        })),
      ),
  },
  gslbd_zone_push_held: {
    help: 'Whether a push is held, since it would delete more than its limit. Alert on 1.',
    labels: ['target'],
    read: ({ zonePushes }) =>
      zonePushes.map(({ target, isHeld }) => ({ value: isHeld ? 1 : 0, labels: { target } })),
  },
  gslbd_zone_push_written_total: {
    help: 'Records that were written to a target and deleted there, by all nodes.',
    labels: ['target'],
    read: ({ zonePushes }) =>
      zonePushes.map(({ target, written }) => ({ value: written, labels: { target } })),
  },
}

const countOf = (push: ZonePushSnapshot, kind: (typeof kinds)[number]): number => push.records[kind]
