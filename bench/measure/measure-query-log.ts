// A process that measures a responder's loop over a packet source in memory, without a tap or with
// a sampling one. Run by the benchmark `query-log`, once for each.
import { noLimit } from '#answer/counters/query-bucket.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Transaction } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'
import { createTap } from '#answer/query-log/query-tap.ts'
import { LogCell, ringBytes } from '#answer/query-log/ring.ts'
import type { PacketSource } from '#system/sockets/packet-source.ts'
import { Control } from '#server/threads/responder-control.ts'
import { respond } from '#server/threads/responder.ts'
import { benchGeneration, queryKinds } from '../data/answer-mix.ts'
import { measure } from './count-allocation.ts'

const batch = 24
const slotBytes = 2_048

/** Full batches of the same query, and a reader of the ring that keeps up. */
class MemorySource implements PacketSource {
  readonly buffer = new Uint8Array(batch * slotBytes)
  readonly slotBytes = slotBytes
  readonly clients = new Uint8Array(batch * 4)
  readonly clientBytes = 4
  readonly #query: Uint8Array
  readonly #control: Int32Array
  readonly #ring: Int32Array
  #left = 0

  constructor(query: Uint8Array, control: Int32Array, ring: SharedArrayBuffer) {
    this.#query = query
    this.#control = control
    this.#ring = new Int32Array(ring)
  }

  start(queries: number): void {
    this.#left = queries
  }

  receive(): number {
    Atomics.store(this.#ring, LogCell.Taken, Atomics.load(this.#ring, LogCell.Written))
    const count = Math.min(batch, this.#left)
    this.#left -= count
    if (count === 0) Atomics.store(this.#control, Control.Generation, Control.Stop)
    const { buffer } = this
    const query = this.#query
    for (let slot = 0; slot < count; slot++) {
      const at = slot * slotBytes
      for (let i = 0; i < query.length; i++) buffer[at + i] = query[i]!
    }
    return count
  }

  slotOffset(slot: number): number {
    return slot * slotBytes
  }

  clientOffset(slot: number): number {
    return slot * 4
  }

  clientPort(): number {
    return 5_353
  }

  queryLength(): number {
    return this.#query.length
  }

  envelope(): Uint8Array {
    return this.clients
  }

  setReply(): void {
    // Replies go nowhere.
  }

  send(): number {
    return 0
  }
}

/** @param sampleEvery one query in this many is logged; 0: no tap */
async function measureLoop(sampleEvery: number, queries: number) {
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 10_000 }
  const tx = new Transaction(settings, 1, counters)
  const ring = new SharedArrayBuffer(ringBytes)
  new Int32Array(ring)[LogCell.SampleEvery] = sampleEvery
  const tap = createTap(sampleEvery === 0 ? undefined : ring, 1)
  const view = createServingView(benchGeneration())
  tx.adopt(view)
  tap.adopt(view)
  const control = new Int32Array(new SharedArrayBuffer(16))
  const { query } = queryKinds.find(({ name }) => name === 'EDNS with client subnet')!
  const source = new MemorySource(query, control, ring)
  const parts = {
    control,
    bucket: { take: () => noLimit, giveBack: () => undefined },
    scripts: { startBatch: () => undefined },
    turns: { took: () => undefined },
    timer: { begin: () => undefined, end: () => undefined },
    rest: () => undefined,
    tap,
    takeOver: () => undefined,
    handOver: () => undefined,
  }
  return measure(String(sampleEvery), queries, (count) => {
    Atomics.store(control, Control.Generation, view.generation)
    source.start(count)
    respond(source, tx, parts)
  })
}

const [sampleEvery = '0', queries = '1000000'] = process.argv.slice(2)
const measured = await measureLoop(Number(sampleEvery), Number(queries))
process.stdout.write(`${JSON.stringify(measured)}\n`)
