// Metrics of transfers, updates, NOTIFY and signed messages.
import { bounded } from './samples.ts'
import type { MetricRows, Sample } from './samples.ts'

/** Counted results of updates; others are counted as `other`. RFC 2136 section 2.2. */
const updateRcodes =
  'NOERROR FORMERR SERVFAIL NXDOMAIN NOTIMP REFUSED YXDOMAIN YXRRSET NXRRSET NOTAUTH NOTZONE'.split(
    ' ',
  )

/** Rows of the metrics table. */
export const exchangeRows: MetricRows = {
  gslbd_transfers_total: {
    help:
      'Requests for a zone: `started` ones get all of it, `incremental` ones what has changed, ' +
      '`current` ones its SOA alone, `refused` ones an error; `ended` ones were cut off.',
    labels: ['result'],
    read: ({ exchange: { transfers } }) => byResult({ ...transfers }),
  },
  gslbd_transfers_whole_total: {
    help:
      'Requests for changes (IXFR) that got the whole zone: `unknown`, of a version that this ' +
      'node has not given to this client since its start; `old`, before what is kept; `large`, ' +
      'where too much has changed.',
    labels: ['reason'],
    read: ({ exchange: { transfersWhole } }) =>
      Object.entries(transfersWhole).map(([reason, value]) => ({ value, labels: { reason } })),
  },
  gslbd_transfer_history_changes: {
    help: 'Changes of zones that are kept for secondary servers (`dns.axfr.history`).',
    read: ({ exchange: { transferHistory } }) => transferHistory.changes,
  },
  gslbd_transfer_history_bytes: {
    help: 'Memory that these changes take.',
    read: ({ exchange: { transferHistory } }) => transferHistory.bytes,
  },
  gslbd_transfers_running: {
    help: 'Transfers of zones under way.',
    read: ({ exchange: { transfersRunning } }) => transfersRunning,
  },
  gslbd_updates_total: {
    help: 'Updates with a valid signature (RFC 2136), by their response code.',
    labels: ['rcode'],
    read: ({ exchange: { updates } }) =>
      bounded(updates, updateRcodes).map(([rcode, value]) => ({
        value,
        labels: { rcode },
      })),
  },
  gslbd_notify_total: {
    help:
      'NOTIFY messages that were `sent`, again included, and what became of them: ' +
      '`acknowledged`, or `failed` after the last try. Alert on failed ones.',
    labels: ['result'],
    read: ({ exchange: { notify } }) => byResult({ ...notify }),
  },
  gslbd_inbound_zones: {
    help:
      'Zones that come from other servers (`zones[].from`), by how they stand. Alert on ' +
      '`failing`, `held`, `refused` and `expired`.',
    labels: ['state'],
    read: ({ exchange: { inbound } }) =>
      Object.entries(inbound.states).map(([state, value]) => ({ value, labels: { state } })),
  },
  gslbd_inbound_contact_age_seconds: {
    help: 'Since a primary server was heard, of the zone that is worst off.',
    read: ({ exchange: { inbound } }) => inbound.ageSeconds,
  },
  gslbd_inbound_transfers_total: {
    help: 'Transfers of such zones that were taken.',
    read: ({ exchange: { inbound } }) => inbound.transfers,
  },
  gslbd_inbound_failures_total: {
    help: 'Times that no primary server of such a zone answered as it should.',
    read: ({ exchange: { inbound } }) => inbound.failures,
  },
  gslbd_signed_messages_total: {
    help:
      'Messages with a TSIG record (RFC 8945), by what was found of it. `repeated` are updates ' +
      'that came before; all others but `valid` fail.',
    labels: ['result'],
    read: ({ exchange: { signedMessages } }) => byResult({ ...signedMessages }),
  },
  gslbd_key_agreements_total: {
    help: 'Negotiations of a key by Kerberos (GSS-TSIG, RFC 3645), by what came of them.',
    labels: ['result'],
    read: ({ exchange: { agreedKeys } }) =>
      byResult({ agreed: agreedKeys.agreed, failed: agreedKeys.failed }),
  },
  gslbd_agreed_keys: {
    help: 'Keys that are agreed on by now, and negotiations under way.',
    read: ({ exchange: { agreedKeys } }) => agreedKeys.open,
  },
}

function byResult(counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([result, value]) => ({ value, labels: { result } }))
}
