// Defines a part of the daemon: a function that starts it, says what it gives to later parts, and
// how to stop it; the chain that starts parts in order, and the loop that stops them.
import { assert } from '#lib/assert.ts'
import type { Io } from '#system/process/command.ts'
import type { ProcessLog } from '#node/process/log.ts'
import { startCalledOff } from '#node/data/called-off.ts'
import type { Predecessor, WriteGate } from '#node/data/predecessor.ts'
import type { CreateThreads } from '#server/threads/threads-port.ts'
import type { Settings } from '#settings/settings.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Later } from './part-outputs.ts'

/** What a node is started with. */
export interface NodeStart {
  readonly settings: Settings
  readonly log: ProcessLog
  readonly env: Io['env']
  /** null: this process takes nothing over. */
  readonly before: Predecessor | null
  /** Makes the threads that answer. */
  readonly createThreads: CreateThreads
  /** Aborted: no further part is to start. Left out: nobody calls the start off. */
  readonly calledOff?: AbortSignal
}

/** What there is before the first part. */
export interface Given extends NodeStart {
  /** As they are now: a reload changes them. */
  settings: Settings
  /** As they were read last: what only a restart applies differs. */
  latestSettings: Settings
  /** Runs when the data directory is held, before anything reads it. */
  readonly prepare: () => Promise<Result<null, string>>
  /** Opens when the data directory is held. */
  readonly gate: WriteGate
  /** The process is being replaced: it leaves no cluster, for its successor is there already. */
  isReplaced: boolean
  /** For callbacks: what later parts give, undefined until then. */
  readonly later: Later
}

export type Stop = () => void | Promise<void>

export interface Started<Outputs> {
  readonly gives: Outputs
  readonly stop?: Stop
  /** Stops what answers, when everything else has stopped. */
  readonly stopLast?: Stop
}

/** Errors: a sentence for the operator. */
export type Outcome<Outputs = object> = Result<Started<Outputs>, string>
type Part<Have, Outputs> = (have: Have) => Outcome<Outputs> | Promise<Outcome<Outputs>>

/** What is to be stopped, in the order of the start. */
export interface Stops {
  readonly first: Stop[]
  readonly last: Stop[]
}

/**
 * Parts that start one after the other, up to the first that fails, or until the start is called
 * off. A part names what it needs in its parameter: where no earlier part gives that, `with` does
 * not compile. One that fails leaves nothing behind: what has to be taken back belongs to a part
 * before it.
 */
export class PartChain<Have extends Pick<Given, 'later' | 'calledOff'>> {
  readonly #stops: Stops
  /** What the parts have given, in one object. */
  readonly started: Promise<Result<Have, string>>

  /** @param stops gets what has started */
  constructor(started: Promise<Result<Have, string>>, stops: Stops) {
    this.started = started
    this.#stops = stops
  }

  with<Outputs extends object>(part: Part<Have, Outputs>): PartChain<Have & Outputs> {
    return new PartChain(this.#startNext(part), this.#stops)
  }

  async #startNext<Outputs extends object>(
    part: Part<Have, Outputs>,
  ): Promise<Result<Have & Outputs, string>> {
    const before = await this.started
    if (!before.ok) return before
    if (before.value.calledOff?.aborted === true) return err(startCalledOff)
    const outcome = await part(before.value)
    if (!outcome.ok) return outcome
    const { gives, stop, stopLast } = outcome.value
    const isNew = Object.keys(gives).every((name) => !Object.hasOwn(before.value, name))
    assert(isNew, 'a part gives what no part before it has given')
    if (stop !== undefined) this.#stops.first.push(stop)
    if (stopLast !== undefined) this.#stops.last.push(stopLast)
    Object.assign(before.value.later, gives)
    return ok(Object.assign(before.value, gives))
  }
}

/** Stops what was started, last first. */
export async function stopParts(stops: Stop[]): Promise<void> {
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop()
}
