// The answer path on a bundle and a state that a test has made.
import type { Bundle } from '#bundle/format/bundle.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { answer } from '#answer/answer.ts'
import { createServingView } from '#answer/serving-view.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import { Transaction } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'
import { decodeMessage, query } from './dns/message.ts'
import type { Message, QueryParts } from './dns/message.ts'

const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }

type Ask = (question: string, parts?: QueryParts) => Message

/** @param dynamic TXT records that were written at run time */
export function asking(
  bundle: Bundle,
  state: RoutingState,
  dynamic: HandedBundle | null = null,
): Ask {
  const tx = new Transaction(settings, 1, new Counters(new SharedArrayBuffer(Counters.bytes)))
  const { bytes, digest } = bundle
  const tables = noRoutingTables
  const routing = state.buffers
  tx.adopt(createServingView({ number: 1, bundle: bytes, digest, dynamic, routing, tables }))
  return (question, parts = {}) => {
    const octets = query(question, parts)
    const reply = new Uint8Array(1_232)
    const length = answer(tx, octets, 0, octets.length, reply, 0, reply.length)
    return decodeMessage(Buffer.from(reply.subarray(0, length)))
  }
}

/** `type rdata` of each record of the answer. */
export function answers({ answer: records }: Message): string[] {
  return records.map(({ type, rdataText }) => `${type} ${rdataText}`)
}
