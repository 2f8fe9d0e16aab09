// Simulated queries of the API: copies what the node answers from, and asks a thread of their own.
import { Worker } from 'node:worker_threads'
import type { MemberHealthView } from '#api/ports/member-health.ts'
import type { SimulatedQuery, SimulationFault, Simulator } from '#api/ports/simulator.ts'
import { fullName } from '#compiler/values/record-sets.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigView } from '#config/view.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RoutingBuffers } from '#routing/state/state.ts'
import type { LiveNode } from '#runtime/node/live-node.ts'
import type { LiveAnswer, LiveJob } from './live-job.ts'
import { healthSeenBy } from './peer-health.ts'

export interface LiveSimulatorParts {
  /** What answers now; undefined: nothing. */
  readonly node: () => LiveNode | undefined
  readonly nodeName: string
  readonly config: ConfigView
  readonly memberHealth: MemberHealthView
  /** Other nodes that tell this one what their probes find, by name; null: it is alone. */
  readonly peers: () => readonly string[] | null
  readonly clock: Clock
  /** Default `liveLimits.jobMs`. */
  readonly jobMs?: number
}

export const liveLimits = {
  /** For one query; then its thread is ended. A script needs a thread of its own to start. */
  jobMs: 10_000,
  /** Queries that wait for the one before. */
  waitingMax: 8,
  /** A thread that nobody asks is ended. */
  idleMs: 60_000,
  /** A generation that went away while it was read is followed by another one. */
  triesMax: 3,
} as const

type Outcome = Result<LiveAnswer, SimulationFault>
type Simulated = Result<LiveAnswer['shown'] & { readonly node: string }, SimulationFault>

const silent = 'no node of this name tells this one what its probes find'

export class LiveSimulator {
  readonly #parts: LiveSimulatorParts
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #waiting = 0
  /** Of the query that is under way. */
  #settle: (outcome: Outcome) => void = () => undefined
  #working: Promise<unknown> = Promise.resolve()

  constructor(parts: LiveSimulatorParts) {
    this.#parts = parts
  }

  simulate: Simulator['simulate'] = async (query, tenant) => {
    if (this.#waiting >= liveLimits.waitingMax) return err({ code: 'busy' })
    this.#waiting++
    const run = () => this.#asSeen(query, tenant)
    const done = this.#working.then(run, run)
    this.#working = done
    try {
      return await done
    } finally {
      this.#waiting--
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#end()
  }

  /** By another node: the service is looked for first, then asked with what that one finds. */
  async #asSeen(query: SimulatedQuery, tenant: string | null): Promise<Simulated> {
    const { nodeName, peers, config, memberHealth } = this.#parts
    const { node: by = nodeName } = query
    if (by === nodeName) return this.#simulate(query, tenant, new Map())
    if (peers()?.includes(by) !== true)
      return err({ code: 'invalid', field: 'node', reason: silent })
    const first = await this.#simulate(query, tenant, new Map())
    if (!first.ok) return first
    const { service } = first.value
    if (service === null) return ok({ ...first.value, node: by })
    const seen = healthSeenBy(by, service, config.snapshot(), memberHealth)
    const second = await this.#simulate(query, tenant, seen)
    return second.ok ? ok({ ...second.value, node: by }) : second
  }

  async #simulate(
    query: SimulatedQuery,
    tenant: string | null,
    seen: LiveJob['seen'],
  ): Promise<Simulated> {
    const { node, nodeName, clock } = this.#parts
    for (let tries = 1; ; tries++) {
      const live = node()
      if (live === undefined) return err({ code: 'no-bundle' })
      const { bundle, state, tables, commit } = live
      const routing = copyOf(state.buffers)
      const { bytes, digest } = bundle
      const nowMs = clock.nowMs()
      const job = { bundle: bytes, digest, routing, tables, query, tenant, nowMs, seen }
      const done = await this.#run(job)
      // The memory that was read may be another generation's by now.
      if (node()?.bundle !== bundle && tries < liveLimits.triesMax) continue
      if (!done.ok) return done
      const { shown, owner, tenant: holder } = done.value
      const isSeen = tenant === null || holder === tenant || this.#hasRecords(owner, tenant)
      return isSeen ? ok({ ...shown, node: nodeName, commit, digest }) : err({ code: 'not-found' })
    }
  }

  /** A name without a service is of whoever has its records. */
  #hasRecords(owner: string | null, tenant: string): boolean {
    if (owner === null) return false
    const files = this.#parts.config.snapshot().list('Records')
    return files.some((file) => {
      if (file.tenant !== tenant) return false
      const { zone } = file.object.spec
      return partsIn('RecordSet', file).some(({ name }) => fullName(zone, name) === owner)
    })
  }

  async #run(job: LiveJob): Promise<Outcome> {
    clearTimeout(this.#idle)
    const worker = (this.#worker ??= this.#start())
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const fail = (): void => resolve(err({ code: 'too-slow' }))
    const timer = setTimeout(fail, this.#parts.jobMs ?? liveLimits.jobMs)
    this.#settle = resolve
    worker.postMessage(job)
    const done = await promise
    clearTimeout(timer)
    if (!done.ok && done.error.code === 'too-slow') await this.#end()
    else {
      this.#idle = setTimeout(() => void this.#end(), liveLimits.idleMs)
      this.#idle.unref()
    }
    return done
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    if (worker === undefined) return
    await worker.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./live-worker.ts', import.meta.url), { env: {} })
    const settle = (outcome: Outcome): void => {
      // Whatever one says that is being ended was asked by nobody.
      if (this.#worker === worker) this.#settle(outcome)
    }
    const fail = (): void => settle(err({ code: 'too-slow' }))
    worker.on('message', settle).on('error', fail).on('exit', fail)
    worker.unref()
    return worker
  }
}

/** The writer may be at work: a row of a moment ago beside one of now does no harm. */
function copyOf({ table, cursors }: RoutingBuffers): RoutingBuffers {
  const copy = (from: SharedArrayBuffer): SharedArrayBuffer => {
    const to = new SharedArrayBuffer(from.byteLength)
    new Uint8Array(to).set(new Uint8Array(from))
    return to
  }
  return { table: copy(table), cursors: copy(cursors) }
}
