// Metrics of addresses that are announced by BGP.
import type { MetricRow } from './samples.ts'

/** Rows of the metrics table. */
export const anycastRows: readonly MetricRow[] = [
  {
    name: 'gslbd_anycast_announced',
    type: 'gauge',
    help: 'Whether this node wants its addresses announced.',
    read: ({ anycast }) => anycast?.isAnnounced,
  },
  {
    name: 'gslbd_anycast_daemon_up',
    type: 'gauge',
    help: 'Whether the BGP daemon could be told, or asked, the last time.',
    read: ({ anycast }) => anycast?.driver.isReachable,
  },
  {
    name: 'gslbd_anycast_guarded',
    type: 'gauge',
    help: 'Whether a second process would withdraw the routes, if this one were killed.',
    read: ({ anycast }) => anycast?.isGuarded,
  },
  {
    name: 'gslbd_anycast_changes_total',
    type: 'counter',
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
  {
    name: 'gslbd_anycast_self_queries_total',
    type: 'counter',
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
  {
    name: 'gslbd_anycast_daemon_faults_total',
    type: 'counter',
    help: 'Times that the BGP daemon could not be told or asked.',
    read: ({ anycast }) => anycast?.counts.driverFaults,
  },
  {
    name: 'gslbd_anycast_daemon_overruled_total',
    type: 'counter',
    help: 'Times that the BGP daemon had changed the routes by itself, and was told again.',
    read: ({ anycast }) => anycast?.counts.overruled,
  },
]
