// Metrics of DNS over TLS and over HTTPS.
import type { MetricRow } from './samples.ts'
import type { MetricsSnapshot, SecureConnectionSnapshot } from './snapshot.ts'

interface Carrier {
  readonly prefix: string
  readonly says: string
  readonly of: (snapshot: MetricsSnapshot) => SecureConnectionSnapshot | undefined
}

const carriers: readonly Carrier[] = [
  { prefix: 'gslbd_tls', says: 'DNS over TLS', of: ({ tcp }) => tcp.secure?.tls },
  { prefix: 'gslbd_https', says: 'DNS over HTTPS', of: ({ tcp }) => tcp.secure?.https },
]

const rowsOf = ({ prefix, says, of }: Carrier): readonly MetricRow[] => [
  {
    name: `${prefix}_connections`,
    type: 'gauge',
    help: `Open connections of ${says}.`,
    read: (snapshot) => of(snapshot)?.open,
  },
  {
    name: `${prefix}_connection_events_total`,
    type: 'counter',
    help: `Connections of ${says}: accepted, refused, or closed to make room for newer ones.`,
    labels: ['event'],
    read: (snapshot) => {
      const counts = of(snapshot)
      if (counts === undefined) return []
      return (['accepted', 'refused', 'evicted'] as const).map((event) => ({
        value: counts[event],
        labels: { event },
      }))
    },
  },
  {
    name: `${prefix}_handshakes_total`,
    type: 'counter',
    help: `Handshakes of ${says}: full, resumed from a session before, or failed.`,
    labels: ['outcome'],
    read: (snapshot) => {
      const counts = of(snapshot)
      if (counts === undefined) return []
      const { handshakes, resumed, handshakesFailed: failed } = counts
      return Object.entries({ full: handshakes - resumed, resumed, failed }).map(
        ([outcome, value]) => ({ value, labels: { outcome } }),
      )
    },
  },
  {
    name: `${prefix}_queries_total`,
    type: 'counter',
    help: `Messages that came by ${says}; gslbd_dns_queries_total counts them as tcp.`,
    read: (snapshot) => of(snapshot)?.queries,
  },
]

/** Rows of the metrics table. */
export const tlsRows: readonly MetricRow[] = [
  ...carriers.flatMap(rowsOf),
  {
    name: 'gslbd_https_requests_total',
    type: 'counter',
    help: 'Requests of DNS over HTTPS by what became of them; floods: connections closed for one.',
    labels: ['outcome'],
    read: ({ tcp }) =>
      Object.entries(tcp.secure?.requests ?? {}).map(([outcome, value]) => ({
        value,
        labels: { outcome },
      })),
  },
  {
    name: 'gslbd_tls_certificate_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the certificate of DNS over TLS and over HTTPS expires, in seconds since 1970.',
    read: ({ tcp: { secure } }) => secure && secure.certificate.expiresAtMs / 1_000,
  },
}
