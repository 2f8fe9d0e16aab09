// Runs a DNS node: its bundle, its threads, and the swap from one bundle to the next.
import { noRoutingTables } from '#routing/choose/environment.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { LiveNode } from './live-node.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import { soaSerialOf } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SignedChannelRecord } from '#bundle/signature/channel.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { assert } from '#lib/assert.ts'
import { systemAfter } from '#lib/timer.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { carryRoutingState, createRoutingState } from '#routing/state/candidates.ts'
import { hasSameNetworks, packNetworks } from '#routing/tables/network-index.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { DynamicLink } from './dynamic-link.ts'
import { GenerationMemory } from './generation-memory.ts'
import { GeoLink } from '#inputs/geo/geo-link.ts'
import { countHealth, noMembers } from './health-counts.ts'
import { LiveState } from './live-state.ts'
import type { OverlayClock, OverlayStatus } from './overlay-clock.ts'
import { SwapTimes } from '#answer/counters/swap-times.ts'
import { QueryMeter } from '#answer/counters/query-meter.ts'
import { ResponseHits } from '#answer/counters/response-hits.ts'
import type { DnsNodeParts } from './node-parts.ts'
import { activationLines } from './node-status.ts'
import type { NodeStatus } from './node-status.ts'
import { namedBy, refuse } from './refusals.ts'
import type { Refusal } from './refusals.ts'
import { acceptableRecord, answerableBundle, servableBundle } from './verify-bundle.ts'
import { bootBundle, replaceBad, withoutBundle } from './stored-bundles.ts'
import type { StoredBundle, StoredBundlesParts } from './stored-bundles.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import type { NodeMemberCounts } from '#state/ports/node-counts.ts'
import type { HandedSockets } from '#system/sockets/handed-sockets.ts'
import { CrashWindow } from '#system/worker/crash-window.ts'
import type { DnsThreads } from '#server/threads/threads-port.ts'
import { noThreads } from '#server/threads/no-threads.ts'

interface ToKeep extends Publication {
  /** The record that served until then. */
  readonly before: SignedChannelRecord | undefined
}

/** A checked bundle in the memory that it will serve from, with its state. Nothing reads it yet. */
interface Built {
  readonly record: ChannelRecord
  readonly bundle: Bundle
  readonly state: RoutingState
  /** No thread reads the memory of the generation before the one that serves. */
  readonly isFree: boolean
}

/** The data handed to the threads, besides tables. */
interface Serving {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly networks: SharedArrayBuffer | null
  readonly dynamic: HandedBundle | null
}

/** Numbers of generations are stored in cells of 32 bits with a sign. */
const generationMax = 2 ** 31 - 1
/** Threads that do not answer within this time are logged, not waited for. */
const adoptionPatienceMs = 5_000
/** A bundle under which threads die so often within this window is taken out of service. */
const crashes = { max: 3, windowMs: 60_000 } as const

export class DnsNode {
  readonly #parts: DnsNodeParts
  /** null: nothing is stored. */
  readonly #stored: StoredBundlesParts | null
  readonly #threads: DnsThreads
  readonly #live: LiveState
  readonly #geo: GeoLink
  readonly #dynamic: DynamicLink
  #serving: Serving | undefined
  /** Whether threads run that read what is published. */
  #hasThreads = false
  /** The tables of the last publication. */
  #tables: RoutingTables = noRoutingTables
  #active: ChannelRecord | undefined
  #activeSigned: SignedChannelRecord | undefined
  /** Newest record ever activated here; `#active` may be older after a way back. */
  #newest: ChannelRecord | undefined
  /** A bundle that was checked before its record came. */
  #prepared: Bundle | undefined
  #refused: NodeStatus['refused'] = null
  /** The publication that the disk failed to store; undefined: the active bundle is on disk. */
  #unstored: ToKeep | undefined
  readonly #memory: GenerationMemory
  readonly #meter: QueryMeter
  readonly scriptStatus = () => this.#threads.scripts.status()
  readonly aheadStatus = () => this.#threads.ahead.status()
  readonly counters = () => this.#threads.counters()
  /** Sockets that may be handed to another process. */
  readonly sockets = () => this.#threads.sockets()
  readonly #hits = new ResponseHits()
  #onServed: () => void = () => undefined
  #generation = 0
  #resting: Promise<void> | undefined
  readonly #swapTimes = new SwapTimes()
  readonly #crashes = new CrashWindow(crashes)

