// Tests the metrics of transfers, updates, NOTIFY and signed messages.
import { expect, test } from 'vitest'
import { exchangeSnapshot } from '#node/status/exchange-snapshot.ts'
import { Rcode } from '#dns/rcode.ts'
import type { FollowStatus } from '#zones/inbound/zone-follower.ts'

const updates = {
  counts: new Map([
    [Rcode.NoError, 4],
    [Rcode.NotZone, 2],
  ]),
}
const notifier = { counts: { sent: 8, acknowledged: 6, failed: 1 } }

const zone = (state: FollowStatus['state'], contactAtMs: number): FollowStatus => ({
  ...{ zone: 'example.com.', primaries: [], state, contactAtMs, error: '' },
  ...{ serial: 1, offered: undefined, transfers: 1, failures: 2 },
})

test('has the counts of all', () => {
  const exchangeStats = {
    messages: {
      ...{
        signed: 17,
        repeated: 8,
        malformed: 1,
        badKey: 2,
        badSignature: 3,
        badTime: 4,
        badTruncation: 5,
      },
    },
    transfers: {
      ...{ running: 1, started: 7, incremental: 4, refused: 6, current: 5, ended: 3 },
      ...{ unknown: 2, old: 1, large: 0 },
    },
    history: { changes: 5, bytes: 6_000 },
    keys: { agreed: 3, failed: 1, open: 2 },
  }
  const inbound = () => [zone('current', 9_000), zone('held', 4_000), zone('failing', 0)]
  const clock = { nowMs: () => 10_000 }
  const parts = { node: { exchangeStats }, updates, notifier, inbound, clock }
  expect(exchangeSnapshot(parts)).toEqual({
    transfers: { started: 7, incremental: 4, current: 5, refused: 6, ended: 3 },
    transfersWhole: { unknown: 2, old: 1, large: 0 },
    transfersRunning: 1,
    transferHistory: { changes: 5, bytes: 6_000 },
    updates: { NOERROR: 4, NOTZONE: 2 },
    notify: { sent: 8, acknowledged: 6, failed: 1 },
    inbound: {
      states: { asking: 0, current: 1, failing: 1, held: 1, refused: 0, expired: 0 },
      ...{ ageSeconds: 6, transfers: 3, failures: 6 },
    },
    signedMessages: {
      valid: 9,
      repeated: 8,
      malformed: 1,
      badkey: 2,
      badsig: 3,
      badtime: 4,
      badtrunc: 5,
    },
    agreedKeys: { agreed: 3, failed: 1, open: 2 },
  })
})

test('shows 0 before the thread that counts has said anything', () => {
  const none = { counts: new Map<number, number>() }
  const clock = { nowMs: () => 10_000 }
  const shown = exchangeSnapshot({
    ...{ node: { exchangeStats: undefined }, updates: none, notifier, clock },
  })
  expect(shown).toMatchObject({ updates: {}, transfersRunning: 0 })
  expect(Object.values(shown.transfers)).toEqual([0, 0, 0, 0, 0])
  expect(Object.values(shown.signedMessages)).toEqual([0, 0, 0, 0, 0, 0, 0])
})
