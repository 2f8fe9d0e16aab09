// Metrics of bundles that travel: what this node gives, and what it pulls.
import { shownPhases } from '#ports/deliveries.ts'
import type { MetricRows } from './samples.ts'

/** Rows of the metrics table. */
const nodeStates = ['adopted', 'waiting', 'refused', 'silent'] as const

export const fleetRows: MetricRows = {
  gslbd_bundle_pulls_total: {
    help: 'Questions to bundle sources, by how they ended: `activated`, `unchanged`, or a fault.',
    labels: ['result'],
    read: ({ pull }) =>
      Object.entries(pull?.pulls ?? {}).map(([result, value]) => ({ value, labels: { result } })),
  },
  gslbd_bundle_source_up: {
    help: 'Whether the last question to a bundle source ended well, by its place in the list.',
    labels: ['source'],
    read: ({ pull }) =>
      (pull?.sources ?? []).map(({ fault }, source) => ({
        value: fault === null ? 1 : 0,
        labels: { source: String(source) },
      })),
  },
  gslbd_bundle_contact_age_seconds: {
    help: 'Since a bundle source last gave a record that holds.',
    read: ({ pull }) => pull?.contactSecondsAgo,
  },
  gslbd_bundle_pulled_bytes_total: {
    help: 'Octets of records and bundles as they came from sources.',
    read: ({ pull }) => pull?.wireBytes,
  },
  gslbd_bundle_deltas_total: {
    help: 'Deltas from sources: `used`, or `useless`, after which the whole bundle was fetched.',
    labels: ['result'],
    read: ({ pull }) =>
      Object.entries(pull?.deltas ?? {}).map(([result, value]) => ({ value, labels: { result } })),
  },
  gslbd_bundle_waiting_nodes: {
    help: 'Requests of other nodes that wait for a new channel record.',
    read: ({ given }) => given?.waiting,
  },
  gslbd_bundle_transfers_running: {
    help: 'Bundles that are being sent to other nodes.',
    read: ({ given }) => given?.sending,
  },
  gslbd_bundle_turned_away_total: {
    help: 'Requests of other nodes that were answered 503 because too many came at once.',
    read: ({ given }) => given?.turnedAway,
  },
  gslbd_fleet_nodes: {
    help: 'Nodes that have told of themselves within a day.',
    read: ({ fleet }) => fleet?.nodes,
  },
  gslbd_fleet_unknown_nodes: {
    help: 'Nodes that tell of themselves, and are not listed or have not signed it.',
    read: ({ fleet }) => fleet?.strangers,
  },
  gslbd_fleet_drifting_nodes: {
    help: 'Nodes by what is wrong with them; the words of `drift` in GET /api/v1/cluster/nodes.',
    labels: ['kind'],
    read: ({ fleet }) =>
      Object.entries(fleet?.drift ?? {}).map(([kind, value]) => ({ value, labels: { kind } })),
  },
  gslbd_delivery_phase: {
    help: '1 for the phase of the delivery; the words of GET /api/v1/deliveries.',
    labels: ['phase'],
    read: ({ fleet }) =>
      fleet === null || fleet.delivery === null
        ? []
        : shownPhases.map((phase) => ({
            value: Number(fleet.delivery?.phase === phase),
            labels: { phase },
          })),
  },
  gslbd_delivery_nodes: {
    help: 'Nodes of the waves that have begun: adopted, waiting, refused or silent.',
    labels: ['wave', 'state'],
    read: ({ fleet }) =>
      (fleet?.delivery?.waves ?? []).flatMap((wave, i) =>
        (wave.hasBegun ? nodeStates : []).map((state) => ({
          value: wave[state],
          labels: { wave: String(i + 1), state },
        })),
      ),
  },
}
