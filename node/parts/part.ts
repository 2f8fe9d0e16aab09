// Defines a part of the daemon: a function that starts it, and returns its outputs for later parts
// and how to stop it. Chains parts in order, and stops them.
import { assert } from '#lib/assert.ts'
import type { Io } from '#system/process/command.ts'
import type { ProcessLog } from '#process/log.ts'
import { startCalledOff } from '#process/data/called-off.ts'
import type { Predecessor, WriteGate } from '#process/data/predecessor.ts'
import type { CreateThreads } from '#server/threads/threads-port.ts'
import type { Settings } from '#settings/settings.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Later } from './part-outputs.ts'

/** Input of a start. */
export interface NodeStart {
  readonly settings: Settings
  readonly log: ProcessLog
  readonly env: Io['env']
  /** null: there is no process to take over from. */
  readonly before: Predecessor | null
  /** Creates the threads that answer. */
  readonly createThreads: CreateThreads
  /** Aborted when no further part is to start. Left out: the start cannot be called off. */
  readonly calledOff?: AbortSignal
}

/** What exists before the first part. */
export interface Given extends NodeStart {
  /** Settings in force: a reload replaces them. */
  settings: Settings
  /** Settings as last read: they differ in what only a restart applies. */
  latestSettings: Settings
  /** To be called when the data directory is held, before anything reads it. */
  readonly prepare: () => Promise<Result<null, string>>
  /** Opens when the data directory is held. */
  readonly gate: WriteGate
  /** True: the process is being replaced, and its successor is in the cluster. */
  isReplaced: boolean
  /** Outputs of later parts, for callbacks; undefined until their parts have started. */
  readonly later: Later
}

export type Stop = () => void | Promise<void>

interface Started<Outputs> {
  readonly gives: Outputs
  readonly stop?: Stop
  /** Stops the answering part, after everything else. */
  readonly stopLast?: Stop
}

/** Errors: a sentence for the operator. */
export type Outcome<Outputs = object> = Result<Started<Outputs>, string>
type Part<Have, Outputs> = (have: Have) => Outcome<Outputs> | Promise<Outcome<Outputs>>

/** Functions that stop the started parts, in the order of the start. */
export interface Stops {
  readonly first: Stop[]
  readonly last: Stop[]
}

/**
 * Starts parts one after the other, until one fails or the start is called off. A part names its
 * needs in its parameter: unless an earlier part provides them, `with` does not compile. A part
 * that fails must leave nothing behind.
 */
export class PartChain<Have extends Pick<Given, 'later' | 'calledOff'>> {
  readonly #stops: Stops
  /** The outputs of all parts in one object. */
  readonly started: Promise<Result<Have, string>>

  /** @param stops receives the stops of the started parts */
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

/** Stops the started parts, last first. */
export async function stopParts(stops: Stop[]): Promise<void> {
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop()
}
