// Metrics of DNS over TLS and over HTTPS.
import type { MetricRows } from './samples.ts'
import type { MetricsSnapshot, SecureConnectionSnapshot } from './snapshot.ts'

interface Carrier {
  readonly prefix: string
  readonly says: string
  readonly of: (snapshot: MetricsSnapshot) => SecureConnectionSnapshot | undefined
}

const tls: Carrier = {
  prefix: 'gslbd_tls',
  says: 'DNS over TLS',
  of: ({ tcp }) => tcp.secure?.tls,
}

const https: Carrier = {
  prefix: 'gslbd_https',
  says: 'DNS over HTTPS',
  of: ({ tcp }) => tcp.secure?.https,
}

const rowsOf = ({ prefix, says, of }: Carrier): MetricRows => ({
  [`${prefix}_connections`]: {
    help: `Open connections of ${says}.`,
    read: (snapshot) => of(snapshot)?.open,
  },
  [`${prefix}_connection_events_total`]: {
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
  [`${prefix}_handshakes_total`]: {
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
  [`${prefix}_queries_total`]: {
    help: `Messages that came by ${says}; gslbd_dns_queries_total counts them as tcp.`,
    read: (snapshot) => of(snapshot)?.queries,
  },
})

/** Rows of the metrics table. */
export const tlsRows: MetricRows = {
  ...rowsOf(tls),
  ...rowsOf(https),
  gslbd_https_requests_total: {
    help: 'Requests of DNS over HTTPS by what became of them; floods: connections closed for one.',
    labels: ['outcome'],
    read: ({ tcp }) =>
      Object.entries(tcp.secure?.requests ?? {}).map(([outcome, value]) => ({
        value,
        labels: { outcome },
      })),
  },
  gslbd_tls_certificate_expiry_timestamp_seconds: {
    help:
      'When a certificate of DNS over TLS and over HTTPS, or of the API, expires, in seconds ' +
      'since 1970, by the setting that names it.',
    labels: ['certificate'],
    read: ({ certificates }) =>
      certificates.map(({ name, expiresAtMs }) => ({
        value: expiresAtMs / 1_000,
        labels: { certificate: name },
      })),
  },
}
