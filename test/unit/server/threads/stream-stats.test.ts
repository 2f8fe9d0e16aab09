import { expect, test } from 'vitest'
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
    transfers: { running: count, started: count, refused: 0, current: 0, ended: 0 },
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
    transfers: { running: 1, started: 8 },
  })
})
