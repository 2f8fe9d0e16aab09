// Runs the simulated queries of the API: copies what the node answers from, and asks a thread.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import { assert } from '#lib/assert.ts'
import type { MemberHealthView } from '#ports/member-health.ts'
import type { SimulatedQuery, SimulationFault, Simulator } from '#ports/simulator.ts'
import type { ConfigHistory, FilesFault } from '#config/history.ts'
import type { ConfigView } from '#config/view.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import { TenantPlaces } from '#lib/sequence/tenant-places.ts'
import type { Result } from '#lib/result.ts'
import type { RoutingBuffers } from '#routing/state/state.ts'
import type { LiveNode } from '#server/node/live-node.ts'
import { JobThread } from '#system/worker/job-thread.ts'
import { clientOfCountry } from './client-of-country.ts'
import type { LiveAnswer, LiveJob } from './live-job.ts'
import { hasRecords } from './records-owner.ts'
import type { OtherCommit } from './other-commit.ts'
import { namedPoolsOf } from '#compiler/tree/fallback.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'

interface LiveSimulatorParts {
  /** Bundle and state that answer now; undefined: there is no bundle. */
  readonly node: () => LiveNode | undefined
  readonly nodeName: string
  readonly config: ConfigView
  readonly memberHealth: MemberHealthView
  /** Names of nodes that report their probes to this one; null: it is alone. */
  readonly peers: () => readonly string[] | null
  readonly clock: Clock
  /** Returns the files of a commit. */
  readonly filesOf: FilesOf
  /**
   * Time for one query; default `jobThreadLimits.jobMs`: a script needs time to start its thread.
   */
  readonly jobMs?: number
}

export const liveLimits = {
  /** Queries at the same time, including the one under way. */
  waitingMax: 8,
  /** Simulations of one tenant at once, so that others have a place. */
  perTenantMax: 4,
  /** Copies that are tried: the memory of a generation may be reused during the copy. */
  triesMax: 3,
  /** Bundles of other commits that are kept. */
  othersMax: 2,
} as const

const notRead: Readonly<Record<FilesFault, string>> = {
  'not-found': 'is none of the history of the accepted configuration',
  busy: 'cannot be read now, since others ask for the history: try again',
  unavailable: 'cannot be read at the moment: try again',
  'too-large': 'has too many files to be compiled here: use gslbd simulate',
}

type FilesOf = ConfigHistory['filesOf']
type Outcome = Result<LiveAnswer, SimulationFault>
type Simulated = Result<LiveAnswer['shown'] & { readonly node: string }, SimulationFault>

/** Facts of a query beside the answer of the thread. */
interface Asked {
  live?: LiveNode
  /** The commit that answers. */
  commit?: string
  fault?: SimulationFault
}

const silent = 'no node of this name tells this one what its probes find'

export class LiveSimulator {
  readonly #parts: LiveSimulatorParts
  readonly #thread: JobThread<LiveJob, Outcome>
  /** Bundles by commit, the last used one at the end. */
  readonly #others = new Map<string, Uint8Array>()
  readonly #places = new TenantPlaces(liveLimits.perTenantMax)

  constructor(parts: LiveSimulatorParts) {
    this.#parts = parts
    const { waitingMax } = liveLimits
    const file = new URL('./live-worker.ts', import.meta.url)
    this.#thread = new JobThread({ file, waitingMax, jobMs: parts.jobMs })
  }

  /**
   * In the view of another node: the service is found first, then asked with that node's health.
   */
  simulate: Simulator['simulate'] = async (query, tenant) => {
    const leave = this.#places.enter(tenant)
    if (leave === undefined) return err({ code: 'busy' })
    return await this.#inView(query, tenant).finally(leave)
  }

  async #inView(query: SimulatedQuery, tenant: string | null): Promise<Simulated> {
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

