// Signs before anybody asks: for each bundle and set of keys it looks once for all signatures that
// answers may need, and makes those that are not there; later it renews what ends soon.
import { adoptBundle } from '#bundle/load/load.ts'
import { Counters } from '#answer/counters/counters.ts'
import { createSigningView } from '#answer/serving-view.ts'
import type { Generation } from '#answer/serving-view.ts'
import { AheadTable } from '#answer/signing/ahead-table.ts'
import { signatureLimits } from '#answer/signing/signature-table.ts'
import { SigningMemory } from '#answer/signing/signing-memory.ts'
import { Transaction, Transport } from '#answer/transaction.ts'
import { AheadNames } from './ahead-names.ts'

/** What is signed, and with which keys. */
export type AheadGeneration = Pick<
  Generation,
  'number' | 'bundle' | 'digest' | 'dynamic' | 'routing' | 'signing'
>

export const aheadLimits = Object.freeze({
  /** Signatures that a pass looks for: the table has no place for more. */
  perPass: signatureLimits.ofZoneMax,
  /** From one pass to the next; what a period ends for has an hour to be renewed. */
  passSeconds: 600,
})

const settings = { nsid: '', versionBind: '', udpPayloadSize: 512, tcpIdleTimeoutMs: 0 }
const messageBytes = 65_535

export class AheadWalk {
  readonly #tx: Transaction
  readonly #memory = new SigningMemory((memory) => (this.#table = new AheadTable(memory)))
  #table: AheadTable | undefined
  #generation: AheadGeneration | undefined
  #names: AheadNames | undefined
  /** undefined: it is over. */
  #pass: Iterator<void> | undefined
  /** Signatures that it may still look for. */
  #left = 0
  /** When it began; seconds since 1970. */
  #begunSeconds = 0

  constructor() {
    const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
    this.#tx = new Transaction(settings, 1, counters)
    const reply = new Uint8Array(messageBytes)
    this.#tx.bind(reply, reply)
    this.#tx.transport = Transport.Tcp
  }

  /** Signatures that were made in this table. */
  get made(): number {
    return this.#table?.made ?? 0
  }

  /** How many of this pass had no place: each is made when it is asked for. */
  get leftOut(): number {
    return this.#table?.leftOut ?? 0
  }

  /** From now on nothing of the generation before is read. */
  take(generation: AheadGeneration): void {
    const before = this.#generation
    this.#generation = generation
    const bundle = adoptBundle(generation.bundle, generation.digest)
    const view = createSigningView(bundle, generation, this.#memory)
    this.#tx.view = view
    this.#tx.signer = view.signer
    const from = this.#names?.at ?? 0
    this.#names = view.isSigning ? new AheadNames(this.#tx, bundle) : undefined
    const isSame =
      before?.digest === generation.digest &&
      before.signing?.number === generation.signing?.number &&
      before.signing?.signatures === generation.signing?.signatures
    const wasOver = this.#pass === undefined
    this.#pass = undefined
    if (!isSame || !wasOver) this.#begin(from, wasOver)
  }

  /** Begins a pass when it is time for one, or the clock has jumped. */
  look(): void {
    if (this.#pass !== undefined || this.#table === undefined) return
    const age = this.#table.nowSeconds - this.#begunSeconds
    if (age < 0 || age >= aheadLimits.passSeconds) this.#begin(0, true)
  }

  /** Looks for one signature. @returns false: the pass is over */
  step(): boolean {
    if (this.#left-- <= 0 || this.#pass?.next().done !== false) this.#pass = undefined
    return this.#pass !== undefined
  }

  /**
   * @param from a node: where another bundle came in between, the walk goes on there
   * @param wasOver the pass before was: what it has not looked for is not needed
   */
  #begin(from: number, wasOver: boolean): void {
    if (this.#names === undefined || this.#table === undefined) return
    if (wasOver) this.#table.beginPass()
    this.#begunSeconds = this.#table.nowSeconds
    this.#left = aheadLimits.perPass
    this.#pass = this.#names.sign(from)
  }
}
