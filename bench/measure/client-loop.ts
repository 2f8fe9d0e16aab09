// Runs the answer path without a socket, with another client for each query.
import { systemClock } from '#lib/clock.ts'
import type { ScriptPort } from '#routing/script/port.ts'
import { Counters } from '#answer/counters/counters.ts'
import { answer } from '#answer/answer.ts'
import { Transaction } from '#answer/transaction.ts'
import { createServingView } from '#answer/serving-view.ts'
import type { Generation } from '#answer/serving-view.ts'
import type { Clients } from '../data/clients.ts'
import { encodeQuery } from '../data/query-wire.ts'

/** How the server learns the client's address. */
export type ClientMode = 'source4' | 'source6' | 'ecs4' | 'ecs6'
export const clientModes: readonly ClientMode[] = ['source4', 'source6', 'ecs4', 'ecs6']

/** Prefixes of /24 and /56, the longest that RFC 7871 section 11.1 recommends, in octets. */
export const ecsBytes = { ecs4: 3, ecs6: 7 } as const

export class ClientLoop {
  readonly #tx: Transaction
  readonly #slot = new Uint8Array(2_048)
  #next = 0

  /** @param scripts null: script steps change nothing */
  constructor(generation: Generation, scripts: ScriptPort | null = null) {
    const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 10_000 }
    const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
    this.#tx = new Transaction(settings, 1, counters, systemClock.monotonicMs)
    this.#tx.adopt(createServingView(generation, { scripts }))
  }

  /** Queries a name as the next clients. @returns octets of all replies */
  run(qname: string, mode: ClientMode, clients: Clients, times: number): number {
    return mode === 'ecs4' || mode === 'ecs6'
      ? this.#runSubnets(subnetQuery(qname, mode), ecsBytes[mode], clients, times)
      : this.#runSources(encodeQuery(qname), clients, times)
  }

  #runSources(query: Uint8Array, { octets, bytes, count }: Clients, times: number): number {
    const slot = this.#slot
    const tx = this.#tx
    tx.source = octets
    tx.sourceBytes = bytes
    let replies = 0
    for (let i = 0; i < times; i++) {
      for (let at = 0; at < query.length; at++) slot[at] = query[at]!
      this.#next = (this.#next + 1) % count
      tx.sourceAt = this.#next * bytes
      replies += answer(tx, slot, 0, query.length, slot, 0, slot.length)
    }
    return replies
  }

  #runSubnets(query: Uint8Array, kept: number, clients: Clients, times: number): number {
    const { octets, bytes, count } = clients
    const slot = this.#slot
    const at = query.length - kept
    let replies = 0
    for (let i = 0; i < times; i++) {
      for (let k = 0; k < at; k++) slot[k] = query[k]!
      this.#next = (this.#next + 1) % count
      const from = this.#next * bytes
      for (let k = 0; k < kept; k++) slot[at + k] = octets[from + k]!
      replies += answer(this.#tx, slot, 0, query.length, slot, 0, slot.length)
    }
    return replies
  }
}

/** A query whose last octets are the subnet's. */
export function subnetQuery(qname: string, mode: 'ecs4' | 'ecs6'): Uint8Array {
  const kept = ecsBytes[mode]
  const family = mode === 'ecs4' ? 1 : 2
  const option = [0, 8, 0, 4 + kept, 0, family, kept * 8, 0, ...Array<number>(kept).fill(0)]
  // RFC 6891: root, type 41, payload size 1232, no flags.
  const opt = [0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, option.length, ...option]
  const query = Buffer.concat([encodeQuery(qname), Buffer.from(opt)])
  query.writeUInt16BE(1, 10)
  return query
}
