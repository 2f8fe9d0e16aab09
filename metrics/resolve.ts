// The metrics of host names and of discovered members: how many there are, and how old what is
// answered may be.
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
  gslbd_discovery_references: {
    help:
      'Members with `from`: `stale` ones cannot be discovered, or are held, and keep their last ' +
      'good addresses; `missing` ones have none; `refused` ones name a source that is not for ' +
      'their tenant.',
    labels: ['state'],
    read: ({ resolve: { discovered } }) =>
      Object.entries(discovered?.references ?? {}).map(([state, value]) => {
        return { value, labels: { state } }
      }),
  },
  gslbd_discovery_members: {
    help: 'Addresses that were discovered and are answered, where they are well.',
    read: ({ resolve: { discovered } }) => discovered?.members ?? 0,
  },
  gslbd_discovery_held: {
    help:
      'Addresses that are not found any more and stay, because too many vanished at once. ' +
      'Alert above 0.',
    read: ({ resolve: { discovered } }) => discovered?.held ?? 0,
  },
  gslbd_discovery_age_seconds: {
    help: 'Since the members that are worst off were discovered. Alert above 600.',
    read: ({ resolve: { discovered } }) => discovered?.ageSeconds ?? 0,
  },
  gslbd_discovery_failures_total: {
    help: 'Times that a source did not say what members there are, or said another fault.',
    labels: ['source'],
    read: ({ resolve: { discovered } }) =>
      Object.entries(discovered?.failures ?? {}).map(([source, value]) => {
        return { value, labels: { source } }
      }),
  },
}
