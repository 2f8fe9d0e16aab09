// Metrics of the redirect listener, and of the servers that get redirects as well.
import type { MetricRows } from './samples.ts'

/** Rows of the metrics table. */
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
