// Makes a query log as an answering thread and its writer do, under a clock moved by hand.
import { writeFileSync } from 'node:fs'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { Clock } from '#lib/clock.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { answer } from '#answer/answer.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Carrier, Transaction, Transport } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'
import { DnstapEncoder } from '#answer/query-log/dnstap.ts'
import { ControlType, controlFrame, frameHead } from '#answer/query-log/frame-stream.ts'
import { LoggedQueries } from '#answer/query-log/logged-queries.ts'
import { QueryTap } from '#answer/query-log/query-tap.ts'
import { LogCell, ringBytes } from '#answer/query-log/ring.ts'
import { cookieCells } from '#test/support/dns/cookies.ts'

export const loggedSettings = {
  ...{ udpPayloadSize: 1_232, nsid: 'n1', versionBind: '', tcpIdleTimeoutMs: 10_000 },
}

export interface LoggedQuestion {
  readonly query: Uint8Array
  /** 4 or 16 octets. */
  readonly client: Uint8Array
  readonly isTcp: boolean
  /** Default: none. */
  readonly carrier?: Carrier
}

export class RecordedLog {
  readonly #ring = new SharedArrayBuffer(ringBytes)
  readonly #tap: QueryTap
  readonly #tx: Transaction
  readonly #logged: LoggedQueries
  readonly #encoder = new DnstapEncoder({ node: 'n1', version: '0', truncateClients: false })
  readonly #frames: Buffer[] = [controlFrame(ControlType.Start)]
  readonly #reply = new Uint8Array(65_535)
  #serving: RoutingState | undefined
  #dynamic: HandedBundle | null = null

  constructor(seed: number, { nowMs }: Pick<Clock, 'nowMs'>) {
    new Int32Array(this.#ring)[LogCell.SampleEvery] = 1
    this.#tap = new QueryTap(this.#ring, seed, nowMs)
    const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
    this.#tx = new Transaction({ ...loggedSettings, cookies: cookieCells() }, seed, counters)
    this.#logged = new LoggedQueries([this.#ring], { nowMs, machineMs: nowMs })
  }

  /** Adopts a bundle as a thread does, if it has not. */
  serve(
    bundle: Bundle,
    state: RoutingState,
    tables: RoutingTables,
    dynamic: HandedBundle | null = null,
  ): void {
    if (this.#serving === state && this.#dynamic === dynamic) return
    this.#serving = state
    this.#dynamic = dynamic
    const { bytes, digest } = bundle
    const routing = state.buffers
    const view = createServingView({ number: 1, bundle: bytes, digest, dynamic, routing, tables })
    this.#tx.adopt(view)
    this.#tap.adopt(view)
  }

  ask({ query, client, isTcp, carrier }: LoggedQuestion): void {
    const tx = this.#tx
    tx.transport = isTcp ? Transport.Tcp : Transport.Udp
    tx.carrier = carrier ?? Carrier.Plain
    tx.source = client
    tx.sourceBytes = client.length
    this.#tap.first(1)
    this.#tap.asked(tx, query, 0, query.length, 5_353)
    const written = answer(tx, query, 0, query.length, this.#reply, 0, this.#reply.length)
    this.#tap.answered(tx, this.#reply, 0, written)
    this.#logged.drain((one) => {
      const octets = this.#encoder.encode(one)
      this.#frames.push(frameHead(octets.length), Buffer.from(octets))
    })
  }

  write(path: string): void {
    writeFileSync(path, Buffer.concat([...this.#frames, controlFrame(ControlType.Stop)]))
  }
}
