// Collects the counters of transfers, updates, NOTIFY and signed messages for the metrics.
import type { ExchangeSnapshot } from '#metrics/snapshot.ts'
import { rcodeNames } from '#dns/rcode.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { Clock } from '#lib/clock.ts'
import type { Notifier } from '#zones/notify/notifier.ts'
import { followStates } from '#zones/inbound/zone-follower.ts'
import type { FollowStatus } from '#zones/inbound/zone-follower.ts'
import type { Updates } from '#zones/update/updates.ts'

export interface ExchangeParts {
  readonly node: Pick<DnsNode, 'exchangeStats'>
  readonly updates: Pick<Updates, 'counts'>
  readonly notifier: Pick<Notifier, 'counts'>
  /** Left out: this node takes in no zones. */
  readonly inbound?: () => readonly FollowStatus[]
  readonly clock: Pick<Clock, 'nowMs'>
}

/** All are 0 until the stream thread has sent its counters. */
export function exchangeSnapshot(parts: ExchangeParts): ExchangeSnapshot {
  const { node, updates, notifier } = parts
  const { messages, transfers, history, keys } = node.exchangeStats ?? {}
  const byRcode = [...updates.counts].map(([rcode, count]) => [
    rcodeNames[rcode] ?? String(rcode),
    count,
  ])
  return {
    transfers: {
      started: transfers?.started ?? 0,
      incremental: transfers?.incremental ?? 0,
      current: transfers?.current ?? 0,
      refused: transfers?.refused ?? 0,
      ended: transfers?.ended ?? 0,
    },
    transfersWhole: {
      unknown: transfers?.unknown ?? 0,
      old: transfers?.old ?? 0,
      large: transfers?.large ?? 0,
    },
    transfersRunning: transfers?.running ?? 0,
    transferHistory: history ?? { changes: 0, bytes: 0 },
    updates: Object.fromEntries(byRcode) as Record<string, number>,
    notify: { ...notifier.counts },
    inbound: inboundOf(parts),
    signedMessages: {
      valid: (messages?.signed ?? 0) - (messages?.repeated ?? 0),
      repeated: messages?.repeated ?? 0,
      malformed: messages?.malformed ?? 0,
      badkey: messages?.badKey ?? 0,
      badsig: messages?.badSignature ?? 0,
      badtime: messages?.badTime ?? 0,
      badtrunc: messages?.badTruncation ?? 0,
    },
    agreedKeys: keys ?? { agreed: 0, failed: 0, open: 0 },
  }
}

function inboundOf({ inbound, clock }: ExchangeParts): ExchangeSnapshot['inbound'] {
  const zones = inbound?.() ?? []
  const countOf = (state: string): number => zones.filter((one) => one.state === state).length
  const heard = zones.filter(({ contactAtMs }) => contactAtMs > 0)
  const agesMs = heard.map(({ contactAtMs }) => clock.nowMs() - contactAtMs)
  return {
    states: Object.fromEntries(followStates.map((state) => [state, countOf(state)])),
    ageSeconds: Math.max(0, ...agesMs) / 1_000,
    transfers: zones.reduce((sum, { transfers }) => sum + transfers, 0),
    failures: zones.reduce((sum, { failures }) => sum + failures, 0),
  }
}
