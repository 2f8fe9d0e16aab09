// Takes the samples that responders leave, and sets how often they sample.
import { timedEvery } from '#answer/counters/batch-timer.ts'
import { ringBytes, RingCell, ringLimits, RingSlot } from './query-ring.ts'

const { slots, slotBytes, headBytes } = ringLimits

export interface SampledQuery {
  readonly query: Uint8Array
  /** 4 or 16 octets. */
  readonly client: Uint8Array
}

export class QuerySamples {
  /** One for each responder. */
  readonly rings: readonly SharedArrayBuffer[]

  constructor(threads: number) {
    this.rings = Array.from({ length: threads }, () => new SharedArrayBuffer(ringBytes))
  }

  /** Drops the samples left before. */
  turn(isOn: boolean): void {
    for (const ring of this.rings) {
      const cells = new Int32Array(ring, 0, headBytes / 4)
      Atomics.store(cells, RingCell.Taken, Atomics.load(cells, RingCell.Written))
      Atomics.store(cells, RingCell.BatchMask, timedEvery - 1)
      Atomics.store(cells, RingCell.IsOn, isOn ? 1 : 0)
    }
  }

  /** Empties all rings. @returns at most `max` samples; the rest is dropped */
  drain(max: number): readonly SampledQuery[] {
    const each = Math.max(1, Math.floor(max / Math.max(1, this.rings.length)))
    return this.rings.flatMap((ring) => drained(ring, each)).slice(0, max)
  }
}

function drained(ring: SharedArrayBuffer, max: number): readonly SampledQuery[] {
  const cells = new Int32Array(ring, 0, headBytes / 4)
  const taken = Atomics.load(cells, RingCell.Taken)
  const count = (Atomics.load(cells, RingCell.Written) - taken) | 0
  const octets = new Uint8Array(ring)
  const queries = Array.from({ length: Math.min(count, max) }, (_, i) =>
    copyOf(octets, headBytes + ((taken + i) & (slots - 1)) * slotBytes),
  )
  Atomics.store(cells, RingCell.Taken, (taken + count) | 0)
  const mask = Atomics.load(cells, RingCell.BatchMask)
  // Full rings halve the rate of samples; nearly empty ones raise it.
  if (count >= slots)
    Atomics.store(cells, RingCell.BatchMask, Math.min(timedEvery - 1, mask * 2 + 1))
  else if (count < slots / 4) Atomics.store(cells, RingCell.BatchMask, mask >> 1)
  return queries
}

function copyOf(octets: Uint8Array, at: number): SampledQuery {
  const length = (octets[at + RingSlot.QueryBytes]! << 8) | octets[at + RingSlot.QueryBytes + 1]!
  const clientBytes = octets[at + RingSlot.ClientBytes]!
  const client = at + RingSlot.Client
  const query = at + RingSlot.Query
  return {
    client: octets.slice(client, client + clientBytes),
    query: octets.slice(query, query + length),
  }
}
