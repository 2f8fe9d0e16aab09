// Starts, updates, restarts and stops the answering threads.
import { availableParallelism } from 'node:os'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { AnsweringThread } from '#system/worker/answering-thread.ts'
import { Counters } from '#answer/counters/counters.ts'
import type { CounterSnapshot } from '#answer/counters/counters.ts'
import { HandedSockets, listenerName } from '#system/sockets/handed-sockets.ts'
import type { ListenerSockets } from '#system/sockets/handed-sockets.ts'
import { loadLibc } from '#system/sockets/libc.ts'
import type { SourcePlaces } from '#system/sockets/packet-source.ts'
import { packetSources } from '#system/sockets/packet-sources.ts'
import type { SourceName, SourcePlace } from '#system/sockets/packet-sources.ts'
import type { Libc } from '#system/sockets/libc.ts'
import { queryBucketBytes } from '#answer/counters/query-bucket.ts'
import { Control, controlBytes, controlCell } from './responder-control.ts'
import type { CreateThreads, DnsThreads, ThreadGroupParts } from './threads-port.ts'
import type { FromResponder, ResponderStart } from './responder-control.ts'
import { HandOverGate, handOverBytes } from './hand-over.ts'
import type { HandedMessage } from './hand-over.ts'
import { RestartPause } from '#system/worker/restart-pause.ts'
import { ScriptHost } from '#answer/script/host.ts'
import { StartLimiter } from '#system/worker/start-limiter.ts'
import type { ExchangeKey } from '#zones/exchange/exchange.ts'
import type { ExchangeStats } from './stream-exchange.ts'
import { StreamPlaces } from './stream-places.ts'
import type { HandedStream } from './stream-places.ts'
import { StreamStats } from './stream-stats.ts'
import type { TransferSettings } from '#zones/transfer/transfers.ts'
import { AheadSigner } from '#server/ahead/ahead-signer.ts'
import { outcomeOf } from './stream-outcome.ts'
import type { FromStream, StreamStart, StreamUpdate, ToStream } from './stream-messages.ts'
import { TableNumbers } from '#system/worker/table-collector.ts'
import type { Generation } from '#answer/serving-view.ts'
import { warnOfManyThreads } from './thread-count.ts'
import { Waker } from './waker.ts'

/** Interval at which `adopted` reads the acknowledgements. */
const ackPollMs = 1
const noTransfers: TransferSettings = { enabled: false, requireTsig: false, allow: [] }
/** Responders started at once; the sockets of the first ones are bound from the beginning. */
const startsAtOnce = availableParallelism()
/** A row of packet-sources.ts. */
const sourceName: SourceName = 'udp'
/** With port 0, the port that UDP got may be taken for TCP. */
const portTries = 10

export const createThreadGroup: CreateThreads = (parts) => new ThreadGroup(parts)

export class ThreadGroup implements DnsThreads {
  readonly #parts: ThreadGroupParts
  readonly #libc: Libc | undefined
  readonly #threads: number
  readonly #control: SharedArrayBuffer
  readonly #cells: Int32Array
  readonly #waker: Waker | undefined
  readonly #counters: readonly SharedArrayBuffer[]
  readonly #handOver = new SharedArrayBuffer(handOverBytes)
  readonly #gate = new HandOverGate(this.#handOver)
  readonly #queryBucket: SharedArrayBuffer
  readonly scripts: ScriptHost
  readonly ahead: AheadSigner
  /** undefined: queued to start. */
  readonly #responders: (AnsweringThread | undefined)[] = []
  readonly #ports: (MessagePort | undefined)[] = []
  readonly #starts = new StartLimiter(startsAtOnce)
  #stream: AnsweringThread | undefined
  /** undefined: no responder takes packets. */
  #places: SourcePlaces<SourcePlace> | undefined
  readonly #streamPlaces: StreamPlaces
  /** Responders that have died once. */
  readonly #died = new Set<number>()
  #port = 0
  #current: Generation | undefined
  readonly #tableNumbers = new TableNumbers()
  readonly #streamStats = new StreamStats()
  #keys: readonly ExchangeKey[] = []
  readonly #pause = new RestartPause()
  #isStopping = false
  #isCalledOff = false