  clientOf: Simulator['clientOf'] = (country) => {
    const live = this.#parts.node()
    return live === undefined ? err('no-database') : clientOfCountry(live.tables.geo, country)
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  async #simulate(
    query: SimulatedQuery,
    tenant: string | null,
    seen: LiveJob['seen'],
  ): Promise<Simulated> {
    const { node, nodeName, clock } = this.#parts
    for (let tries = 1; ; tries++) {
      assert(tries <= liveLimits.triesMax, 'a query is tried a few times at most')
      const asked: Asked = {}
      // Reads the files of a commit in its turn: they may be many, so only of one commit at a time.
      const done = await this.#thread.run(async () => {
        const asOf = await this.#otherOf(query.commit)
        if (!asOf.ok) asked.fault = asOf.error
        const live = node()
        if (!asOf.ok || live === undefined) return undefined
        asked.live = live
        asked.commit = asOf.value?.commit ?? live.commit
        const { bundle, state, tables } = live
        const routing = copyOf(state.buffers)
        const of = { bundle: bundle.bytes, digest: bundle.digest, routing, tables }
        const other = asOf.value === undefined ? {} : { other: asOf.value }
        return { ...of, query, tenant, nowMs: clock.nowMs(), seen, ...other }
      })
      if (done === 'busy') return err({ code: 'busy' })
      const { live, fault, commit = '' } = asked
      if (fault !== undefined) return err(fault)
      if (live === undefined) return err({ code: done === 'too-slow' ? done : 'no-bundle' })
      // The memory that was copied may belong to another generation by now.
      if (node()?.bundle !== live.bundle && tries < liveLimits.triesMax) continue
      if (typeof done === 'string') return err({ code: 'too-slow' })
      if (!done.ok) return done
      const { shown, owner, tenant: holder } = done.value
      const isSeen =
        tenant === null || holder === tenant || hasRecords(this.#parts.config, owner, tenant)
      if (!isSeen) return err({ code: 'not-found' })
      const digest = done.value.other?.digest ?? live.bundle.digest
      if (done.value.other !== undefined) this.#remember(commit, done.value.other.bytes)
      return ok({ ...shown, node: nodeName, commit, digest })
    }
  }

  /** @returns undefined: the active commit was asked for */
  async #otherOf(
    commit: string | undefined,
  ): Promise<Result<OtherCommit | undefined, SimulationFault>> {
    if (commit === undefined || commit === this.#parts.node()?.commit) return ok(undefined)
    const bytes = this.#others.get(commit)
    if (bytes !== undefined) return ok({ commit, from: { bytes } })
    const files = await this.#parts.filesOf(commit)
    if (files.ok) return ok({ commit, from: { files: files.value } })
    return err({ code: 'invalid', field: 'commit', reason: notRead[files.error] })
  }

  #remember(commit: string, bytes: Uint8Array): void {
    assert(commit !== '', 'a bundle is remembered by its commit')
    this.#others.delete(commit)
    this.#others.set(commit, bytes)
    const [oldest = ''] = this.#others.keys()
    if (this.#others.size > liveLimits.othersMax) this.#others.delete(oldest)
    assert(this.#others.size <= liveLimits.othersMax, 'bundles are within their limit')
  }
}

/**
 * Health may be written during the copy: a row of a moment ago beside a current one does no harm.
 */
function copyOf({ table, cursors }: RoutingBuffers): RoutingBuffers {
  const copy = (from: SharedArrayBuffer): SharedArrayBuffer =>
    sharedCopy(new Uint8Array(from)).buffer
  return { table: copy(table), cursors: copy(cursors) }
}

/**
 * @returns health by TENANT/POOL/ADDRESS; members that the other node does not know are left out
 */
function healthSeenBy(
  node: string,
  service: { readonly name: string; readonly tenantId: string },
  snapshot: ConfigSnapshot,
  memberHealth: MemberHealthView,
): ReadonlyMap<string, AssumedHealth> {
  const { name, tenantId } = service
  const spec = snapshot.find('Service', tenantId, name)?.object.spec
  const seen = new Map<string, AssumedHealth>()
  for (const poolName of spec === undefined ? [] : namedPoolsOf(spec)) {
    const pool = snapshot.find('Pool', tenantId, poolName)
    if (pool === undefined) continue
    for (const { uid, ipAddress = '', externalSignalMode } of partsIn('Member', pool)) {
      if (ipAddress === '') continue
      const { nodes } = memberHealth.of({ uid, ipAddress, externalSignalMode })
      const view = nodes.find((one) => one.node === node)
      if (view === undefined) continue
      const { healthy, score } = view
      seen.set(`${tenantId}/${poolName}/${ipAddress}`, { healthy, score })
    }
  }
  return seen
}
