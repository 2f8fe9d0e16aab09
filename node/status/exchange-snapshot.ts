// Collects the counters of transfers, updates, NOTIFY and signed messages for the metrics.
import type { ExchangeSnapshot } from '#metrics/snapshot.ts'
import { rcodeNames } from '#dns/rcode.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { Notifier } from '#zones/notify/notifier.ts'
import type { Updates } from '#zones/update/updates.ts'

export interface ExchangeParts {
  readonly node: Pick<DnsNode, 'exchangeStats'>
  readonly updates: Pick<Updates, 'counts'>
  readonly notifier: Pick<Notifier, 'counts'>
}

/** All are 0 until the stream thread has sent its counters. */
export function exchangeSnapshot({ node, updates, notifier }: ExchangeParts): ExchangeSnapshot {
  const { messages, transfers, history } = node.exchangeStats ?? {}
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
    signedMessages: {
      valid: (messages?.signed ?? 0) - (messages?.repeated ?? 0),
      repeated: messages?.repeated ?? 0,
      malformed: messages?.malformed ?? 0,
      badkey: messages?.badKey ?? 0,
      badsig: messages?.badSignature ?? 0,
      badtime: messages?.badTime ?? 0,
      badtrunc: messages?.badTruncation ?? 0,
    },
  }
}
