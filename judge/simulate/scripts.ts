// Runs the scripts of a simulation in a thread as a node does, at the simulated time, until one
// exceeds its time.
import type { Bundle } from '#bundle/format/bundle.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import type { Chain } from '#routing/chain/chain.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { scriptBodiesOf, scriptSeatsOf } from '#routing/script/bodies.ts'
import { ScriptOutcome, scriptOutcomeNames } from '#routing/script/contract.ts'
import type { ScriptPort } from '#routing/script/port.ts'
import type { RoutingBuffers } from '#routing/state/state.ts'
import { Counters } from '#answer/counters/counters.ts'
import { ScriptClient } from '#answer/script/client.ts'
import { MailCell, Mailbox } from '#answer/script-mailbox.ts'
import { HelperThread } from '#answer/script/worker-thread.ts'

/** A run of a script that changed nothing. */
export interface ScriptNote {
  /** A name of `scriptOutcomeNames`. */
  readonly outcome: string
  readonly reason: string
}

/**
 * A simulation asks thousands of times, so a script that is slow this often is left out. A single
 * slow run may be due to the machine.
 */
const slow = { ms: 250, runsMax: 3 } as const
/** A run that takes longer does not return: its thread is killed. */
const hangMs = 2_000
/** How long a thread may take to start on a busy machine. */
const startMs = 30_000

/** @returns null when no bundle has a script, so that no engine is loaded */
export function scriptsOf(
  bundles: readonly Bundle[],
  tables: RoutingTables,
  nowMs: number,
): SimulatedScripts | null {
  if (!bundles.some((bundle) => scriptBodiesOf(bundle).length > 0)) return null
  return new SimulatedScripts(tables, nowMs)
}

/** A script thread for one bundle under one state. */
interface Side {
  readonly client: ScriptClient
  readonly helper: HelperThread
  readonly cells: Int32Array
}

export class SimulatedScripts implements ScriptPort {
  readonly #tables: RoutingTables
  readonly #nowMs: number
  readonly #bodies: string[] = []
  /** By body of the script: scripts that are no longer run, with the outcome of the last run. */
  readonly #stopped = new Map<string, ScriptNote>()
  readonly #slowRuns = new Map<string, number>()
  readonly #sides = new Map<RoutingBuffers, Side>()
  readonly #ending: Promise<void>[] = []
  #notes: (ScriptNote | null)[] = []

  constructor(tables: RoutingTables, nowMs: number) {
    this.#tables = tables
    this.#nowMs = nowMs
  }

  compile(body: string): number {
    const known = this.#bodies.indexOf(body)
    return known < 0 ? this.#bodies.push(body) - 1 : known
  }

  run(script: number, chain: Chain): void {
    const body = this.#bodies[script]!
    const note = this.#stopped.get(body) ?? this.#runOnce(body, chain)
    if (this.#notes.length < notesMax) this.#notes.push(note)
  }

  /** Returns notes on the first runs since the last call; null: the script finished. */
  takeNotes(): readonly (ScriptNote | null)[] {
    const notes = this.#notes
    this.#notes = []
    return notes
  }

  /** A warning for people about each script that was stopped. */
  warnings(): readonly string[] {
    return [...this.#stopped].map(([body, { reason }]) => {
      const line = body.replaceAll(/\s+/g, ' ').trim()
      const shown = line.length > shownMax ? `${line.slice(0, shownMax)}…` : line
      return `the script "${shown}" is left out from there on: ${reason}`
    })
  }

  async close(): Promise<void> {
    const ends = [...this.#sides.values()].map(({ helper }) => helper.end())
    this.#sides.clear()
    await Promise.all([...this.#ending, ...ends])
  }

  #runOnce(body: string, chain: Chain): ScriptNote | null {
    const { client, helper } = this.#sideOf(chain)
    const startedMs = systemClock.monotonicMs()
    client.run(client.compile(body), chain)
    const tookMs = Math.round(systemClock.monotonicMs() - startedMs)
    const { outcome } = client
    const report = helper.takeReport()
    if (outcome === ScriptOutcome.Timeout && report === undefined) this.#drop(chain.state.buffers)
    const reason = report?.reason ?? `it did not come back within ${hangMs} ms`
    const note = outcome === ScriptOutcome.Done ? null : { outcome: nameOf(outcome), reason }
    if (note !== null && outcome === ScriptOutcome.Timeout) this.#stopped.set(body, note)
    else if (tookMs > slow.ms) this.#countSlow(body, tookMs)
    return note
  }

  #countSlow(body: string, tookMs: number): void {
    const times = (this.#slowRuns.get(body) ?? 0) + 1
    this.#slowRuns.set(body, times)
    if (times < slow.runsMax) return
    const reason = `${times} runs of it were slow, the last one took ${tookMs} ms`
    this.#stopped.set(body, { outcome: nameOf(ScriptOutcome.Benched), reason })
  }

  #drop(buffers: RoutingBuffers): void {
    const side = this.#sides.get(buffers)
    this.#sides.delete(buffers)
    if (side !== undefined) this.#ending.push(side.helper.end())
  }

  #sideOf({ bundle, state: { buffers } }: Chain): Side {
    const known = this.#sides.get(buffers)
    // The engine may have given up: then the thread has ended, or will.
    if (known !== undefined && Atomics.load(known.cells, MailCell.HasHelper) === 1) return known
    this.#drop(buffers)
    const side = startSide(bundle, buffers, this.#tables, this.#nowMs)
    this.#sides.set(buffers, side)
    return side
  }
}

function nameOf(outcome: ScriptOutcome): string {
  return scriptOutcomeNames[outcome]
}

const shownMax = 60
/** More than the steps of any chain, and as much as a simulation can show. */
const notesMax = 64

/** Blocks until the thread runs. Its start needs nothing from this thread. */
function startSide(
  bundle: Bundle,
  routing: RoutingBuffers,
  tables: RoutingTables,
  nowMs: number,
): Side {
  const mailbox = new SharedArrayBuffer(Mailbox.bytes)
  const { cells } = new Mailbox(mailbox)
  const bodies = scriptBodiesOf(bundle)
  const { starts, scripts, keys } = scriptSeatsOf(bundle, bodies)
  const strikes = new SharedArrayBuffer(keys.length * 4)
  const set = { bodies, seatStarts: starts, seatScripts: scripts, strikes }
  const { bytes, digest } = bundle
  const helper = new HelperThread()
  helper.serve(mailbox, nowMs)
  helper.tell({ number: 1, bundle: bytes, digest, routing, tables, scripts: set })
  Atomics.wait(cells, MailCell.Adopted, 0, startMs)
  const hasStarted = Atomics.load(cells, MailCell.Adopted) === 1
  assert(hasStarted, `a thread for scripts starts within ${startMs} ms`)
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const client = new ScriptClient(mailbox, counters, hangMs)
  client.adopt(1, set)
  return { client, helper, cells }
}
