// Controls the redirect listener from the main thread: its thread, the tables that it answers from,
// and its counts.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import { Worker } from 'node:worker_threads'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { RedirectColumns } from '#bundle/redirects/redirect-table.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { WaitList } from '#lib/timer.ts'
import { entriesIn, pairsIn } from '#server/tls/sources.ts'
import type { GivenPairs } from '#server/tls/sources.ts'
import { HandedSockets, listenerName } from '#system/sockets/handed-sockets.ts'
import type { ListenerName, ListenerSockets } from '#system/sockets/handed-sockets.ts'
import { RedirectCounters } from './counters.ts'
import type { RedirectCounts } from './counters.ts'
import { redirectLimits } from './limits.ts'
import type { ListeningPorts } from './listener.ts'
import type {
  FromRedirectWorker,
  RedirectDescriptors,
  RedirectListenerSettings,
  RedirectTable,
  RedirectWorkerData,
  ToRedirectWorker,
  RedirectChallenge,
} from './messages.ts'
import { RedirectHits } from './redirect-hits.ts'

export interface RedirectServerParts {
  readonly settings: RedirectListenerSettings
  /** Left out: it starts a thread of `worker.ts`. */
  readonly spawn?: (data: RedirectWorkerData) => Worker
  readonly clock: Clock
  readonly log: Log
}

const columnNames = ['redirectUid', 'redirectRow', 'redirectText', 'redirectIndex'] as const

export class RedirectServer {
  readonly #parts: RedirectServerParts
  readonly #shared = new SharedArrayBuffer(RedirectCounters.bytes)
  readonly #counters = new RedirectCounters(this.#shared)
  readonly #hits = new RedirectHits()
  #worker: Worker | undefined
  #table: RedirectTable | undefined
  /** Digests of the bundle sections from which the table was made. */
  #digests = ''
  #adopted = 0
  readonly #waiting = new WaitList()
  #isStopping = false
  #deaths = 0
  #restart: NodeJS.Timeout | undefined
  /** The ports that were free at the first start: they are opened again after the thread died. */
  #ports: ListeningPorts | undefined
  #descriptors: RedirectDescriptors = {}
  #challenges: readonly RedirectChallenge[] = []
  #certificates: GivenPairs = {}

  constructor(parts: RedirectServerParts) {
    this.#parts = parts
  }

