// Runs a script step from the answer path: asks the helper, and waits at most two milliseconds.
import { scriptLimits, ScriptOutcome } from '#routing/script/contract.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { keepInOrder } from '#routing/script/reorder.ts'
import type { ScriptPort } from '#routing/script/port.ts'
import { Family } from '#routing/state/query.ts'
import type { Counters } from '#answer/counters/counters.ts'
import { MailCell, Mailbox, strikesMax } from '#answer/script-mailbox.ts'
import type { ScriptSet } from '#answer/script-mailbox.ts'

/** Number of a body that the generation does not have: nothing is run. */
const unknownScript = -1

/** One per answering thread: its mailbox, and the scripts of its generation. */
export class ScriptClient implements ScriptPort {
  readonly #mailbox: Mailbox
  readonly #counters: Counters
  #generation = 0
  #numbers: ReadonlyMap<string, number> = new Map()
  #seatStarts: Uint32Array = new Uint32Array(0)
  #seatScripts: Uint32Array = new Uint32Array(0)
  #strikes: Int32Array = new Int32Array(0)
  /** Runs left in this batch; without batches there is no limit. */
  #runsLeft: number = Number.MAX_SAFE_INTEGER

  readonly #waitMs: number
  /** Outcome of the last run. */
  outcome: ScriptOutcome = ScriptOutcome.Done

  /** @param waitMs longer in simulations, where the step limit ends a run */
  constructor(
    mailbox: SharedArrayBuffer,
    counters: Counters,
    waitMs: number = scriptLimits.waitMs,
  ) {
    this.#mailbox = new Mailbox(mailbox)
    this.#counters = counters
    this.#waitMs = waitMs
  }

  /** Call it before the policies of the generation are bound. */
  adopt(generation: number, scripts: ScriptSet | null): void {
    this.#generation = generation
    this.#numbers = new Map(scripts?.bodies.map((body, i) => [body, i]))
    this.#seatStarts = new Uint32Array(scripts?.seatStarts ?? new SharedArrayBuffer(0))
    this.#seatScripts = new Uint32Array(scripts?.seatScripts ?? new SharedArrayBuffer(0))
    this.#strikes = scripts === null ? new Int32Array(0) : new Int32Array(scripts.strikes)
  }

  /** Called before each batch by threads that answer in batches. */
  startBatch(): void {
    this.#runsLeft = scriptLimits.runsPerBatchMax
  }

  compile(body: string): number {
    return this.#numbers.get(body) ?? unknownScript
  }

  run(script: number, chain: Chain): void {
    if (script < 0) return
    this.outcome = this.#ask(script, chain)
    this.#counters.script(this.outcome)
  }

  #ask(script: number, chain: Chain): ScriptOutcome {
    const { cells, order } = this.#mailbox
    // Drawn even without a helper, so that later random numbers do not depend on it.
    const seed = chain.random.next() | 0
    const seat = this.#seatOf(chain.serviceIndex, script)
    if (Atomics.load(this.#strikes, seat) >= strikesMax) return ScriptOutcome.Benched
    const asked = cells[MailCell.Asked]!
    if (Atomics.load(cells, MailCell.HasHelper) === 0) return ScriptOutcome.Busy
    if (Atomics.load(cells, MailCell.Answered) !== asked) return ScriptOutcome.Busy
    if (this.#runsLeft === 0) return ScriptOutcome.Busy
    this.#runsLeft--
    cells[MailCell.Seat] = seat
    this.#write(script, chain, seed)
    const number = (asked + 1) | 0
    Atomics.store(cells, MailCell.Asked, number)
    Atomics.notify(cells, MailCell.Asked)
    Atomics.wait(cells, MailCell.Answered, asked, this.#waitMs)
    const isAnswered = Atomics.load(cells, MailCell.Answered) === number
    const outcome = isAnswered ? (cells[MailCell.Outcome]! as ScriptOutcome) : ScriptOutcome.Timeout
    if (outcome === ScriptOutcome.Timeout) {
      Atomics.add(this.#strikes, seat, 1)
      return outcome
    }
    if (this.#strikes[seat] !== 0) Atomics.store(this.#strikes, seat, 0)
    if (outcome !== ScriptOutcome.Done) return outcome
    // The order is checked, not trusted: the helper runs users' code.
    const kept = keepInOrder(chain, order, cells[MailCell.Named]!)
    return kept === 0 ? ScriptOutcome.Empty : ScriptOutcome.Done
  }

  /** A linear search: a service has few scripts. */
  #seatOf(service: number, script: number): number {
    const end = this.#seatStarts[service + 1]! - 1
    let seat = this.#seatStarts[service]!
    while (seat < end && this.#seatScripts[seat] !== script) seat++
    return seat
  }

  #write(script: number, chain: Chain, seed: number): void {
    const { cells, qname, members } = this.#mailbox
    const { client, count } = chain
    cells[MailCell.Generation] = this.#generation
    cells[MailCell.Script] = script
    cells[MailCell.Count] = count
    cells[MailCell.IsIpv6] = client.isIpv6 ? 1 : 0
    for (let i = 0; i < 4; i++) cells[MailCell.Client + i] = client.words[i]!
    cells[MailCell.IsV6] = chain.family === Family.V6 ? 1 : 0
    cells[MailCell.QnameBytes] = chain.qnameBytes
    cells[MailCell.Seed] = seed
    const first = chain.qname.length - chain.qnameBytes
    for (let i = 0; i < chain.qnameBytes; i++) qname[i] = chain.qname[first + i]!
    for (let i = 0; i < count; i++) members[i] = chain.members[i]!
  }
}
