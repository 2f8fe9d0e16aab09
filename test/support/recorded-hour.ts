// An hour of a node's control thread under a clock moved by hand: probes, windows, swaps, and
// answers of the real answer path, with a journal.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { SimulationMemory, simulate } from '#judge/simulate/simulation.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'
import type { SimulatedClient } from '#judge/simulate/question.ts'
import { JournalMoments } from '#why/query-log/journal-moments.ts'
import { Replay } from '#why/query-log/replay.ts'
import { tablesOf } from '#inputs/geo/databases.ts'
import { explainPast, PastMemory } from '#why/explain.ts'
import type { PastAnswer } from '#why/explain.ts'
import { err, ok } from '#lib/result.ts'
import { RrType } from '#dns/rrtype.ts'
import { Random } from '#lib/random.ts'
import { wordsOfUid } from '#routing/rum/targets.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { WrittenRecords } from '#zones/dynamic/written-records.ts'
import { storedTxt } from './txt-records.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import { carryRoutingState, createRoutingState } from '#routing/state/candidates.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { Journal } from '#journal/journal.ts'
import { findMoment, segmentsIn } from '#journal/moment.ts'
import { LiveState } from '#server/node/live-state.ts'
import { simulatedMonitor } from '../unit/health/simulated-monitor.ts'
import {
  bareModel,
  bundleOf,
  healthCheck,
  member,
  pool,
  service,
  uid,
  zone,
} from './bundle-models.ts'
import { maintenance, rollout } from './overlay-node.ts'
import { RecordedLog, loggedSettings } from './recorded-log.ts'
import type { LoggedQuestion } from './recorded-log.ts'
import { geoBuffersOf } from './routing-site.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

export const recordedNames = [
  ...['failover', 'weighted', 'turns', 'sticky', 'scored', 'near', 'many', 'fixed', 'fast'],
].map((label) => `${label}.test.`)

const silent = (): void => undefined
const log = { info: silent, warn: silent, error: silent }
const check = { ...healthCheck, type: 'tcp' as const, intervalMs: 10_000, timeoutMs: 1_000 }

/** Places of clients. */
const geo = geoBuffersOf({
  countries: [
    ['10.0.0.0/9', 'DE'],
    ['10.128.0.0/9', 'US'],
  ],
})

/** Weights, priorities, windows and rollouts vary between models. */
function modelOf(number: number, nowMs: number): BundleModel {
  const members = (first: number, regions: readonly string[]) =>
    regions.map((region, i) =>
      member(`192.0.2.${first + i}`, {
        uid: uid(first * 0x100 + i),
        weight: 10 + ((number * 7 + i * 3) % 5) * 10,
        priority: 1 + ((number + i) % 3),
        region,
      }),
    )
  const plain = (label: string, parts: Parameters<typeof service>[2]) =>
    service(recordedNames.indexOf(`${label}.test.`) + 1, `${label}.test.`, parts)
  return {
    ...bareModel,
    commit: number.toString(16).padStart(40, '0'),
    zones: [zone('test.')],
    pools: [
      pool(1, members(1, ['DE', 'DE', 'US', 'US', 'FR']), { healthCheck: check }),
      pool(2, members(101, ['DE', 'US', 'FR']), {
        healthCheck: { ...check, scoreWindow: 10, fallCount: 3, riseCount: 2 },
        minHealthy: number % 4 === 3 ? 2 : 0,
      }),
    ],
    services: [
      plain('failover', { algorithm: 'failover' }),
      plain('weighted', { algorithm: 'weighted-round-robin' }),
      plain('turns', { algorithm: 'round-robin' }),
      plain('sticky', { filterChain: ['sticky'] }),
      plain('scored', { filterChain: ['failover'], pool: 1 }),
      plain('near', { filterChain: ['geo-ip', 'failover'] }),
      plain('many', { filterChain: ['weighted-round-robin'], answerCount: 2 }),
      plain('fixed', { filterChain: ['failover'], answerCount: 3, pool: 1 }),
      plain('fast', { filterChain: ['rum'] }),
    ],
    rollouts:
      number % 3 === 1
        ? [rollout({ baseWeight: 10 + ((number * 7) % 5) * 10, startAtMs: nowMs + 20_000 })]
        : [],
    windows:
      number % 3 === 2
        ? [maintenance({ member: 1, startAtMs: nowMs + 15_000, endAtMs: nowMs + 70_000 })]
        : [],
  }
}

export interface SentAnswer {
  readonly atMs: number
  readonly name: string
  readonly client: SimulatedClient
  readonly given: Simulation
}

export class RecordedHour {
  readonly #random: Random
  readonly #directory = mkdtempSync(join(tmpdir(), 'gslbd-hour-'))
  readonly #bundles = new Map<string, Bundle>()
  readonly #memory = new SimulationMemory()
  readonly #past = new PastMemory()
  readonly #node: Awaited<ReturnType<typeof simulatedMonitor>>
  readonly #live: LiveState
  readonly #log: RecordedLog
  readonly journal: Journal
  readonly #rum: RumStore
  readonly #texts = new WrittenRecords()
  #handed: HandedBundle | null = null
  readonly #down = new Set<string>()
  #serving: { bundle: Bundle; state: RoutingState } | undefined
  #swaps = 0