  /** Answers from the redirects of this bundle; its memory is not kept. */
  serve(bundle: Bundle): void {
    const sections = bundle.manifest.sections.filter(({ name }) =>
      (columnNames as readonly string[]).includes(name),
    )
    const digests = sections.map(({ sha256 }) => sha256).join()
    if (digests === this.#digests) return
    this.#digests = digests
    const number = (this.#table?.number ?? 0) + 1
    const columns = copyOf(bundle)
    this.#table = { number, columns, hits: this.#hits.next(number, columns.redirectUid) }
    this.#post({ kind: 'table', table: this.#table })
  }

  /** Resolves when the listener answers from what was served last, or does not run. */
  async adopted(): Promise<void> {
    const wanted = this.#table?.number ?? 0
    const deadline = this.#parts.clock.monotonicMs() + redirectLimits.adoptionMs
    while (this.#ports !== undefined && this.#worker !== undefined && this.#adopted < wanted) {
      const leftMs = deadline - this.#parts.clock.monotonicMs()
      if (leftMs <= 0) {
        this.#parts.log.error({}, 'the redirect listener has not taken over the redirects yet')
        return
      }
      await this.#waiting.wait(leftMs)
    }
  }

  /**
   * Opens the sockets, or takes those of the process before. Errors: a sentence for the operator.
   */
  async start(handed = new HandedSockets()): Promise<Result<ListeningPorts, string>> {
    const [first, second] = this.#names()
    const [[http], [https]] = [handed.take(first), handed.take(second)]
    const started = await this.#startThread({ http, https })
    if (started.ok) this.#ports = started.value
    return started
  }

  /** Sockets that may be handed to another process. */
  sockets(): readonly ListenerSockets[] {
    const { http, https } = this.#descriptors
    const isOpen = (fd: number | undefined): fd is number => fd !== undefined
    const [first, second] = this.#names()
    return [
      { name: first, descriptors: [http].filter(isOpen) },
      { name: second, descriptors: [https].filter(isOpen) },
    ]
  }

  #names(): readonly [ListenerName, ListenerName] {
    const { listenAddr, port, https } = this.#parts.settings
    return [
      listenerName('redirect', listenAddr, port),
      listenerName('redirect-https', listenAddr, https.port ?? 0),
    ]
  }

  /** Answers these challenges of an ACME server from now on, and no others. */
  challenge(challenges: readonly RedirectChallenge[]): void {
    this.#challenges = challenges
    this.#post({ kind: 'challenges', challenges })
  }

  /** Answers https with these of an ACME server; for connections that begin now. */
  certify(pairs: GivenPairs): void {
    const { https } = this.#parts.settings
    if (https.port === undefined || entriesIn(pairsIn('', https)).length === 0) return
    this.#certificates = pairs
    this.#post({ kind: 'certificates', pairs })
  }

  reopenLog(): void {
    this.#post({ kind: 'reopen-log' })
  }

  counts(): RedirectCounts {
    return this.#counters.read()
  }

  /** Returns hits since this process started, by uid. */
  counted(): ReadonlyMap<string, number> {
    return this.#hits.counted()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const deadline = setTimeout(() => void worker.terminate(), redirectLimits.stopMs * 2)
    this.#post({ kind: 'stop' })
    await exited
    clearTimeout(deadline)
  }

  #startThread(handed: RedirectDescriptors = {}): Promise<Result<ListeningPorts, string>> {
    const { clock, log } = this.#parts
    const settings = this.#settled(this.#parts.settings)
    const data: RedirectWorkerData = {
      ...{ settings, handed, counters: this.#shared, certificates: this.#certificates },
    }
    const worker = (this.#parts.spawn ?? spawnRedirectWorker)(data)
    const startedMs = clock.monotonicMs()
    this.#worker = worker
    if (this.#table !== undefined) this.#post({ kind: 'table', table: this.#table })
    this.#post({ kind: 'challenges', challenges: this.#challenges })
    worker.on('error', (error) => log.error({ err: error }, 'the redirect listener failed'))
    const { promise, resolve } = Promise.withResolvers<Result<ListeningPorts, string>>()
    worker.on('message', (message: FromRedirectWorker) => {
      if (message.kind === 'log') log[message.level]?.(message.fields, message.message)
      else if (message.kind === 'adopted') this.#onAdopted(message.number)
      else if (message.kind === 'listening') {
        this.#descriptors = message.descriptors
        resolve(ok(message))
      } else resolve(err(message.reason))
    })
    worker.once('exit', () => {
      resolve(err('the redirect listener ended while it started'))
      this.#worker = undefined
      this.#descriptors = {}
      this.#counters.forgetOpen()
      this.#waiting.wakeAll()
      if (this.#isStopping || this.#ports === undefined) return
      const isStable = clock.monotonicMs() - startedMs >= redirectLimits.stableMs
      this.#deaths = isStable ? 1 : this.#deaths + 1
      const restartMs = backoffMs(redirectLimits.restarts, this.#deaths)
      log.error({ restartMs }, 'the redirect listener ended; it is started again')
      this.#restart = setTimeout(() => void this.#again(), restartMs)
    })
    return promise
  }

  async #again(): Promise<void> {
    const started = await this.#startThread()
    if (!started.ok && !this.#isStopping) this.#parts.log.error({}, started.error)
  }

  #settled(settings: RedirectListenerSettings): RedirectListenerSettings {
    if (this.#ports === undefined) return settings
    const { port, httpsPort } = this.#ports
    return { ...settings, port, https: { ...settings.https, port: httpsPort ?? undefined } }
  }

  #onAdopted(number: number): void {
    this.#adopted = Math.max(this.#adopted, number)
    this.#hits.adopted(number)
    this.#waiting.wakeAll()
  }

  #post(message: ToRedirectWorker): void {
    this.#worker?.postMessage(message)
  }
}

export function spawnRedirectWorker(workerData: RedirectWorkerData): Worker {
  const url = new URL('./worker.ts', import.meta.url)
  return new Worker(url, { name: 'gslbd-redirect', workerData, env: {} })
}

/** Copies the columns, because the memory of a bundle is used again two swaps later. */
function copyOf(bundle: Bundle): RedirectColumns {
  const wordsOf = (column: Uint32Array): Uint32Array => {
    const copy = new Uint32Array(new SharedArrayBuffer(column.byteLength))
    copy.set(column)
    return copy
  }
  return {
    redirectUid: sharedCopy(bundle.redirectUid),
    redirectRow: wordsOf(bundle.redirectRow),
    redirectText: sharedCopy(bundle.redirectText),
    redirectIndex: wordsOf(bundle.redirectIndex),
  }
}
