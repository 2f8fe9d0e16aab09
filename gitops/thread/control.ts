// Controls the Git worker from the main thread: starts and restarts it, and forwards its messages.
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { err } from '#lib/result.ts'
import { TenantPlaces } from '#lib/sequence/tenant-places.ts'
import { PendingCalls } from '#lib/thread/pending-calls.ts'
import { systemClock } from '#lib/clock.ts'
import { backoffMs } from '#lib/backoff.ts'
import { startWithSemiSpace } from '#lib/memory/semi-space.ts'
import { shareStrings } from '#lib/memory/string-memory.ts'
import type { Clock } from '#lib/clock.ts'
import { LiveConfigView } from '#config/view.ts'
import type { ConfigView } from '#config/view.ts'
import { gitLimits } from '#gitops/limits.ts'
import { excuseTrials } from '#gitops/sync/commit-trials.ts'
import { trialsPathOf } from './options.ts'
import type { GitopsOptions } from './options.ts'
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import type { Stop } from '#gitops/sync/steps.ts'
import type { Position, CommitPublication } from '#gitops/sync/publication.ts'
import { unknownStatus } from '#gitops/status/status.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import type { FromWorker, ToWorker, WorkerStart } from './git-thread.ts'
import { compilerHeapMb, resourceLimitsOf, semiSpaceMb } from './worker-memory.ts'
import type { CommitResult, WriteRequest } from '#config/operation.ts'
import { historyLimits } from '#config/history.ts'
import type { ConfigHistory } from '#config/history.ts'
import { failed } from '#config/fault.ts'
import { askerOf, historyThrough } from './history-calls.ts'
import type { HistoryAnswer, HistoryAsked } from './history-calls.ts'
import type { NodeDatabases } from '#judge/effects/commit-effect.ts'
import { withUids } from '#config/uids.ts'

/** Handlers of what the thread tells; each may be left out. */
interface GitopsHandlers {
  /**
   * Called with each publication. The thread waits for its promise: a write is answered, and the
   * view changes, when the bundle is active.
   */
  readonly onPublish?: (publication: CommitPublication) => unknown
  /** Called with signed bundles that will probably be published next. */
  readonly onPrepare?: (bundle: Uint8Array) => void
  /** Called with each state. `change` is '' or lines for the log. */
  readonly onStatus?: (status: GitopsStatus, change: string) => void
  /** Called when the thread is idle and small again. */
  readonly onRest?: () => void
}

/** How long a stop waits. A write would be lost; a first read is repeated at the next start. */
const stopPatienceMs = { writing: 5_000, reading: 2_000 } as const
const ignore = (): void => undefined
const restarts = { firstMs: 500, mostMs: gitLimits.backoffMaxMs } as const
/** How long the API may wait for the configuration: most are read by then. */
const firstLookMs = 2_000
/** Pushes that wait for a verdict; further ones are judged by the process of their hook. */
const pushesMax = 4
/** A worker that ran for so long works: the pauses after crashes begin anew. */
const stableMs = 60_000

/** For the writes of a worker that died: nobody knows what it had done. */
const uncertain = failed(
  'uncertain',
  'The configuration worker stopped before it answered. It is not known whether the change is in ' +
    'Git: look at it.',
)

/** The part of a `Worker` that is used here. */
export type GitThread = Pick<Worker, 'on' | 'once' | 'postMessage' | 'terminate'>

const spawnWorker = (start: WorkerStart): GitThread =>
  startWithSemiSpace(
    semiSpaceMb,
    () =>
      new Worker(new URL('./worker.ts', import.meta.url), {
        name: 'gitops',
        workerData: start,
        resourceLimits: resourceLimitsOf(start.heapMb),
      }),
  )

