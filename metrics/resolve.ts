// The metrics of host names: what they resolve to, and how old what is answered may be.
import type { MetricRows } from './samples.ts'

/** Rows of the metrics table. */
export const resolveRows: MetricRows = {
  gslbd_resolve_hostnames: {
    help:
      'Host names of members that are looked up: `stale` ones do not resolve and keep their last ' +
      'good addresses, `unresolved` ones have none.',
    labels: ['state'],
    read: ({ resolve: { hostnames } }) =>
      Object.entries(hostnames).map(([state, value]) => ({ value, labels: { state } })),
  },
  gslbd_resolve_age_seconds: {
    help: 'Since the addresses of the host name that is worst off were found. Alert above 600.',
    read: ({ resolve: { ageSeconds } }) => ageSeconds,
  },
  gslbd_resolve_failures_total: {
    help: 'Lookups of host names that gave no address to answer, by reason.',
    labels: ['reason'],
    read: ({ resolve: { failures } }) =>
      Object.entries(failures).map(([reason, value]) => ({ value, labels: { reason } })),
  },
}
