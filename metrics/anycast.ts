// Metrics of addresses that are announced by BGP.
import type { MetricRows } from './samples.ts'

/** Rows of the metrics table. */
export const anycastRows: MetricRows = {
  gslbd_anycast_announced: {
    help: 'Whether this node wants its addresses announced.',
    read: ({ anycast }) => anycast?.isAnnounced,
  },
  gslbd_anycast_daemon_up: {
    help: 'Whether the BGP daemon could be told, or asked, the last time.',
    read: ({ anycast }) => anycast?.driver.isReachable,
  },
  gslbd_anycast_guarded: {
    help: 'Whether a second process would withdraw the routes, if this one were killed.',
    read: ({ anycast }) => anycast?.isGuarded,
  },
  gslbd_anycast_changes_total: {
    help: 'Changes that the BGP daemon was told: `announced`, `withdrawn`.',
    labels: ['to'],
    read: ({ anycast }) =>
      anycast === null
        ? []
        : (['announced', 'withdrawn'] as const).map((to) => ({
            value: anycast.counts[to],
            labels: { to },
          })),
  },
  gslbd_anycast_self_queries_total: {
    help: 'Queries of this node to itself: `answered`, `silent`.',
    labels: ['result'],
    read: ({ anycast }) =>
      anycast === null
        ? []
        : (['answered', 'silent'] as const).map((result) => ({
            value: anycast.counts[result],
            labels: { result },
          })),
  },
  gslbd_anycast_daemon_faults_total: {
    help: 'Times that the BGP daemon could not be told or asked.',
    read: ({ anycast }) => anycast?.counts.driverFaults,
  },
  gslbd_anycast_daemon_overruled_total: {
    help: 'Times that the BGP daemon had changed the routes by itself, and was told again.',
    read: ({ anycast }) => anycast?.counts.overruled,
  },
}