  constructor(parts: ThreadGroupParts) {
    this.#parts = parts
    this.#streamPlaces = new StreamPlaces(parts)
    this.#streamPlaces.onCertificate((pairs) => this.#tellStream({ kind: 'certificate', pairs }))
    const libc = parts.threads === 0 ? 'dns.threads is 0' : loadLibc()
    this.#libc = typeof libc === 'string' ? undefined : libc
    this.#threads = this.#libc === undefined ? 0 : parts.threads
    if (typeof libc === 'string') {
      parts.log.warn({ reason: libc }, 'UDP goes through node:dgram, several times slower')
    }
    warnOfManyThreads(this.#threads, parts.log)
    this.ahead = new AheadSigner(parts.log)
    this.#control = new SharedArrayBuffer(controlBytes(this.#threads + 1))
    this.#cells = new Int32Array(this.#control)
    if (this.#libc !== undefined) this.#waker = new Waker(this.#libc, this.#cells, this.#threads)
    this.scripts = new ScriptHost({
      threads: this.#threads + 1,
      clock: systemClock,
      log: parts.log,
    })
    this.#queryBucket = parts.queryBucket ?? new SharedArrayBuffer(queryBucketBytes)
    this.#counters = Array.from(
      { length: this.#threads + 1 },
      () => new SharedArrayBuffer(Counters.bytes),
    )
  }

  get port(): number {
    return this.#port
  }

  /**
   * Opens the sockets, or takes those of the previous process, and starts the threads. They refuse
   * queries until a generation is published.
   */
  async start(handed = new HandedSockets()): Promise<Result<{ port: number }, string>> {
    for (let tries = 1; ; tries++) {
      const started = await this.#open(handed)
      if (started.ok || this.#parts.port !== 0 || tries === portTries) return started
    }
  }

  async #open(handed: HandedSockets): Promise<Result<{ port: number }, string>> {
    const { listenAddr, port, settings } = this.#parts
    const handedStream = this.#streamPlaces.take(handed)
    if (this.#libc !== undefined) {
      const places = packetSources[sourceName].open(this.#libc, {
        ...{ listenAddr, port, threads: this.#threads },
        boundAtOnce: Math.min(this.#threads, startsAtOnce),
        replyBytesMax: settings.udpPayloadSize,
        handed: handed.take(listenerName('dns-udp', listenAddr, port)),
      })
      if (!places.ok) return places
      this.#places = places.value
      this.#port = places.value.port
    } else {
      this.#port = port
    }
    // Another port may have to be tried, so responders must not have these sockets yet.
    const isSure = port !== 0
    if (isSure) this.#queueResponders()
    const stream = await this.#startStream(handedStream)
    if (!stream.ok) {
      await (isSure ? this.stop() : this.#closeSockets())
      return stream
    }
    if (!isSure) this.#queueResponders()
    return ok({ port: this.#port })
  }

  #queueResponders(): void {
    for (let i = 0; i < this.#threads; i++) this.#queueResponder(i)
  }

  #queueResponder(index: number): void {
    this.#starts.add(
      () => this.#startResponder(index),
      (error) => {
        const pauseMs = this.#later(() => this.#queueResponder(index))
        this.#parts.log.error({ err: error, pauseMs }, 'a DNS thread did not start; tried again')
      },
    )
  }

  /** @returns when it is ready, or has died */
  #startResponder(index: number): Promise<void> {
    const places = this.#places
    assert(places !== undefined, 'responders start while the sockets are open')
    assert(this.#responders[index] === undefined, 'a responder follows one that has ended')
    const { port1, port2 } = new MessageChannel()
    const start: ResponderStart = {
      kind: 'responder',
      index,
      source: sourceName,
      place: places.placeOf(index),
      proxies: this.#parts.proxies ?? [],
      settings: this.#parts.settings,
      seed: this.#parts.seed + index,
      control: this.#control,
      counters: this.#counters[index]!,
      queryBucket: this.#queryBucket,
      rateLimit: this.#parts.rateLimit,
      scriptMailbox: this.scripts.mailbox(index),
      handOver: this.#handOver,
      querySamples: this.#parts.querySamples?.[index],
      queryLog: this.#parts.queryLog?.[index],
      port: port2,
    }
    const worker = new Worker(new URL('./responder.ts', import.meta.url), {
      name: `dns-${index}`,
      workerData: start,
      transferList: [port2],
    })
    port1.unref()
    const responder = new AnsweringThread(worker, this.#current?.number ?? 0)
    this.#responders[index] = responder
    this.#ports[index] = port1
    if (this.#current !== undefined) port1.postMessage(this.#current)
    worker.on('message', (message: FromResponder) => {
      if (message === 'ready') this.#bind(index)
      else this.#passOn(index, message)
    })
    worker.once('exit', () => this.#forget(index))
    this.#watch(worker, () => this.#queueResponder(index))
    return responder.ready
  }

  /** Binds its socket, which gets queries from now on. */
  #bind(index: number): void {
    try {
      if (!this.#isStopping) this.#places?.bind(index)
    } catch (error) {
      this.#parts.log.error({ err: error }, 'a DNS thread gets no queries; it is started again')
      void this.#responders[index]?.worker.terminate()
    }
  }

  /** Passes a message to the stream thread, which answers on the same socket. */
  #passOn(index: number, message: HandedMessage): void {
    const from = this.#places?.placeOf(index)
    if (from === undefined || this.#stream === undefined) return this.#gate.leave()
    this.#tellStream({ kind: 'handed', message, from })
  }

  /** Keeps its socket for its successor. */
  #forget(index: number): void {
    this.#responders[index] = undefined
    this.#died.add(index)
    Atomics.store(this.#cells, controlCell(index, Control.Adopted), 0)
    Atomics.store(this.#cells, controlCell(index, Control.ThreadId), 0)
  }

  async #startStream(handed: HandedStream = {}): Promise<Result<null, string>> {
    const start: StreamStart = {
      index: this.#threads,
      listenAddr: this.#parts.listenAddr,
      port: this.#port,
      handedTcp: handed.tcp,
      tls: this.#streamPlaces.tls(handed),
      // At a first start it listens at once and adopts later; with a handed socket it adopts first.
      generation: handed.tcp === undefined ? undefined : this.#current,
      keys: this.#keys,
      source: this.#threads === 0 ? undefined : sourceName,
      proxies: this.#parts.proxies ?? [],
      settings: this.#parts.settings,
      tcpLimits: this.#parts.tcpLimits,
      seed: this.#parts.seed + this.#threads,
      control: this.#control,
      counters: this.#counters[this.#threads]!,
      queryBucket: this.#queryBucket,
      rateLimit: this.#parts.rateLimit,
      scriptMailbox: this.scripts.mailbox(this.#threads),
      handOver: this.#handOver,
      queryLog: this.#parts.queryLog?.[this.#threads],
      transfers: this.#parts.transfers ?? noTransfers,
      keytab: this.#parts.keytab,
    }
    // Handed-over messages are dropped while it starts.
    this.#stream = undefined
    this.#gate.clear()
    this.#streamStats.restart()
    const worker = new Worker(new URL('./stream-worker.ts', import.meta.url), {
      name: 'dns-stream',
      workerData: start,
    })
    const { generation } = start
    const stream = new AnsweringThread(worker, generation?.number ?? 0)
    const first = await new Promise<FromStream>((resolve) => {
      const hear = (message: FromStream): void => {
        if (message.kind === 'log') return this.#hear(worker, message)
        worker.off('message', hear)
        resolve(message)
      }
      worker.on('message', hear)
      worker.once('error', (error: Error) => resolve({ kind: 'failed', message: error.message }))
    })
    if (first.kind !== 'listening') {
      await worker.terminate()
      return err(first.kind === 'failed' ? first.message : 'the stream thread did not start')
    }
    this.#port = first.port
    const { port, descriptor, secure } = first
    this.#streamPlaces.heard({ tcp: { port, descriptor }, ...secure })
    this.#stream = stream
    worker.on('message', (message: FromStream) => {
      this.#hear(worker, message)
    })
    this.#tellStream({ kind: 'keys', keys: this.#keys })
    this.#streamPlaces.tellCertificate()
    const isNewer = this.#current !== generation
    if (this.#current !== undefined && isNewer) this.#tellGeneration(this.#current)
    worker.once('exit', () => this.#streamPlaces.lost())
    this.#watch(worker, () => void this.#restartStream())
    // The group was stopped during the start: the thread must be ended here.
    if (this.#isStopping) await worker.terminate()
    return ok(null)
  }

  /** Retries until it succeeds: another program may hold the port for a moment. */
  async #restartStream(): Promise<void> {
    // Starting throws when the system gives no thread.
    const started = await this.#startStream().catch((error: unknown) => err(String(error)))
    if (started.ok || this.#isStopping) return
    const pauseMs = this.#later(() => void this.#restartStream())
    this.#parts.log.error({ pauseMs }, `${started.error}; tried again`)
  }

  #watch(worker: Worker, again: () => void): void {
    worker.on('error', (error) =>
      this.#parts.onCrash(error instanceof Error ? error : new Error(String(error))),
    )
    worker.on('exit', (code) => {
      if (this.#isStopping) return
      const pauseMs = this.#later(again)
      this.#parts.log.error({ code, pauseMs }, 'a DNS thread ended; it is started again')
    })
  }

  /** Calls `again` after a pause. @returns the pause */
  #later(again: () => void): number {
    const pauseMs = this.#pause.nextMs()
    setTimeout(() => {
      if (!this.#isStopping) again()
    }, pauseMs).unref()
    return pauseMs
  }

  #hear(stream: Worker, message: FromStream): void {
    if (message.kind === 'stats') {
      this.#streamStats.take(message)
    } else if (message.kind === 'secure') {
      this.#streamPlaces.heard(message.listening)
    } else if (message.kind === 'update' || message.kind === 'notice') {
      void this.#update(stream, message)
    } else if (message.kind === 'log') {
      this.#parts.log[message.level]?.(message.fields, message.message)
    }
  }

  /** @param stream the asking thread: its successor uses the same ids for other updates */
  async #update(stream: Worker, asked: StreamUpdate): Promise<void> {
    const outcome = await outcomeOf(asked, this.#parts)
    const answer: ToStream = { kind: 'updated', id: asked.id, outcome }
    stream.postMessage(answer)
  }

  /** Sets the keys of signed messages. */
  setKeys(keys: readonly ExchangeKey[]): void {
    this.#keys = keys
    this.#tellStream({ kind: 'keys', keys })
  }

  #tellStream(message: ToStream): void {
    this.#stream?.worker.postMessage(message)
  }

  #tellGeneration(generation: Generation): void {
    this.#tellStream({ kind: 'generation', generation })
  }

  /** Hands a generation to all threads; each adopts it before its next batch. */
  publish(plain: Generation): void {
    assert(plain.number > (this.#current?.number ?? 0), 'generations are numbered upwards')
    const tables = { ...plain.tables, rum: this.#parts.rum ?? null }
    const generation = {
      ...plain,
      tables,
      tablesNumber: this.#tableNumbers.next(tables),
      scripts: this.scripts.scriptsOf(plain),
    }
    this.#current = generation
    this.scripts.publish(generation)
    for (const port of this.#ports) port?.postMessage(generation)
    this.#tellGeneration(generation)
    this.ahead.publish(plain)
    Atomics.store(this.#cells, Control.Generation, generation.number)
    this.#waker?.wakeNext(generation.number)
  }

  /**
   * Resolves when every thread that gets queries serves `number` or a later one, when `patienceMs`
   * is over, or when a stop is near.
   */
  async adopted(number: number, patienceMs: number): Promise<'by all' | 'not by all' | 'stopping'> {
    const deadline = systemClock.monotonicMs() + patienceMs
    while (!this.#haveAcknowledged(number) || !this.#areServing(number)) {
      if (this.#isCalledOff) return 'stopping'
      if (systemClock.monotonicMs() > deadline) return 'not by all'
      await new Promise((resolve) => setTimeout(resolve, ackPollMs))
      this.#waker?.wakeNext(number)
    }
    this.#pause.reset()
    return 'by all'
  }

  /** Successors of dead threads must adopt, too: their sockets still get queries. */
  #haveAcknowledged(number: number): boolean {
    for (const index of this.#places?.bound ?? []) if (this.#adoptedBy(index) < number) return false
    for (const index of this.#died) if (this.#adoptedBy(index) < number) return false
    return true
  }

  /** True when no thread reads, or will read, a generation before `number`. */
  haveAdopted(number: number): boolean {
    return this.#areServing(number) && this.ahead.hasAdopted(number)
  }

  #areServing(number: number): boolean {
    return this.#slowest() >= number && this.scripts.haveAdopted(number)
  }

  #slowest(): number {
    let slowest = this.#adoptedBy(this.#threads)
    for (let i = 0; i < this.#threads; i++) {
      const responder = this.#responders[i]
      // A thread that has not started reads nothing, and will begin with the newest bundle.
      if (responder === undefined) continue
      slowest = Math.min(slowest, Math.max(responder.startedWith, this.#adoptedBy(i)))
    }
    return slowest
  }

  #adoptedBy(thread: number): number {
    return Atomics.load(this.#cells, controlCell(thread, Control.Adopted))
  }

  /** The longest time that a thread's last adoption kept queries waiting. */
  swapMicrosMax(): number {
    let longest = 0
    // Without responders the stream thread answers UDP, in the first row.
    for (let i = 0; i < Math.max(this.#threads, 1); i++) {
      longest = Math.max(longest, Atomics.load(this.#cells, controlCell(i, Control.SwapMicros)))
    }
    return longest
  }

  /**
   * Returns a row for each thread; the last is the stream thread. `threadId` is that of the
   * operating system; 0: unknown.
   */
  counters(): readonly (CounterSnapshot & { readonly threadId: number })[] {
    return this.#counters.map((shared, i) => ({
      ...new Counters(shared).snapshot(),
      threadId: Atomics.load(this.#cells, controlCell(i, Control.ThreadId)),
    }))
  }

  get tcpStats(): DnsThreads['tcpStats'] {
    const total = this.#streamStats.total
    return total && { ...total.tcp, secure: total.secure }
  }

  get exchangeStats(): ExchangeStats | undefined {
    return this.#streamStats.total?.exchange
  }

  /** The sockets that may be handed to another process. */
  sockets(): readonly ListenerSockets[] {
    const { listenAddr, port } = this.#parts
    const udp = this.#places?.descriptors() ?? []
    return [
      { name: listenerName('dns-udp', listenAddr, port), descriptors: udp },
      ...this.#streamPlaces.sockets(),
    ]
  }

  /** Keeps threads that have not started from starting, and ends the wait of `adopted`. */
  callOffStarts(): void {
    this.#isCalledOff = true
    this.#starts.callOff()
    this.scripts.callOffStarts()
  }

  /** Finishes answers under way, then closes the sockets. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.callOffStarts()
    Atomics.store(this.#cells, Control.Generation, Control.Stop)
    this.#waker?.wakeAll()
    this.#tellStream({ kind: 'stop' })
    const threads = [...this.#responders, this.#stream].filter((thread) => thread !== undefined)
    await Promise.all(threads.map((thread) => thread.ended()))
    await this.scripts.stop()
    await this.ahead.stop()
    for (const port of this.#ports) port?.close()
    this.#closeSockets()
  }

  #closeSockets(): void {
    this.#places?.close()
    this.#places = undefined
  }
}
