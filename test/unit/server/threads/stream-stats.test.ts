import { expect, test } from 'vitest'
import { noRequests } from '#server/stream/https-request.ts'
import { StreamStats } from '#server/threads/stream-stats.ts'
import type { StreamCounts } from '#server/threads/stream-stats.ts'

const counts = (count: number): StreamCounts => ({
  tcp: {
    ...{ open: count, accepted: count, refused: 0, evicted: 0, idleTimeouts: 0 },
    ...{ messageTimeouts: 0, writeTimeouts: 0, queries: count, replies: count, dropped: 0 },
    ...{ bytesReceived: 0, bytesSent: 0, failures: 0 },
    ...{ handshakes: 0, resumed: 0, handshakesFailed: 0 },
  },
  exchange: {
    messages: {
      ...{ signed: count, repeated: 0, malformed: 0, badKey: 1, badSignature: 0, badTime: 0 },
      badTruncation: 0,
    },
    transfers: {
      ...{ running: count, started: count, incremental: count, refused: 0, current: 0, ended: 0 },
      ...{ unknown: 0, old: 0, large: 0 },
    },
    history: { changes: count, bytes: count },
    keys: { agreed: count, failed: 0, open: count },
  },
})

test('counts go on where one thread follows another, gauges are of the one that runs', () => {
  const stats = new StreamStats()
  expect(stats.total).toBeUndefined()
  stats.restart()
  stats.take(counts(3))
  stats.take(counts(5))
  expect(stats.total).toEqual(counts(5))
  stats.restart()
  expect(stats.total?.tcp).toMatchObject({ open: 0, accepted: 5, queries: 5 })
  expect(stats.total?.exchange.transfers).toMatchObject({ running: 0, started: 5 })
  stats.take(counts(2))
  stats.restart()
  stats.take(counts(1))
  expect(stats.total?.tcp).toMatchObject({ open: 1, accepted: 8 })
  expect(stats.total?.exchange).toMatchObject({
    messages: { signed: 8, badKey: 3 },
    transfers: { running: 1, started: 8, incremental: 8 },
    history: { changes: 1, bytes: 1 },
    keys: { agreed: 8, open: 1 },
  })
})

test('counts of TLS and of requests go on, and the certificate is the one that serves now', () => {
  const stats = new StreamStats()
  const certificates = (expiresAtMs: number) => [
    { name: 'dns.tls', fault: null, expiresAtMs, isEnding: false },
  ]
  const secure = (count: number) => {
    const { tcp } = counts(count)
    const requests = { ...noRequests(), answered: count }
    return { tls: tcp, https: tcp, requests, certificates: certificates(count) }
  }
  stats.take({ ...counts(5), secure: secure(5) })
  stats.restart()
  expect(stats.total?.secure).toMatchObject({ https: { open: 0, accepted: 5 } })
  stats.take({ ...counts(2), secure: secure(2) })
  expect(stats.total?.secure).toMatchObject({
    ...{ tls: { open: 2, accepted: 7 }, https: { open: 2, queries: 7 } },
    ...{ requests: { answered: 7, floods: 0 }, certificates: certificates(2) },
  })
})
