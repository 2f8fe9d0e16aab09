// Signs before anybody asks: looks once, for each bundle and set of keys, for all signatures that
// answers may need, and makes the missing ones; later renews signatures that end soon.
import { adoptBundle } from '#bundle/load/load.ts'
import type { Clock } from '#lib/clock.ts'
import { Counters } from '#answer/counters/counters.ts'
import { createSigningView } from '#answer/serving-view.ts'
import type { Generation } from '#answer/serving-view.ts'
import { AheadTable } from '#answer/signing/ahead-table.ts'
import { signatureLimits } from '#answer/signing/signature-table.ts'
import { SigningMemory } from '#answer/signing/signing-memory.ts'
import { Transaction, Transport } from '#answer/transaction.ts'
import { AheadNames } from './ahead-names.ts'

/** The data to sign, and the keys to sign with. */
export type AheadGeneration = Pick<
  Generation,
  'number' | 'bundle' | 'digest' | 'dynamic' | 'routing' | 'signing'
>

export const aheadLimits = Object.freeze({
  /** Signatures that one pass looks for: the table has no place for more. */
  perPass: signatureLimits.ofZoneMax,
  /** From one pass to the next. Signatures whose period ends are renewed within an hour. */
  passSeconds: 600,
  /**
   * A pass takes at most half of a core: where a quota counts cores, a lower priority alone would
   * take time from answers.
   */
  workMs: 10,
  restMs: 10,
  /**
   * After a pass the thread pauses this many times as long. One look takes 2 µs; where commits come
   * each second, passes over hundreds of thousands of rrsets then take a twentieth of a core.
   */
  pauseTimes: 19,
  pauseMsMax: 30_000,
  /** Between two looks at the clock. */
  lookMs: 10_000,
})

const settings = { nsid: '', versionBind: '', udpPayloadSize: 512, tcpIdleTimeoutMs: 0 }
const messageBytes = 65_535
const stepsAtOnce = 16
const beginning = { phase: 0, node: 0 } as const

export class AheadWalk {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #tx: Transaction
  readonly #memory = new SigningMemory((memory) => {
    this.#madeBefore = this.made
    return (this.#table = new AheadTable(memory))
  })
  #table: AheadTable | undefined
  #madeBefore = 0
  #generation: AheadGeneration | undefined
  #names: AheadNames | undefined
  /** undefined: the last pass is over. */
  #pass: Iterator<void> | undefined
  /** A bundle came during the pass, which then cannot tell which signatures are obsolete. */
  #isMixed = false
  /** Something has changed since the pass began. */
  #isWanted = false
  /** Signatures that the pass may still look for, and the time that it took. */
  #left = 0
  #workedMs = 0
  #notBeforeMs = -Infinity
  /** When the pass began; seconds since 1970. */
  #begunSeconds = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
    const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
    this.#tx = new Transaction(settings, 1, counters)
    const reply = new Uint8Array(messageBytes)
    this.#tx.bind(reply, reply)
    this.#tx.transport = Transport.Tcp
  }

  /** Signatures made since the start, including those in earlier tables. */
  get made(): number {
    return this.#madeBefore + (this.#table?.made ?? 0)
  }

  /** Signatures of this pass without a place: each is made when a query asks for it. */
  get leftOut(): number {
    return this.#table?.leftOut ?? 0
  }

  /** Goes over to a generation; the one before is no longer read. */
  take(generation: AheadGeneration): void {
    const before = this.#generation
    this.#generation = generation
    const bundle = adoptBundle(generation.bundle, generation.digest)
    const view = createSigningView(bundle, generation, this.#memory)
    this.#tx.view = view
    this.#tx.signer = view.signer
    const from = this.#names ?? beginning
    this.#names = view.isSigning ? new AheadNames(this.#tx, bundle) : undefined
    const isSame =
      before?.digest === generation.digest &&
      before.signing?.number === generation.signing?.number &&
      before.signing?.signatures === generation.signing?.signatures
    this.#isWanted ||= !isSame
    if (this.#pass === undefined) return
    // The names are about the same; the next pass finds what this one misses.
    this.#isMixed = true
    this.#isWanted = true
    this.#pass = this.#names?.sign(from)
  }

  /** Works for a while, if there is something to do. @returns milliseconds until the next turn */
  turn(): number {
    const { monotonicMs } = this.#clock
    const beganMs = monotonicMs()
    if (!this.#begin(beganMs)) return this.#restMs(beganMs)
    const endMs = beganMs + aheadLimits.workMs
    let nowMs = beganMs
    for (; this.#pass !== undefined && nowMs < endMs; nowMs = monotonicMs()) {
      for (let i = 0; i < stepsAtOnce; i++) this.#step()
    }
    this.#workedMs += nowMs - beganMs
    if (this.#pass !== undefined) return aheadLimits.restMs
    const pauseMs = Math.min(this.#workedMs * aheadLimits.pauseTimes, aheadLimits.pauseMsMax)
    this.#notBeforeMs = nowMs + pauseMs
    return this.#restMs(nowMs)
  }

  #restMs(nowMs: number): number {
    const { restMs, lookMs } = aheadLimits
    return this.#isWanted ? Math.min(Math.max(this.#notBeforeMs - nowMs, restMs), lookMs) : lookMs
  }

  #step(): void {
    if (this.#left-- <= 0 || this.#pass?.next().done !== false) this.#pass = undefined
  }

  /** Begins a pass if one is wanted, it is time for one, or the clock has jumped. */
  #begin(nowMs: number): boolean {
    const [names, table] = [this.#names, this.#table]
    if (names === undefined || table === undefined) return false
    if (this.#pass !== undefined) return true
    const age = table.nowSeconds - this.#begunSeconds
    const isDue = age < 0 || age >= aheadLimits.passSeconds
    if (!isDue && (!this.#isWanted || nowMs < this.#notBeforeMs)) return false
    if (!this.#isMixed) table.beginPass()
    this.#isMixed = false
    this.#isWanted = false
    this.#begunSeconds = table.nowSeconds
    this.#left = aheadLimits.perPass
    this.#workedMs = 0
    this.#pass = names.sign(beginning)
    return true
  }
}
