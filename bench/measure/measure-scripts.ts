// A process that measures script steps: time and CPU of a query decided by a script, in the
// answering thread and its helper. Run by the benchmark `routing`.
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { Counters } from '#answer/counters/counters.ts'
import { ScriptClient } from '#answer/script/client.ts'
import { ScriptHost } from '#answer/script/host.ts'
import type { Generation } from '#answer/serving-view.ts'
import { ClientLoop } from './client-loop.ts'
import { clients4 } from '../data/clients.ts'
import { worldCountries } from '../data/geo-tables.ts'
import { domainOf, routingGeneration } from '../data/routing-kinds.ts'
import type { RoutingKind } from '../data/routing-kinds.ts'
import { median } from '../support/statistics.ts'

interface MeasuredScript {
  readonly name: string
  /** From the query to its reply, as seen by the answering thread. */
  readonly wallMicros: number
  readonly ownMicros: number
  readonly helperMicros: number
  /** Share of all runs that put the candidates in order; the others changed nothing. */
  readonly done: number
}

export interface ScriptResult {
  readonly rounds: number
  readonly operations: number
  readonly scripts: readonly MeasuredScript[]
}

const isQuick = process.argv.includes('--quick')
const times = isQuick ? 500 : 5_000
const rounds = isQuick ? 3 : 9
/** Consecutive queries; chunks with an interrupted run, as on a busy machine, are not counted. */
const chunk = 20
const triesMax = (times / chunk) * 20
/** Time for the helper to have its engine and the bundle. */
const patienceMs = 30_000

const scriptKind = (name: string, body: string): RoutingKind => ({
  name,
  tables: 'world',
  filterChain: [`script:${body}`, 'failover'],
})
/** The second script is that of docs/operations/scripts.md. */
const kinds: readonly RoutingKind[] = [
  scriptKind('[script, failover] one address', `result = ['10.20.0.1']`),
  scriptKind(
    '[script, failover] the client’s country',
    `const near = candidates.filter((c) => c.region === client.geo)
     result = (near.length > 0 ? near : candidates).map((c) => c.ip)`,
  ),
  scriptKind(
    '[script, failover] sorts by weight and RTT',
    `const worth = (c) => c.weight * c.health_score / (c.rtt_ms + 1)
     result = candidates.sort((a, b) => worth(b) - worth(a)).map((c) => c.ip)`,
  ),
]
const silent: Log = { info: () => {}, warn: () => {}, error: () => {} }

interface Runner {
  readonly run: (kind: number, count: number) => number
  /** Runs that put the candidates in order, since the start. */
  readonly done: () => number
}

interface Cost {
  readonly wall: number
  readonly own: number
  readonly all: number
}

const nowOf = (): Cost => {
  const own = process.threadCpuUsage()
  const all = process.cpuUsage()
  return {
    wall: performance.now() * 1_000,
    own: own.user + own.system,
    all: all.user + all.system,
  }
}

async function startScripts(plain: Generation) {
  const host = new ScriptHost({ threads: 1, clock: systemClock, log: silent })
  const generation = { ...plain, scripts: host.scriptsOf(plain) }
  host.publish(generation)
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const client = new ScriptClient(host.mailbox(0), counters)
  client.adopt(generation.number, generation.scripts)
  await until('the helper of scripts starts', () => host.haveAdopted(generation.number))
  const done = (): number => counters.snapshot().byScriptOutcome['done']!
  return { host, loop: new ClientLoop(generation, client), done }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const untilMs = performance.now() + patienceMs
  while (!holds()) {
    if (performance.now() > untilMs) throw new Error(`${what}: not in ${patienceMs} ms`)
    await pause(5)
  }
}

/** Sums the cost of chunks in which every run succeeded. */
async function costOf({ run, done }: Runner, kind: number): Promise<Cost & { done: number }> {
  const sum = { wall: 0, own: 0, all: 0 }
  let counted = 0
  let asked = 0
  let came = 0
  for (let tries = 0; counted < times && tries < triesMax; tries++) {
    const doneBefore = done()
    const before = nowOf()
    run(kind, chunk)
    const after = nowOf()
    asked += chunk
    came += done() - doneBefore
    // Lets the script host, on this thread, resume suspended scripts.
    await pause(1)
    if (done() - doneBefore < chunk) {
      await runsAgain({ run, done }, kind, 1)
      continue
    }
    counted += chunk
    for (const key of ['wall', 'own', 'all'] as const) sum[key] += after[key] - before[key]
  }
  const each = (total: number): number => total / counted
  return { wall: each(sum.wall), own: each(sum.own), all: each(sum.all), done: came / asked }
}

async function runsAgain({ run, done }: Runner, kind: number, times: number): Promise<void> {
  const before = done()
  await until('a script runs', () => run(kind, 10) > 0 && done() - before >= times)
}

async function measureScripts(): Promise<ScriptResult> {
  const geo = { country: worldCountries(), subdivision: null, asn: null, location: null }
  const { host, loop, done } = await startScripts(routingGeneration(kinds, geo, false))
  const clients = clients4()
  const runner: Runner = {
    run: (kind, count) => loop.run(domainOf(kind), 'source4', clients, count),
    done,
  }
  // All kinds run before the first measurement, until their code is compiled.
  for (const kind of kinds.keys()) await runsAgain(runner, kind, 500)
  const taken = kinds.map(() => [] as (Cost & { done: number })[])
  for (let round = 0; round < rounds; round++) {
    for (const [kind, costs] of taken.entries()) costs.push(await costOf(runner, kind))
  }
  await host.stop()
  const middle = (costs: readonly (Cost & { done: number })[], key: keyof Cost | 'done') =>
    median(costs.map((cost) => cost[key]))
  return {
    rounds,
    operations: times,
    scripts: taken.map((costs, kind) => ({
      name: kinds[kind]!.name,
      wallMicros: middle(costs, 'wall'),
      ownMicros: middle(costs, 'own'),
      helperMicros: median(costs.map(({ all, own }) => all - own)),
      done: middle(costs, 'done'),
    })),
  }
}

const result = await measureScripts()
process.stdout.write(`${JSON.stringify(result)}\n`)