  constructor(parts: DnsNodeParts) {
    this.#parts = parts
    // The responders answer UDP, and one more thread answers TCP.
    const threads = parts.threads.threads + 1
    this.#memory = new GenerationMemory(threads)
    this.#meter = new QueryMeter(threads, parts.usedMax)
    const onRecord = (record: ChannelRecord): void => this.#remember(record)
    this.#stored = parts.store && { ...parts, store: parts.store, onRecord }
    this.#live = new LiveState({ ...parts, after: systemAfter })
    this.#geo = new GeoLink(parts.geo, () => this.#publish())
    parts.signing?.onChange(() => this.#publish())
    this.#dynamic = new DynamicLink(parts, () => this.#serveDynamic())
    this.#threads = parts.createThreads({
      ...parts.threads,
      log: parts.log,
      onCrash: (error) => this.#onThreadCrash(error),
    })
  }

  /**
   * Boots from the store, then opens the sockets, or takes those of the process before: the first
   * query finds the last good bundle and its health. After an error, `stop` is still needed.
   */
  async start(handed?: HandedSockets): ReturnType<DnsThreads['start']> {
    this.#boot()
    if (handed?.areAnswered === true && this.#serving === undefined) return err(withoutBundle)
    if (this.#serving !== undefined && !this.#dynamic.isFor(this.#serving.bundle)) {
      await this.#serveDynamic()
    }
    const { health, resolver } = this.#parts
    health?.start()
    await health?.adopted()
    await resolver?.settled()
    const started = await this.#threads.start(handed)
    this.#hasThreads = started.ok
    if (started.ok) this.#parts.journal?.settled()
    return started
  }

  /** Resolves when every thread that gets queries answers from the TXT records as they are now. */
  async #serveDynamic(): Promise<void> {
    if (this.#serving === undefined) return
    // Another bundle may come meanwhile, encoded with the records as they were before.
    do await this.#dynamic.encodeFor(this.#serving.bundle)
    while (!this.#dynamic.isFor(this.#serving.bundle))
    const dynamic = this.#dynamic.bundleFor(this.#threads.haveAdopted(this.#generation))
    if (dynamic !== this.#serving.dynamic) {
      this.#serving = { ...this.#serving, dynamic }
      this.#publish()
    }
    const generation = this.#generation
    const { revision } = this.#dynamic
    const adopted =
      this.#hasThreads && (await this.#threads.adopted(generation, adoptionPatienceMs))
    if (adopted === 'not by all') {
      this.#parts.log.error({}, 'not all threads have taken over the TXT records')
    }
    // The log follows the records: a secondary that transfers in between is still notified.
    if (this.#dynamic.serves(revision, generation)) this.#writeSerial()
  }

  #boot(): void {
    const isAnswering = this.#threads !== noThreads
    if (this.#stored !== null) bootBundle({ ...this.#stored, isAnswering }, this.#serveStored)
  }

  /** Serves what another process has stored since the start. */
  catchUp(): void {
    const stored = this.#parts.store?.record('active') as SignedChannelRecord | null | undefined
    const seq = stored?.record?.seq ?? 0
    if (seq > (this.#newest?.seq ?? 0)) this.#boot()
  }

  readonly #serveStored = ({ record, signed, bundle }: StoredBundle): void => {
    // Encoding many records takes a while: until then earlier ones are answered, or none at first.
    void this.#dynamic.encodeFor(bundle)
    this.#install(this.#build(record, bundle))
    this.#activeSigned = signed
  }

  #remember(record: ChannelRecord): void {
    if (this.#newest === undefined || record.seq > this.#newest.seq) this.#newest = record
  }

  /**
   * Checks and stores a signed bundle whose record will probably come soon, so that `activate`
   * finds that done. Nothing serves or reports the bundle before a record names it.
   */
  prepare(bundle: Uint8Array): void {
    this.#prepared = undefined
    try {
      const checked = answerableBundle(bundle, this.#parts.trusted, this.#serving?.bundle)
      if (!checked.ok) return
      this.#prepared = checked.value
      this.#parts.store?.add(checked.value.digest, bundle)
    } catch {
      // `activate` checks the bundle again and reports what is wrong.
    }
  }

  /**
   * Verifies a publication, stores it, and swaps to it between two batches of queries. Resolves
   * when every thread answers from it. A publication that is refused, or throws while it is built,
   * changes nothing: it is not stored either, so that a restart does not meet it again.
   */
  async activate(publication: Publication): Promise<Result<'activated' | 'unchanged', Refusal>> {
    const accepted = this.#accept(publication)
    if (!accepted.ok) {
      const { seq, digest } = namedBy(publication.signedRecord)
      this.#refused = { ...accepted.error, seq, digest }
      this.#parts.log.error({ seq, digest, code: accepted.error.code }, accepted.error.message)
      return accepted
    }
    const { record, bundle } = accepted.value
    this.#refused = null
    // An old renewal was sent again: the record that is confirmed for longer stays.
    const isStale = bundle === undefined && record.expiresAtMs < (this.#active?.expiresAtMs ?? 0)
    if (isStale) return ok('unchanged')
    const { clock } = this.#parts
    const encoding = bundle && this.#dynamic.encodeFor(bundle)
    if (encoding !== undefined) await encoding
    const beganMs = clock.monotonicMs()
    const built = bundle === undefined ? undefined : this.#build(record, bundle)
    const buildMs = clock.monotonicMs() - beganMs
    this.#keep({ ...publication, before: this.#activeSigned })
    // The time that the disk took does not count as time of the swap.
    const startedAtMs = clock.monotonicMs() - buildMs
    if (built !== undefined) this.#install(built)
    // A record that renews what serves may bring a serial that the record before did not have.
    this.#active = record
    this.#writeSerial()
    this.#activeSigned = publication.signedRecord
    if (built === undefined) return ok('unchanged')
    const adopted = await this.#threads.adopted(this.#generation, adoptionPatienceMs)
    await this.#parts.redirects?.adopted()
    this.#onServed()
    if (adopted !== 'not by all') this.#parts.journal?.settled()
    this.#swapTimes.count((clock.monotonicMs() - startedAtMs) / 1000)
    const { seq, digest, commit } = record
    const level = adopted === 'not by all' ? 'error' : 'info'
    this.#parts.log[level]({ seq, digest, commit }, activationLines[adopted])
    return ok('activated')
  }

  /** Judges a record alone, before its bundle is there. */
  judge(signed: unknown): Result<ChannelRecord, Refusal> {
    return acceptableRecord(signed, this.#parts, this.#newest)
  }

  /** `bundle` is undefined when the record is only a renewal of what serves already. */
  #accept({
    signedRecord,
    bundle,
  }: Publication): Result<{ record: ChannelRecord; bundle: Bundle | undefined }, Refusal> {
    const record = this.judge(signedRecord)
    if (!record.ok) return record
    const { digest, seq } = record.value
    if (digest === this.#active?.digest && seq === this.#newest?.seq)
      return ok({ record: record.value, bundle: undefined })
    const prepared = this.#prepared
    this.#prepared = undefined
    if (prepared?.digest === digest) return ok({ record: record.value, bundle: prepared })
    const { trusted } = this.#parts
    const checked = servableBundle(bundle, record.value, trusted, this.#serving?.bundle)
    return checked.ok ? ok({ record: record.value, bundle: checked.value }) : checked
  }

  /** Stores again: a disk that was full may have room. */
  retryStore(): void {
    if (this.#unstored !== undefined) this.#keep(this.#unstored)
  }

  #keep(toKeep: ToKeep): void {
    const { signedRecord, bundle, before } = toKeep
    const isRetry = this.#unstored === toKeep
    try {
      this.#parts.store?.keep(signedRecord, bundle, before)
      this.#unstored = undefined
      if (isRetry) this.#parts.log.info({}, 'the bundle is stored now')
    } catch (error) {
      this.#unstored = toKeep
      if (isRetry) return
      // The node serves the bundle anyway: answers matter more than the copy on disk.
      this.#parts.log.error(
        { err: error },
        'the bundle cannot be stored: a restart would serve the one before; free space or mend the data directory',
      )
    }
  }

  /** Builds a generation without changing what serves: when this throws, the serving one stays. */
  #build(record: ChannelRecord, checked: Bundle): Built {
    assert(checked.digest === record.digest, 'what is to serve is the bundle that its record names')
    const serial = this.#serialOf(record, this.#dynamic.revision)
    const isFree = this.#threads.haveAdopted(this.#generation)
    const bundle = adoptBundle(this.#memory.bundle(checked.bytes, isFree), checked.digest)
    const memory = this.#memory.routing(isFree)
    const state =
      this.#serving === undefined
        ? createRoutingState(bundle, serial, memory)
        : carryRoutingState(this.#serving, bundle, serial, memory)
    assert(state.memberCount === bundle.counts.members, 'the routing state knows each member')
    assert(state.soaSerial[0] === serial, 'the SOA serial is the one of the record')
    return { record, bundle, state, isFree }
  }

  /** Adds commits and changes of dynamic records: both only rise, and are equal on all nodes. */
  #serialOf(record: ChannelRecord, revision = this.#dynamic.servedRevision): number {
    return (soaSerialOf(record) + revision) >>> 0
  }

  #writeSerial(): void {
    if (this.#active === undefined) return
    this.#serving?.state.soaSerial.fill(this.#serialOf(this.#active))
    this.#onServed()
  }

  /** @param handler called when all threads answer with another serial; there is one handler */
  onServed(handler: () => void): void {
    this.#onServed = handler
  }

  /** Publishes a bundle that has been built. Health and cursors are carried over. */
  #install({ record, bundle, state, isFree }: Built): void {
    this.#live.prepare(bundle, state)
    const hits = this.#hits.carry(bundle, (bytes) => this.#memory.hits(bytes, isFree))
    const queries = this.#meter.carry(bundle, (bytes) => this.#memory.queries(bytes, isFree))
    const networks = this.#networksOf(bundle, isFree)
    this.#memory.publish(bundle.bytes, state.buffers, { hits, queries }, networks)
    const dynamic = this.#dynamic.bundleFor(isFree)
    this.#serving = { bundle, state, networks, dynamic }
    this.#active = record
    this.#remember(record)
    this.#publish()
    this.#dynamic.serves(this.#dynamic.revision, this.#generation)
    this.#parts.journal?.serves(record, bundle, state)
    this.#live.serve(bundle, state)
    this.#parts.redirects?.serve(bundle)
  }

  /** Reuses tables of response rules that have not changed, so that they cost a swap nothing. */
  #networksOf(bundle: Bundle, isFree: boolean): SharedArrayBuffer | null {
    const before = this.#serving
    if (before !== undefined && hasSameNetworks(before.bundle, bundle)) return before.networks
    const memory = (bytes: number): SharedArrayBuffer => this.#memory.networks(bytes, isFree)
    return packNetworks(bundle, memory, before?.networks)
  }

  /** Hands the serving bundle to the threads, with its current tables. */
  #publish(): void {
    if (this.#serving === undefined) return
    const { bundle, state, networks, dynamic } = this.#serving
    this.#tables = { ...this.#geo.tablesFor(bundle), networks }
    assert(this.#generation < generationMax, 'the number of a generation fits into its cell')
    this.#generation++
    this.#threads.publish({
      number: this.#generation,
      bundle: bundle.bytes,
      digest: bundle.digest,
      dynamic,
      routing: state.buffers,
      tables: this.#tables,
      signing: this.#parts.signing?.handedFor(bundle) ?? null,
      ...{ responseHits: this.#hits.buffer, serviceQueries: this.#meter.buffer },
    })
  }

  #onThreadCrash(error: Error): void {
    const nowMs = this.#parts.clock.monotonicMs()
    this.#parts.log.error({ err: error, digest: this.#active?.digest }, 'a DNS thread died')
    if (this.#crashes.isTooMany(nowMs)) this.#goBack(error)
  }

  /** Takes the serving bundle out of service and serves the one before it. */
  #goBack(error: Error): void {
    const bad = this.#active
    if (this.#stored === null || bad === undefined) return
    const previous = replaceBad(this.#stored, bad, error)
    if (previous === undefined) return
    assert(previous.record.digest !== bad.digest, 'the way back leads to another bundle')
    this.#crashes.forget()
    this.#refused = { ...refuse('quarantined').error, seq: bad.seq, digest: bad.digest }
    this.#serveStored(previous)
    if (!this.#dynamic.isFor(previous.bundle)) void this.#serveDynamic()
  }

  /** The point from which a publisher must continue: the newest seq, and the serving digest. */
  resumePoint(): { seq: number; digest: string; bundle?: Uint8Array } | null {
    if (this.#newest === undefined) return null
    const [{ seq }, digest, bundle] = [this.#newest, this.#active?.digest ?? '', this.bundle()]
    return { seq, digest, ...(bundle?.digest === digest && { bundle: bundle.bytes }) }
  }

  status(): NodeStatus {
    const active = this.#active ?? null
    return {
      active,
      serial: active === null ? 0 : this.#serialOf(active),
      ...{ refused: this.#refused, publisher: this.#activeSigned?.keyId ?? '' },
      expired: active !== null && this.#parts.clock.nowMs() > active.expiresAtMs,
      isStored: this.#unstored === undefined,
      ...this.#swapTimes.status(),
      swapPauseMicros: this.#threads.swapMicrosMax(),
      port: this.#threads.port,
    }
  }

  /** Whether every thread answers from what was published last. */
  isSettled(): boolean {
    return this.#threads.haveAdopted(this.#generation)
  }

  /** Resolves when each thread that gets queries is settled. @returns false: not in time */
  async settled(patienceMs: number): Promise<boolean> {
    return (await this.#threads.adopted(this.#generation, patienceMs)) === 'by all'
  }

  bundle(): Bundle | undefined {
    return this.#serving?.bundle
  }

  /** Sets the keys of signed messages. */
  setKeys(keys: Parameters<DnsThreads['setKeys']>[0]): void {
    this.#threads.setKeys(keys)
  }

  get exchangeStats(): DnsThreads['exchangeStats'] {
    return this.#threads.exchangeStats
  }

  live(): LiveNode | undefined {
    if (this.#serving === undefined) return undefined
    const { bundle, state } = this.#serving
    const tables = { ...this.#tables, rum: this.#parts.threads.rum ?? null }
    return { bundle, state, tables, commit: this.#active?.commit ?? '' }
  }

  get tcpStats(): DnsThreads['tcpStats'] {
    return this.#threads.tcpStats
  }

  memberHealth(): NodeMemberCounts {
    if (this.#serving === undefined) return noMembers
    return countHealth(this.#serving.bundle, this.#serving.state, this.#parts.health)
  }

  get responseHits(): Pick<ResponseHits, 'read' | 'counted' | 'bySource'> {
    return this.#hits
  }

  /** Counts of questions for each tenant, and which names were used. */
  get meter(): QueryMeter {
    return this.#meter
  }

  /** Counts the pools of the serving bundle that declare a health check. */
  poolsWithHealthCheck(): number {
    const checks = this.#serving?.bundle.poolHealthCheck ?? []
    let pools = 0
    for (const check of checks) if (check !== 0) pools++
    return pools
  }

  overlays(): OverlayStatus {
    return this.#live.overlays()
  }

  get overlayClock(): OverlayClock {
    return this.#live.overlayClock
  }

  /** Cancels the start of threads that have not started, because a stop is near. */
  callOffStarts(): void {
    this.#threads.callOffStarts()
  }

  /** Stops changing and storing; the node still answers, from what it has, until `stop`. */
  rest(): Promise<void> {
    return (this.#resting ??= this.#rest())
  }

  async #rest(): Promise<void> {
    this.#live.stop()
    this.#parts.signing?.stop()
    this.#parts.resolver?.stop()
    await this.#parts.health?.stop()
    await this.#dynamic.stop()
  }

  async stop(): Promise<void> {
    await this.rest()
    await this.#threads.stop()
  }
}
