// Metrics of addresses that are announced by BGP.
import type { MetricsSnapshot } from './snapshot.ts'
import { one } from './samples.ts'

/** Rows of the metrics table. */
export const anycastRows = [
  {
    name: 'gslbd_anycast_announced',
    type: 'gauge',
    help: 'Whether this node wants its addresses announced.',
    labels: [],
    read: ({ anycast }: MetricsSnapshot) =>
      anycast === null ? [] : one(anycast.isAnnounced ? 1 : 0),
  },
  {
    name: 'gslbd_anycast_daemon_up',
    type: 'gauge',
    help: 'Whether the BGP daemon could be told, or asked, the last time.',
    labels: [],
    read: ({ anycast }: MetricsSnapshot) =>
      anycast === null || anycast.driver.isReachable === null
        ? []
        : one(anycast.driver.isReachable ? 1 : 0),
  },
  {
    name: 'gslbd_anycast_guarded',
    type: 'gauge',
    help: 'Whether a second process would withdraw the routes, if this one were killed.',
    labels: [],
    read: ({ anycast }: MetricsSnapshot) =>
      anycast === null ? [] : one(anycast.isGuarded ? 1 : 0),
  },
  {
    name: 'gslbd_anycast_changes_total',
    type: 'counter',
    help: 'Changes that the BGP daemon was told: `announced`, `withdrawn`.',
    labels: ['to'],
    read: ({ anycast }: MetricsSnapshot) =>
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
    read: ({ anycast }: MetricsSnapshot) =>
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
    labels: [],
    read: ({ anycast }: MetricsSnapshot) =>
      anycast === null ? [] : one(anycast.counts.driverFaults),
  },
  {
    name: 'gslbd_anycast_daemon_overruled_total',
    type: 'counter',
    help: 'Times that the BGP daemon had changed the routes by itself, and was told again.',
    labels: [],
    read: ({ anycast }: MetricsSnapshot) => (anycast === null ? [] : one(anycast.counts.overruled)),
  },
] as const
