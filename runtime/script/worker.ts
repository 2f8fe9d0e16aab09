// A helper thread: runs the scripts of one answering thread, one after the other, until it is
// killed.
import { parentPort, receiveMessageOnPort, threadId, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { adoptBundle } from '#bundle/load.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import { scriptLimits, ScriptOutcome } from '#routing/script/contract.ts'
import { loadScriptEngine } from '#routing/script/engine.ts'
import type { ScriptEngine } from '#routing/script/engine.ts'
import { positionsNamed, scriptInputOf } from '#routing/script/input.ts'
import type { ScriptWorld } from '#routing/script/input.ts'
import { RoutingState } from '#routing/state.ts'
import type { Generation } from '../transaction.ts'
import { MailCell, Mailbox } from './mailbox.ts'

/** The one message that a helper gets over its own port: whom to serve. */
export interface ScriptPost {
  readonly mailbox: SharedArrayBuffer
  /** Generations arrive here. */
  readonly port: MessagePort
}

interface Served extends ScriptWorld {
  readonly number: number
  readonly bodies: readonly string[]
}

assert(parentPort !== null && workerData !== null, `thread ${threadId} is a helper`)
const main = parentPort
const engine = await loadScriptEngine()
warmUp(engine)
main.once('message', ({ mailbox, port }: ScriptPost) => serve(engine, new Mailbox(mailbox), port))
main.postMessage('ready')

/** The engine's code is compiled when it first runs: that must not fall into a query's time. */
function warmUp(cold: ScriptEngine): void {
  const candidates = [
    { ip: '192.0.2.1', region: '', weight: 1, priority: 0, health_score: 1, rtt_ms: 0 },
  ]
  const client = { ip: '192.0.2.1', subnet: '192.0.2.0/24', asn: 0, geo: '' }
  const input = { candidates, client, qname: '.', qtype: 'A', now: 0 }
  for (let i = 0; i < 200; i++) {
    cold.run('result = candidates.map((c) => c.ip).sort()', JSON.stringify(input), i)
  }
}

function serve(runner: ScriptEngine, mailbox: Mailbox, port: MessagePort): void {
  const { cells } = mailbox
  let served: Served | undefined
  let last = cells[MailCell.Asked]!
  // Whoever still waits for the helper before this one gets no answer of an earlier question.
  cells[MailCell.Outcome] = ScriptOutcome.Busy
  Atomics.store(cells, MailCell.Answered, last)
  Atomics.store(cells, MailCell.HasHelper, 1)
  for (;;) {
    served = newest(port) ?? served
    if (served !== undefined) Atomics.store(cells, MailCell.Adopted, served.number)
    Atomics.wait(cells, MailCell.Asked, last)
    const asked = Atomics.load(cells, MailCell.Asked)
    // Woken to look for a generation.
    if (asked === last) continue
    last = asked
    if (served?.number !== cells[MailCell.Generation]) served = newest(port) ?? served
    cells[MailCell.Outcome] = outcomeOf(runner, mailbox, served)
    Atomics.store(cells, MailCell.Answered, asked)
    Atomics.notify(cells, MailCell.Answered)
    if (runner.isBroken) break
  }
  // The next helper has an engine that works.
  Atomics.store(cells, MailCell.HasHelper, 0)
  process.exit(1)
}

/** Late, it may read what the next generation is being written over: nonsense, for nobody. */
function outcomeOf(
  runner: ScriptEngine,
  mailbox: Mailbox,
  served: Served | undefined,
): ScriptOutcome {
  try {
    return answer(runner, mailbox, served)
  } catch {
    return ScriptOutcome.Busy
  }
}

function newest(port: MessagePort): Served | undefined {
  let generation: Generation | undefined
  for (;;) {
    const received = receiveMessageOnPort(port) as { message: Generation } | undefined
    if (received === undefined) break
    generation = received.message
  }
  if (generation === undefined) return undefined
  const bundle = adoptBundle(generation.bundle, generation.digest)
  return {
    number: generation.number,
    bodies: generation.scripts?.bodies ?? [],
    bundle,
    state: new RoutingState(bundle, generation.routing),
    geo: new GeoTables(generation.tables.geo),
  }
}

function answer(
  runner: ScriptEngine,
  { cells, members, order, qname }: Mailbox,
  served: Served | undefined,
): ScriptOutcome {
  const number = cells[MailCell.Generation]
  const body = served?.bodies[cells[MailCell.Script]!]
  if (served === undefined || served.number !== number || body === undefined) {
    return ScriptOutcome.Busy
  }
  const lateMs = systemClock.monotonicMs() + scriptLimits.runMs
  const words = new Uint32Array(4)
  for (let i = 0; i < 4; i++) words[i] = cells[MailCell.Client + i]!
  const query = {
    // A copy: an answering thread that has given up may go on to another generation's members.
    members: members.slice(0, cells[MailCell.Count]),
    count: cells[MailCell.Count]!,
    client: { words, isIpv6: cells[MailCell.IsIpv6] === 1 },
    qname: qname.slice(0, cells[MailCell.QnameBytes]),
    isV6: cells[MailCell.IsV6] === 1,
  }
  const input = scriptInputOf(served, query, systemClock.nowMs())
  const isLate = (): boolean => systemClock.monotonicMs() > lateMs
  const run = runner.run(body, JSON.stringify(input), cells[MailCell.Seed]!, isLate)
  cells[MailCell.Named] = positionsNamed(input, run.addresses, order)
  return run.outcome
}