  private constructor(seed: number, node: Awaited<ReturnType<typeof simulatedMonitor>>) {
    this.#random = new Random(seed)
    this.#node = node
    const { clock, after } = node.world
    node.world.answer = ({ ipAddress }) => ({
      outcome: this.#down.has(ipAddress) ? ('failure' as const) : ('success' as const),
      afterMs: 3 + (Number(ipAddress.split('.').at(-1)) % 20),
    })
    this.journal = new Journal({
      ...{ directory: this.#directory, bytesMax: 64 * 1_048_576, ageMaxMs: 30 * 86_400_000 },
      ...{ node: 'n1', version: '0', clock, after, log },
    })
    this.#rum = new RumStore(clock)
    const health = node.monitor
    this.#log = new RecordedLog(seed, clock)
    this.#live = new LiveState({ health, journal: this.journal, clock, after, log })
  }

  static async start(seed: number): Promise<RecordedHour> {
    return new RecordedHour(seed, await simulatedMonitor(seed))
  }

  swap(): void {
    const { clock } = this.#node.world
    const bundle = bundleOf(modelOf(++this.#swaps, clock.nowMs()))
    this.#bundles.set(bundle.digest, bundle)
    const before = this.#serving
    const state =
      before === undefined
        ? createRoutingState(bundle, this.#swaps)
        : carryRoutingState(before, bundle, this.#swaps)
    this.#live.prepare(bundle, state)
    this.#serving = { bundle, state }
    this.#handTexts(bundle)
    const commit = bundle.manifest.commit ?? ''
    this.journal.serves({ digest: bundle.digest, commit, seq: this.#swaps }, bundle, state)
    this.#live.serve(bundle, state)
    this.journal.settled()
  }

  /** Inverts the probe result of some member. */
  flip(): void {
    const first = this.#random.below(8)
    const address = first < 5 ? `192.0.2.${1 + first}` : `192.0.2.${101 + first - 5}`
    if (!this.#down.delete(address)) this.#down.add(address)
  }

  /** A browser reports its latency to some members. */
  measure(): void {
    const { bundle } = this.#serving!
    const client = Uint8Array.of(10, this.#random.below(8) * 32, 0, 9)
    for (let n = this.#random.below(3); n >= 0; n--) {
      const uidWords = wordsOfUid(bundle, this.#random.below(5))
      this.#rum.record(client, uidWords, 10 + this.#random.below(40))
    }
  }

  /** A client writes a TXT record, or deletes it if it exists. */
  write(): void {
    const name = ['_a.', '_b.', 'failover.', 'x.'][this.#random.below(4)]!
    const record = storedTxt([`${name}test.`, `${this.#random.below(3)}`, 30])
    const isThere = [...this.#texts.records()].some(({ id }) => id === record.id)
    const added = isThere ? [] : [record]
    const removed = isThere ? [record.id] : []
    const change = { revision: this.#texts.revision + 1, added, removed }
    this.#texts.change(change)
    this.#handTexts(this.#serving!.bundle)
  }

  #handTexts(bundle: Bundle): void {
    this.#handed = encodeWritten(this.#texts.snapshot().records, bundle).handed
  }

  walk(ms: number): void {
    this.#node.world.walk(ms)
    this.#rum.sweep()
  }

  #tables(bundle: Bundle): RoutingTables {
    return { ...tablesOf(geo)(bundle), rum: this.#rum.buffer }
  }

  /** A query of some client, with the current random numbers and turns. */
  ask(): SentAnswer {
    const { bundle, state } = this.#serving!
    const name = recordedNames[this.#random.below(recordedNames.length)]!
    const octets = Uint8Array.of(10, this.#random.below(8) * 32, this.#random.below(2), 7)
    const client = { octets, prefixBits: 32 }
    state.serviceCursor.fill(this.#random.below(1_000_000))
    const question = { qname: wireName(name), qtype: RrType.A, client, seed: this.#random.next() }
    const tables = this.#tables(bundle)
    const parts = { ...question, count: 0, tables, scripts: null, texts: this.#handed }
    const given = simulate(bundle, state, parts, this.#memory)
    return { atMs: this.#node.world.clock.nowMs(), name, client, given }
  }

  /** Answers a query as a thread with a query log does, each with its service's next turn. */
  askLogged(question: LoggedQuestion): void {
    const { bundle, state } = this.#serving!
    this.#log.serve(bundle, state, this.#tables(bundle), this.#handed)
    this.#log.ask(question)
  }

  /** @returns the path of the query log */
  writeLog(): string {
    const path = join(this.#directory, 'queries.dnstap')
    this.#log.write(path)
    return path
  }

  /** Replays records of the log from the journal. */
  replay(): Replay {
    const moments = new JournalMoments(this.#directory)
    return new Replay({
      settings: loggedSettings,
      databases: { tablesFor: tablesOf(geo), releases: {} },
      momentAt: (atMs) => moments.at(atMs),
      bundleOf: async ({ digest }) => {
        const bundle = this.#bundles.get(digest)
        return bundle === undefined ? err(`there is no ${digest}`) : ok(bundle)
      },
    })
  }

  /** The journal's explanation of an answer. */
  async why({ atMs, name, client }: SentAnswer): Promise<PastAnswer | string> {
    const moment = findMoment(segmentsIn(this.#directory), atMs)
    if (moment.kind === 'gap') return moment.why
    const bundle = this.#bundles.get(moment.generation.digest)!
    const question = { qname: wireName(name), qtype: RrType.A, client }
    const past = await explainPast(bundle, moment, tablesOf(geo)(bundle), question, this.#past)
    return past.ok ? past.value : past.error
  }

  async close(): Promise<void> {
    this.#live.stop()
    await this.#node.monitor.stop()
    await this.journal.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
