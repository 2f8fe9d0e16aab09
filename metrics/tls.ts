// Metrics of DNS over TLS.
import type { MetricRow } from './samples.ts'

/** Rows of the metrics table. */
export const tlsRows: readonly MetricRow[] = [
  {
    name: 'gslbd_tls_connections',
    type: 'gauge',
    help: 'Open connections of DNS over TLS.',
    read: ({ tcp: { secure } }) => secure?.tls.open,
  },
  {
    name: 'gslbd_tls_connection_events_total',
    type: 'counter',
    help: 'Connections of DNS over TLS: accepted, refused, or closed to make room for newer ones.',
    labels: ['event'],
    read: ({ tcp: { secure } }) =>
      secure === null
        ? []
        : (['accepted', 'refused', 'evicted'] as const).map((event) => ({
            value: secure.tls[event],
            labels: { event },
          })),
  },
  {
    name: 'gslbd_tls_handshakes_total',
    type: 'counter',
    help: 'Handshakes of DNS over TLS: full, resumed from a session before, or failed.',
    labels: ['outcome'],
    read: ({ tcp: { secure } }) => {
      if (secure === null) return []
      const { handshakes, resumed, handshakesFailed: failed } = secure.tls
      return Object.entries({ full: handshakes - resumed, resumed, failed }).map(
        ([outcome, value]) => ({ value, labels: { outcome } }),
      )
    },
  },
  {
    name: 'gslbd_tls_queries_total',
    type: 'counter',
    help: 'Messages that came over TLS; gslbd_dns_queries_total counts them as tcp.',
    read: ({ tcp: { secure } }) => secure?.tls.queries,
  },
  {
    name: 'gslbd_tls_certificate_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the certificate of DNS over TLS expires, in seconds since 1970.',
    read: ({ tcp: { secure } }) => secure && secure.certificate.expiresAtMs / 1_000,
  },
]
