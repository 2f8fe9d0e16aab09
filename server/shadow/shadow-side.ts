// Answers queries from one of the two bundles of a comparison, at one instant, without touching
// what serves.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { carryRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { RoutingState } from '#routing/state/state.ts'
import { applyOverlays, overlaysAt } from '#routing/time/overlay.ts'
import { answer } from '#answer/answer.ts'
import { createServingView } from '#answer/serving-view.ts'
import { noSigner } from '#answer/signing/signer.ts'
import { Transaction, Transport } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'
import type { LiveNode } from '#server/node/live-node.ts'
import type { SampledQuery } from '#answer/samples/query-samples.ts'
import { replyKey } from './reply-key.ts'

const settings = { udpPayloadSize: 65_535, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }
const replyMax = 65_535
/** Both sides have this serial: a serial counts commits, and would make answers differ. */
const serial = 1

export class ShadowSide {
  readonly #tx: Transaction
  readonly #reply = new Uint8Array(replyMax)

  /** @param bundle the serving bundle, or another one, which gets the health of the serving one */
  constructor(
    { bundle: live, state }: LiveNode,
    bundle: Bundle,
    tables: RoutingTables,
    nowMs: number,
  ) {
    // Turns are counted in memory of this side's own.
    const { table, cursors } = state.buffers
    const before = new RoutingState(live, { table, cursors: copyOf(cursors) })
    const carried = carryRoutingState({ bundle: live, state: before }, bundle, serial)
    const moment = overlaysAt(overlaysOf(bundle), nowMs, new Map())
    const { staleLists } = applyOverlays(bundle, carried, moment)
    for (const pool of staleLists) rebuildPool(bundle, carried, pool)
    this.#tx = new Transaction(settings, 1, new Counters(new SharedArrayBuffer(Counters.bytes)))
    // The transport is TCP, because a client repeats a truncated answer over TCP.
    this.#tx.transport = Transport.Tcp
    const { bytes, digest } = bundle
    const generation = { number: 1, bundle: bytes, digest, routing: carried.buffers, tables }
    this.#tx.adopt(createServingView(generation))
    // Neither side signs: both have the same keys, and only what they would sign may differ.
    this.#tx.signer = noSigner
  }

  /** @param seed of the random numbers: the same for both sides */
  keyOf({ query, client }: SampledQuery, seed: number): string {
    const tx = this.#tx
    tx.source = client
    tx.sourceAt = 0
    tx.sourceBytes = client.length
    tx.random.restart(seed)
    const length = answer(tx, query, 0, query.length, this.#reply, 0, replyMax)
    return length <= 0 ? '' : replyKey(this.#reply, length)
  }
}

const copyOf = (buffer: SharedArrayBuffer): SharedArrayBuffer =>
  sharedCopy(new Uint8Array(buffer)).buffer