export class GitopsControl {
  readonly #clock: Clock
  #options: GitopsOptions
  readonly #startThread: (start: WorkerStart) => GitThread
  #worker: GitThread | undefined
  #status = unknownStatus
  #crashes = 0
  #restart: NodeJS.Timeout | undefined
  #databases: NodeDatabases | null = null
  readonly #handlers: GitopsHandlers
  readonly #view = new LiveConfigView()
  /** The active configuration, or an earlier one until it is active. */
  readonly config: ConfigView = this.#view
  readonly #looked = Promise.withResolvers<void>()
  readonly #writes = new PendingCalls<CommitResult>(gitLimits.writeQueueMax)
  readonly #asked = new PendingCalls<HistoryAnswer>(historyLimits.askedMax)
  readonly #askers = new TenantPlaces(historyLimits.askedPerTenantMax)
  readonly #verdicts = new PendingCalls<Stop | null>(pushesMax)
  /** Answers which objects commits changed. */
  readonly history: ConfigHistory = historyThrough((question) => this.#ask(question))
  /** Resolves when all publications that were handed over are active. */
  #activation: Promise<void> = Promise.resolve()

  /** @param startThread starts the thread; tests may run it inside their own */
  constructor(
    options: GitopsOptions,
    handlers: GitopsHandlers = {},
    clock: Clock = systemClock,
    startThread: (start: WorkerStart) => GitThread = spawnWorker,
  ) {
    this.#options = options
    this.#handlers = handlers
    this.#clock = clock
    this.#startThread = startThread
  }

  /** Resolves when the worker runs; the first look may still be under way. */
  start = async (): Promise<void> => {
    const worker = this.#spawn()
    await new Promise<void>((resolve) => {
      worker.once('online', resolve)
      worker.once('exit', () => resolve())
    })
  }

  /**
   * Resolves once the configuration was read or its fault is known, and after `firstLookMs` at the
   * latest. The API opens then, so that most early clients need not retry.
   */
  firstLook = async (): Promise<void> => {
    await Promise.race([this.#looked.promise, sleep(firstLookMs, undefined, { ref: false })])
  }

  stop = async (): Promise<void> => {
    clearTimeout(this.#restart)
    const worker = this.#worker
    this.#worker = undefined
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    worker.postMessage({ kind: 'stop' } satisfies ToWorker)
    // A thread that is synced may still be writing the file for the next start.
    const mayWrite = this.#writes.size > 0 || this.#status.sync === 'synced'
    const patienceMs = stopPatienceMs[mayWrite ? 'writing' : 'reading']
    const timer = setTimeout(() => {
      excuseTrials(trialsPathOf(this.#options.dataDir))
      void worker.terminate()
    }, patienceMs)
    await ended
    clearTimeout(timer)
    this.#afterActivation(() => this.#writes.abandon(err(uncertain)))
    await this.#activation
  }

  /** Looks at the branch now. */
  poke = (): void => {
    this.#worker?.postMessage({ kind: 'poke' } satisfies ToWorker)
  }

  /** Sets how many probe agents pulling nodes accept, by channel records; Infinity: all. */
  permitAgents = (agentsMax: number): void => {
    if ((this.#options.agentsMax ?? Infinity) === agentsMax) return
    this.#options = { ...this.#options, agentsMax }
    this.#worker?.postMessage({ kind: 'agents', count: agentsMax } satisfies ToWorker)
  }

  /**
   * Passes the databases that locate clients, in shared memory: first all, then each newer state.
   */
  giveDatabases = (databases: NodeDatabases): void => {
    this.#databases = databases
    this.#worker?.postMessage({ kind: 'databases', databases } satisfies ToWorker)
  }

  status = (): GitopsStatus => this.#status

  /** Commits and activates a change, or says why not. Never rejects. */
  write = async (request: WriteRequest): Promise<CommitResult> => {
    const worker = this.#worker
    if (worker === undefined) {
      return err(failed('unavailable', 'The configuration worker is starting.'))
    }
    const count = request.operations.length
    const { writeOperationsMax, writeManyOperationsMax } = gitLimits
    const most = request.hasMany === true ? writeManyOperationsMax : writeOperationsMax
    if (count === 0 || count > most) {
      return err(failed('invalid', `A request has 1 to ${most} operations, not ${count}.`))
    }
    if (this.#writes.isFull) {
      return err(failed('busy', 'Too many writes are waiting. Try again in a moment.'))
    }
    const complete = withUids(request, this.#clock)
    return this.#writes.add((id) =>
      worker.postMessage({ kind: 'write', id, request: complete } satisfies ToWorker),
    )
  }

  /** Judges a push to the node's own repository. null: that is not possible now. Never rejects. */
  judge = async (push: PushedHead): Promise<Stop | null> => {
    const worker = this.#worker
    if (worker === undefined || this.#verdicts.isFull) return null
    return this.#verdicts.add((id) =>
      worker.postMessage({ kind: 'judge', id, push } satisfies ToWorker),
    )
  }

  async #ask(question: HistoryAsked): Promise<HistoryAnswer> {
    const worker = this.#worker
    if (worker === undefined) return err('unavailable')
    const leave = this.#askers.enter(askerOf(question))
    if (leave === undefined || this.#asked.isFull) {
      leave?.()
      return err('busy')
    }
    const answer = this.#asked.add((id) =>
      worker.postMessage({ kind: 'history', id, question } satisfies ToWorker),
    )
    return await answer.finally(leave)
  }

  /** Restarts the thread with other options; the accepted commit and its publication stay. */
  reload = async (options: Partial<Omit<GitopsOptions, 'resume'>>): Promise<void> => {
    this.#options = { ...this.#options, ...options }
    await this.stop()
    await this.start()
  }

  /** @param isRestart true: the thread before it died */
  #spawn(isRestart = false): GitThread {
    assert(this.#worker === undefined, 'one Git thread runs at a time')
    const heapMb = this.#options.heapMb ?? compilerHeapMb()
    const worker = this.#startThread({ options: this.#options, heapMb, isRestart })
    this.#worker = worker
    if (this.#databases !== null) this.giveDatabases(this.#databases)
    const startedAtMs = this.#clock.monotonicMs()
    let failure = 'it ended without a word'
    worker.on('message', (message: FromWorker) => this.#receive(message))
    worker.on('error', (error) => {
      failure = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => {
      // Messages of a worker that was stopped on purpose are ignored.
      this.#asked.abandon(err('unavailable'))
      this.#verdicts.abandon(null)
      if (this.#worker !== worker) return
      this.#afterActivation(() => this.#writes.abandon(err(uncertain)))
      if (this.#clock.monotonicMs() - startedAtMs > stableMs) this.#crashes = 0
      this.#worker = undefined
      this.#fail(failure)
    })
    return worker
  }

  #receive(message: FromWorker): void {
    if (message.kind === 'rested') return this.#handlers.onRest?.()
    if (message.kind === 'prepare') return this.#handlers.onPrepare?.(message.bundle)
    if (message.kind === 'status') return this.#tell(message.status, message.change)
    if (message.kind === 'config') {
      // A copy between threads duplicates strings that objects have in common.
      shareStrings(message.news.changed)
      return this.#afterActivation(() => {
        this.#view.apply(message.news)
        this.#looked.resolve()
      })
    }
    if (message.kind === 'answered') return this.#asked.settle(message.id, message.answer)
    if (message.kind === 'judged') return this.#verdicts.settle(message.id, message.verdict)
    if (message.kind === 'written') {
      return this.#afterActivation(() => this.#writes.settle(message.id, message.result))
    }
    const { seq, digest } = message.publication.signedRecord.record
    const resume: Position = { seq, digest }
    // A worker that is restarted later continues from here.
    this.#options = { ...this.#options, resume }
    const activated = this.#handlers.onPublish?.(message.publication)
    const before = this.#activation
    // A failed activation is reported by the node; here only the order matters.
    this.#activation = before.then(() => activated).then(ignore, ignore)
  }

  #afterActivation(act: () => void): void {
    this.#activation = this.#activation.then(act)
  }

  #fail(why: string): void {
    const pauseMs = backoffMs(restarts, ++this.#crashes)
    const reason =
      `The configuration worker stopped: ${why}. It is started again in ` +
      `${Math.ceil(pauseMs / 1000)} s; the last accepted configuration goes on serving.`
    const nowMs = Math.floor(this.#clock.nowMs())
    const failed = { sync: 'unreachable', code: 'WorkerFailed', reason } as const
    const status = { ...this.#status, ...failed, sinceMs: nowMs, nextCheckAtMs: nowMs + pauseMs }
    this.#tell(status, `unreachable, WorkerFailed: ${reason}`)
    this.#restart = setTimeout(() => this.#spawn(true), pauseMs)
  }

  #tell(status: GitopsStatus, change: string): void {
    this.#status = status
    if (status.code !== '') this.#looked.resolve()
    this.#handlers.onStatus?.(status, change)
  }
}
