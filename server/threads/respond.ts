// The loop of a responder: receives a batch, answers it, sends it; between batches it takes over
// what was published. Any source of packets will do.
import * as answering from '#answer/answer.ts'
import type { QueryBucket } from '#answer/query-bucket.ts'
import type { Transaction } from '#answer/transaction.ts'
import { noTap } from '#answer/query-log/query-tap.ts'
import type { Tap } from '#answer/query-log/query-tap.ts'
import type { PacketSource } from '#system/sockets/packet-source.ts'
import type { LookAhead } from './look-ahead.ts'
import { Control } from './responder-control.ts'

// Constants of this file, for the reason that answer.ts gives.
const { answer, handedOver } = answering

/** What happens between two batches. */
export interface ResponderParts {
  /** See responder-control.ts; `Control.Stop` in its first cell ends the loop. */
  readonly control: Int32Array
  readonly bucket: Pick<QueryBucket, 'take' | 'giveBack'>
  readonly scripts: { readonly startBatch: () => void }
  /** Is told how many packets came, to give the core away in time. */
  readonly turns: { readonly took: (packets: number) => void }
  /** Is told when a batch begins, and how many queries it had when its answers are sent. */
  readonly timer: {
    readonly begin: (source: PacketSource, queries: number) => void
    readonly end: (queries: number) => void
  }
  /** Called at the end of each turn, when nobody waits for what came with it. */
  readonly rest: (packets: number) => void
  /** Reads for all packets of a batch at once; left out: each is read for by itself. */
  readonly ahead?: Pick<LookAhead, 'read'>
  /** Copies some queries and their answers; left out: none. */
  readonly tap?: Tap
  /** Makes the transaction adopt what is published. */
  readonly takeOver: () => void
  /** Gets what `answer` leaves to the handler of another thread. */
  readonly handOver: (source: PacketSource, slot: number) => void
}

export function respond(source: PacketSource, tx: Transaction, parts: ResponderParts): void {
  const { control, bucket, scripts, turns, timer, ahead, tap = noTap } = parts
  const { buffer, slotBytes } = source
  tx.source = source.clients
  tx.sourceBytes = source.clientBytes
  for (;;) {
    const count = source.receive()
    const wanted = Atomics.load(control, Control.Generation)
    if (wanted !== (tx.view?.generation ?? 0)) {
      if (wanted === Control.Stop && count === 0) break
      // Before the batch, not after: a query that comes after a publication sees it.
      if (wanted !== Control.Stop) parts.takeOver()
    }
    if (count === 0) {
      parts.rest(0)
      continue
    }
    timer.begin(source, count)
    tx.counters.batch()
    turns.took(count)
    scripts.startBatch()
    tx.tokens = bucket.take(count)
    let tapped = tap.first(count)
    const { ranges } = tx.chain
    if (ranges !== null && ahead !== undefined && count > 1) {
      tx.chain.ranges = null
      ahead.read(ranges, count)
    }
    for (let slot = 0; slot < count; slot++) {
      const offset = source.slotOffset(slot)
      const length = source.queryLength(slot)
      tx.sourceAt = source.clientOffset(slot)
      if (slot === tapped) tap.asked(tx, buffer, offset, length, source.clientPort(slot))
      const written = answer(tx, buffer, offset, length, buffer, offset, slotBytes)
      if (slot === tapped) tapped = tap.answered(tx, buffer, offset, written)
      if (written === handedOver) parts.handOver(source, slot)
      source.setReply(slot, written > 0 ? written : 0)
    }
    bucket.giveBack(tx.tokens)
    const failed = source.send(count)
    if (failed > 0) tx.counters.sendErrors(failed)
    timer.end(count)
    if (wanted === Control.Stop) break
    parts.rest(count)
  }
}
