// The entry of a script helper thread: runs the scripts of one answering thread until it is killed.
import { parentPort, receiveMessageOnPort, threadId, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { adoptBundle } from '#bundle/load/load.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import { scriptLimits, ScriptOutcome } from '#routing/script/contract.ts'
import { loadScriptEngine } from '#routing/script/engine.ts'
import type { ScriptEngine } from '#routing/script/engine.ts'
import { positionsNamed, scriptQuestionOf } from '#routing/script/input.ts'
import type { ScriptWorld } from '#routing/script/input.ts'
import { keepPools } from '#routing/script/kept-pools.ts'
import { emptyResult } from '#routing/script/prelude.ts'
import { RoutingState } from '#routing/state/state.ts'
import { TableCollector } from '#system/worker/table-collector.ts'
import type { Generation } from '#answer/serving-view.ts'
import { MailCell, Mailbox } from '#answer/script-mailbox.ts'
import { ReportLimit } from './report-limit.ts'
import type { ScriptReport } from './report-limit.ts'

/** The only message to a helper over its own port: its mailbox, its channel and its mode. */
export interface ScriptPost {
  readonly mailbox: SharedArrayBuffer
  /** Receives generations and sends reports. */
  readonly port: MessagePort
  /**
   * Unix milliseconds of a simulation: runs end by their steps alone, the same on every machine,
   * and every failure is reported. null: the real clock, with its limits.
   */
  readonly simulatedMs: number | null
}

interface Served extends ScriptWorld {
  readonly number: number
  readonly bodies: readonly string[]
}

assert(parentPort !== null && workerData !== null, `thread ${threadId} is a helper`)
const main = parentPort
const collector = new TableCollector()
const engine = await loadScriptEngine()
warmUp(engine)
main.once('message', (post: ScriptPost) => new Helper(engine, post).serve())
main.postMessage('ready')

/** The engine compiles its code at the first run, which must not happen in a query's time. */
function warmUp(cold: ScriptEngine): void {
  const members = JSON.stringify([
    { ip: '192.0.2.1', region: '', weight: 1, priority: 0, health_score: 1, rtt_ms: 0 },
  ])
  const client = { ip: '192.0.2.1', subnet: '192.0.2.0/24', asn: 0, geo: '' }
  const globals = JSON.stringify({ client, qname: '.', qtype: 'A', now: 0 })
  const question = { members, globals, places: new Uint32Array(1), count: 1, seed: 0 }
  const values = new Float64Array(3)
  for (let i = 0; i < 200; i++) {
    cold.run('result = candidates.map((c) => c.ip).sort()', { ...question, values })
  }
}

class Helper {
  readonly #engine: ScriptEngine
  readonly #mailbox: Mailbox
  readonly #post: ScriptPost
  readonly #limit: ReportLimit | undefined
  #served: Served | undefined

  constructor(runner: ScriptEngine, post: ScriptPost) {
    this.#engine = runner
    this.#post = post
    this.#mailbox = new Mailbox(post.mailbox)
    this.#limit = post.simulatedMs === null ? new ReportLimit(systemClock) : undefined
  }

  serve(): void {
    const { cells } = this.#mailbox
    let last = cells[MailCell.Asked]!
    // A thread still waiting for the previous helper must not take an older answer for its own.
    cells[MailCell.Outcome] = ScriptOutcome.Busy
    Atomics.store(cells, MailCell.Answered, last)
    for (;;) {
      this.#adoptNewest()
      Atomics.wait(cells, MailCell.Asked, last)
      const asked = Atomics.load(cells, MailCell.Asked)
      // Woken only to adopt a generation.
      if (asked === last) continue
      last = asked
      if (this.#served?.number !== cells[MailCell.Generation]) this.#adoptNewest()
      cells[MailCell.Outcome] = this.#answer()
      // Leaves the question to the next helper, with a new engine.
      if (this.#engine.isBroken) Atomics.store(cells, MailCell.HasHelper, 0)
      Atomics.store(cells, MailCell.Answered, asked)
      Atomics.notify(cells, MailCell.Answered)
      if (this.#engine.isBroken) break
    }
    process.exit(1)
  }

  /** Answers no questions meanwhile: for large pools this takes longer than a query waits. */
  #adoptNewest(): void {
    const { cells } = this.#mailbox
    const generation = newest(this.#post.port)
    if (generation !== undefined) {
      Atomics.store(cells, MailCell.HasHelper, 0)
      this.#served = this.#adopt(generation)
      collector.takenOver(generation.tablesNumber ?? 0)
    }
    Atomics.store(cells, MailCell.HasHelper, 1)
    if (generation === undefined) return
    Atomics.store(cells, MailCell.Adopted, generation.number)
    Atomics.notify(cells, MailCell.Adopted)
  }

  #adopt(generation: Generation): Served {
    const bundle = adoptBundle(generation.bundle, generation.digest)
    const { bodies = [], seatStarts = new SharedArrayBuffer(0) } = generation.scripts ?? {}
    return {
      number: generation.number,
      bodies,
      bundle,
      state: new RoutingState(bundle, generation.routing),
      geo: new GeoTables(generation.tables.geo),
      keptPools: keepPools(this.#engine, bundle, new Uint32Array(seatStarts)),
    }
  }

  /** A late run may read memory being rewritten for the next generation; its result is ignored. */
  #answer(): ScriptOutcome {
    try {
      return this.#run()
    } catch {
      return ScriptOutcome.Busy
    }
  }

  #run(): ScriptOutcome {
    const { cells, order } = this.#mailbox
    const served = this.#served
    const body = served?.bodies[cells[MailCell.Script]!]
    const isAsked = served?.number === cells[MailCell.Generation]
    if (served === undefined || body === undefined || !isAsked) {
      return ScriptOutcome.Busy
    }
    const { simulatedMs } = this.#post
    const lateMs = simulatedMs === null ? systemClock.monotonicMs() + scriptLimits.runMs : Infinity
    const isLate = (): boolean => systemClock.monotonicMs() > lateMs
    const seat = cells[MailCell.Seat]!
    const nowMs = simulatedMs ?? systemClock.nowMs()
    const question = scriptQuestionOf(served, this.#query(), nowMs)
    const { outcome, named, message } = this.#engine.run(body, question, isLate)
    const count = positionsNamed(question, named, order)
    cells[MailCell.Named] = count
    const isEmpty = outcome === ScriptOutcome.Done && count === 0
    const ended = isEmpty ? ScriptOutcome.Empty : outcome
    if (ended !== ScriptOutcome.Done) {
      const reason = message === '' ? emptyResult : message
      this.#report({ generation: served.number, seat, outcome: ended, reason })
    }
    return ended
  }

  #query() {
    const { cells, members, qname } = this.#mailbox
    const words = new Uint32Array(4)
    for (let i = 0; i < 4; i++) words[i] = cells[MailCell.Client + i]!
    return {
      // Copies: an answering thread that gave up may write the next generation's members.
      members: members.slice(0, cells[MailCell.Count]),
      client: { words, isIpv6: cells[MailCell.IsIpv6] === 1 },
      qname: qname.slice(0, cells[MailCell.QnameBytes]),
      isV6: cells[MailCell.IsV6] === 1,
      seed: cells[MailCell.Seed]!,
    }
  }

  #report(report: ScriptReport): void {
    if (this.#limit?.allows(report.seat) !== false) this.#post.port.postMessage(report)
  }
}

function newest(port: MessagePort): Generation | undefined {
  let generation: Generation | undefined
  for (;;) {
    const received = receiveMessageOnPort(port) as { message: Generation } | undefined
    if (received === undefined) return generation
    generation = received.message
  }
}
