// Puts the whole Git side together in one thread: opens the source, and reconciles when something
// may have changed.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { signingKeyFromPem } from '#bundle/signature/channel.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { attestationRefPrefix } from '#gitops/trust/attestation.ts'
import { askHistory } from './history-calls.ts'
import type { HistoryAnswer, HistoryAsked } from './history-calls.ts'
import { History } from '#gitops/history/history.ts'
import type { CommitTrials } from '#gitops/sync/commit-trials.ts'
import type { RememberingCompiler } from '#gitops/sync/compile-adapter.ts'
import { failed } from '#config/fault.ts'
import type { ConfigDelta } from '#config/object-index.ts'
import type { ConfigNews } from '#config/view.ts'
import type { ConfigSource, SourceError } from '#gitops/source/config-source.ts'
import { diskError } from '#gitops/source/disk-error.ts'
import type { CommitObjects } from '#gitops/git/objects/presence.ts'
import { parentDsPathOf, readParentDs } from '#gitops/guard/parent-ds.ts'
import { gitLimits } from '#gitops/limits.ts'
import { privateKeyFromPem } from '#gitops/trust/openssh-key.ts'
import { keptPathOf, openSource, statePathOf } from './options.ts'
import type { GitopsOptions, OpenSource } from './options.ts'
import type { CommitPublication } from '#gitops/sync/publication.ts'
import { Publisher } from '#gitops/sync/publisher.ts'
import type { AcceptedTree } from '#gitops/sync/reconcile.ts'
import { Reconciler } from '#gitops/sync/reconcile.ts'
import { Runner } from '#gitops/sync/runner.ts'
import { held, unreachable } from '#gitops/sync/steps.ts'
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import type { Stop } from '#gitops/sync/steps.ts'
import { unknownStatus } from '#gitops/status/status.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import { keptObjects } from '#gitops/sync/kept-file.ts'
import { KeptCommit } from '#gitops/sync/kept-commit.ts'
import type { Keeping } from '#gitops/sync/kept-commit.ts'
import { programStamp } from '#gitops/sync/program-stamp.ts'
import { loadState, resetCommand } from '#gitops/sync/stored-state.ts'
import { encodeObjects } from '#config/kept-objects.ts'
import type { StoredState } from '#gitops/sync/stored-state.ts'
import { Mutex } from '#lib/mutex.ts'
import { watchPaths } from '#gitops/sync/watch.ts'
import { AcceptedConfig } from '#gitops/write/accepted.ts'
import { WriteQueue } from '#gitops/write/queue.ts'
import type { Asked } from '#gitops/write/select.ts'
import { Writer } from '#gitops/write/writer.ts'
import type { WriterParts } from '#gitops/write/writer.ts'

interface PipelineParts {
  readonly options: GitopsOptions
  readonly compiler: RememberingCompiler
  /** Left out: a commit that crashes the thread is read again each time. */
  readonly trials?: CommitTrials
  readonly clock: Clock
  readonly random: () => number
  /**
   * Receives a signed bundle before its commit is in Git, so that the node can begin to load it.
   */
  readonly onPrepare: (bundle: Uint8Array) => void
  readonly onPublish: (publication: CommitPublication) => void
  readonly onStatus: (status: GitopsStatus, change: string) => void
  /** Called after the publication that the news belong to. */
  readonly onConfig: (news: ConfigNews) => void
  /** See `WriterParts`. */
  readonly effects?: WriterParts['effects']
  /** Collects the garbage of reading a large commit. */
  readonly collect?: () => void
}

export interface Pipeline {
  readonly poke: () => void
  /** Sets the number of probe agents; see `Publisher`. */
  readonly permitAgents: (count: number) => void
  readonly write: (asked: Asked) => void
  /** Judges a push to the node's own repository. null: that is not possible now. Never rejects. */
  readonly judge: (push: PushedHead) => Promise<Stop | null>
  /** Answers a question about the history. Never rejects. */
  readonly history: (question: HistoryAsked) => Promise<HistoryAnswer>
  /**
   * Saves the accepted commit for the next start, and drops it from memory while nothing builds on
   * it. Never rejects.
   */
  readonly keep: () => Promise<Keeping>
  readonly stop: () => Promise<void>
}

/** Interval at which the record's age is checked; see Publisher. */
const renewEveryMs = 60_000

/** How long a stop waits for the commit under way. */
const stopPatienceMs = 3_000

/** From so many files on, garbage is collected after a read: later work takes as much again. */
const filesBeforeCollect = 1_000

/** Interval at which a source that could not be opened is tried again. A poke tries at once. */
const reopenEveryMs = 10_000

export function startPipeline(parts: PipelineParts): Pipeline {
  const abort = new AbortController()
  let pipeline: Pipeline | undefined
  let fault = ''
  let agentsMax = parts.options.agentsMax ?? Infinity
  const open = (): void => {
    const opened = tryToOpen(parts, abort)
    if (opened.ok) {
      clearInterval(timer)
      pipeline = opened.value
      pipeline.permitAgents(agentsMax)
      return
    }
    const { sync, code, reason } = opened.error
    const nowMs = Math.floor(parts.clock.nowMs())
    const times = { sinceMs: nowMs, lookedFromMs: nowMs, checkedAtMs: nowMs }
    const status = { ...unknownStatus, ...opened.error, ...times }
    const change = `${sync}, ${code}: ${reason}`
    parts.onStatus(status, change === fault ? '' : change)
    fault = change
  }
  const timer = setInterval(open, reopenEveryMs)
  open()
  return {
    poke: () => (pipeline === undefined ? open() : pipeline.poke()),
    permitAgents(count) {
      agentsMax = count
      pipeline?.permitAgents(count)
    },
    write(pending) {
      if (pipeline !== undefined) return pipeline.write(pending)
      const message = `The configuration repository cannot be opened. ${fault}`
      pending.settle(err(failed('unreachable', message)))
    },
    history: async (question) => pipeline?.history(question) ?? err('unavailable'),
    judge: async (push) => pipeline?.judge(push) ?? null,
    keep: async () => (await pipeline?.keep()) ?? 'nothing new',
    async stop() {
      clearInterval(timer)
      await pipeline?.stop()
      abort.abort()
    },
  }
}

function tryToOpen(parts: PipelineParts, abort: AbortController): Result<Pipeline, Stop> {
  let opened
  try {
    opened = openSource(parts.options, abort.signal)
  } catch (error) {
    const refusal = diskError(error)
    if (refusal === undefined) throw error
    return err(unreachable(refusal))
  }
  if (!opened.ok) return err(unreachable(opened.error))
  const state = loadState(statePathOf(parts.options.dataDir))
  if (!state.ok) return err(held({ code: 'StateUnreadable', reason: state.error }))
  return ok(run(parts, opened.value, state.value, abort))
}

function run(
  parts: PipelineParts,
  { source, localGitdir }: OpenSource,
  state: StoredState,
  abort: AbortController,
): Pipeline {
  const { options, compiler, clock, random, trials, onStatus } = parts
  const { branch, requireSignature, allowedSignersPath, recordTtlMs } = options
  const publisher = openPublisher(parts, state)
  let status = unknownStatus
  const accepted = new AcceptedConfig(clock)
  const mutex = new Mutex()
  const kept = openKept(parts, (line) => onStatus(status, line))
  /** The commit that this thread has read, while nothing was built on it; else null. */
  let untouched: string | null = null
  const onConfig = (news: ConfigNews): void => {
    untouched = news.isWhole ? news.revision : null
    parts.onConfig(news)
  }
  const objects = (): CommitObjects | null => accepted.objects() ?? kept.objects()
  const { inspect, inspectAtTimes } = inspections(source, objects, clock)
  const reconciler = new Reconciler({
    ...{ source, compiler, publisher, clock, branch, inspect: inspectAtTimes },
    ...{ requireSignature, allowedSignersPath, kept, ...(trials && { trials }) },
    ...fromDirectory(options),
    report: (next, change) => {
      status = { ...next, nextCheckAtMs: status.nextCheckAtMs }
      onStatus(status, change)
    },
    onAccepted: (tree) => {
      untouched = null
      const news = newsOf(tree, accepted, kept, parts.collect)
      if (news !== undefined) onConfig(news)
    },
  })
  const history = new History(source.driver, () => objects()?.commit ?? null)
  const lookLater = (): void => runner.poke()
  const shared = { source, publisher, reconciler, accepted, inspect }
  const queue = openWrites({ ...parts, onConfig }, { ...shared, mutex, abort, lookLater })
  const runner = new Runner({
    ...{ ...pausesOf(options, localGitdir), random },
    look: async () => {
      await mutex.take(() => reconciler.check())
      return reconciler.status.sync === 'unreachable' ? 'failed' : 'reached'
    },
    onScheduled: (delayMs) => {
      status = { ...status, nextCheckAtMs: delayMs && Math.floor(clock.nowMs() + delayMs) }
      onStatus(status, '')
    },
  })
  const watch = watchPaths(watched(options, localGitdir), () => runner.poke())
  const renewal = keepRenewed(publisher, recordTtlMs, localGitdir === null ? ignore : lookLater)
  runner.poke()
  const rest = { ...shared, compiler, mutex, collect: parts.collect }
  return {
    poke: () => runner.poke(),
    permitAgents: (count) => publisher.permitAgents(count),
    write: (pending) => queue.add(pending),
    history: (question) => askHistory(history, question),
    judge: (push) => mutex.take(() => reconciler.judge(push)).catch(() => null),
    keep: () => keepAndPutAway(kept, rest, () => untouched === accepted.commit),
    async stop() {
      watch.close()
      clearInterval(renewal)
      await stopWrites(queue, abort)
      await runner.stop()
      await keepAccepted(kept, shared)
    },
  }
}

function fromDirectory({ dataDir }: GitopsOptions) {
  const parentDs = () => readParentDs(parentDsPathOf(dataDir))
  return { resetCommand: resetCommand(dataDir), parentDs }
}

/** A commit under way ends first: whoever asked for it gets its answer. */
async function stopWrites(queue: WriteQueue, abort: AbortController): Promise<void> {
  await Promise.race([queue.stop(), sleep(stopPatienceMs)])
  abort.abort()
}

function pausesOf({ pollMs }: GitopsOptions, localGitdir: string | null) {
  const { backoffMaxMs, localBackoffMaxMs } = gitLimits
  return localGitdir === null
    ? { pollMs, retryMaxMs: backoffMaxMs }
    : { pollMs: Infinity, retryMaxMs: localBackoffMaxMs }
}

function openKept(
  { options, onConfig }: Pick<PipelineParts, 'options' | 'onConfig'>,
  note: (line: string) => void,
): KeptCommit {
  const { dataDir, signingKeyPem, checkPolicy, judging } = options
  const settings = JSON.stringify({ checkPolicy, asksTests: judging !== undefined })
  const stamp = hash('sha256', `${programStamp()} ${settings}`)
  const key = signingKeyFromPem(signingKeyPem)
  const parts = { path: keptPathOf(dataDir), key, stamp, note }
  return new KeptCommit(parts, (revision, objects) =>
    onConfig({ isWhole: true, revision, changed: [], removed: [], objects }),
  )
}

/** Each write inspects the objects and makes the watch look at the branch: that look skips them. */
function inspections(source: ConfigSource, objects: () => CommitObjects | null, clock: Clock) {
  let inspectedAtMs = -Infinity
  const inspect = (): Result<void, SourceError> => {
    const all = objects()
    const there = all === null ? ok(undefined) : source.inspect(all)
    inspectedAtMs = there.ok ? clock.monotonicMs() : -Infinity
    return there
  }
  const inspectAtTimes = (): Result<void, SourceError> => {
    const agoMs = clock.monotonicMs() - inspectedAtMs
    return agoMs < gitLimits.inspectPauseMs ? ok(undefined) : inspect()
  }
  return { inspect, inspectAtTimes }
}

async function keepAccepted(
  kept: KeptCommit,
  { publisher, reconciler, accepted }: Pick<WriterParts, 'publisher' | 'reconciler' | 'accepted'>,
  collect?: () => void,
): Promise<Keeping> {
  const [published, restored, tree] = [publisher.accepted, reconciler.restored, accepted.tree]
  if (restored?.sync !== 'synced' || published === null || tree === null) return 'nothing new'
  if (accepted.commit !== published.commit) return 'nothing new'
  const { diagnostics, diagnosticsTotal: total } = restored
  const { commit, digest } = published
  return kept.keep({ commit, tree, digest, diagnostics, total }, () => {
    if (accepted.files.size > filesBeforeCollect) collect?.()
    return accepted.read()
  })
}

type RestParts = Pick<WriterParts, 'publisher' | 'reconciler' | 'accepted' | 'compiler'> & {
  readonly mutex: Mutex
  readonly collect: PipelineParts['collect']
}

async function keepAndPutAway(
  kept: KeptCommit,
  parts: RestParts,
  isUntouched: () => boolean,
): Promise<Keeping> {
  const keeping = await keepAccepted(kept, parts, parts.collect)
  await parts.mutex.take(async () => {
    if (keeping === 'kept' && isUntouched()) putAway(kept, parts)
  })
  return keeping
}

/** Drops the accepted commit from memory; it is read again when something builds on it. */
function putAway(
  kept: KeptCommit,
  { reconciler, accepted, compiler }: Pick<WriterParts, 'reconciler' | 'accepted' | 'compiler'>,
): void {
  const { commit, tree } = accepted
  const { sync, head } = reconciler.status
  if (commit === null || tree === null || sync !== 'synced' || head?.commit !== commit) return
  const blobs = accepted.read().map(({ file }) => file.blobId)
  kept.putAway({ commit, tree }, blobs)
  reconciler.unload()
  accepted.forget()
  compiler.forget()
}

/** News of a commit for the main thread; undefined: they were sent when it was kept. */
function newsOf(
  tree: AcceptedTree,
  accepted: AcceptedConfig,
  kept: KeptCommit,
  collect: PipelineParts['collect'],
): ConfigNews | undefined {
  const isFirst = accepted.commit === null
  const isNews = kept.release() !== tree.commit
  if (isFirst && isNews && tree.read.length > filesBeforeCollect) collect?.()
  const delta = accepted.replace(tree)
  if (!isFirst) return { isWhole: false, ...delta }
  if (!isNews) return undefined
  const news = wholeOf(tree, delta)
  if (news.objects !== undefined) kept.useEncoded(tree.commit, news.objects)
  return news
}

/**
 * Encodes the news of a whole commit, unless that takes too many octets.
 *
 * @param delta with all objects
 */
export function wholeOf(
  { read }: Pick<AcceptedTree, 'read'>,
  delta: ConfigDelta,
  bytesMax: number = gitLimits.keptBytesMax,
): ConfigNews {
  const objects = encodeObjects(keptObjects(read), bytesMax)
  return { isWhole: true, ...delta, ...(objects && { changed: [], objects }) }
}

/**
 * Renews the record in time, and looks for objects that have vanished from a repository of our own:
 * nothing else notices that.
 */
function keepRenewed(
  publisher: Publisher,
  recordTtlMs: number,
  alsoRun: () => void,
): NodeJS.Timeout {
  const everyMs = Math.min(renewEveryMs, recordTtlMs / 4)
  return setInterval(() => {
    publisher.renewWhenDue()
    alsoRun()
  }, everyMs)
}

const ignore = (): void => undefined

function openPublisher(
  { options, clock, onPublish }: PipelineParts,
  state: StoredState,
): Publisher {
  const { dataDir, channel, recordTtlMs, resume, signingKeyPem, agentsMax } = options
  return new Publisher({
    ...(agentsMax === undefined ? {} : { agentsMax }),
    state,
    statePath: statePathOf(dataDir),
    resume,
    channel,
    key: signingKeyFromPem(signingKeyPem),
    recordTtlMs,
    clock,
    handOver: onPublish,
  })
}

type WriteSidePart = 'inspect' | 'source' | 'publisher' | 'reconciler' | 'accepted' | 'lookLater'
type WriteSide = Pick<WriterParts, WriteSidePart> & {
  readonly mutex: Mutex
  readonly abort: AbortController
}

function openWrites(
  { options, compiler, clock, random, onPrepare, onConfig, effects }: PipelineParts,
  { mutex, abort, ...shared }: WriteSide,
): WriteQueue {
  const { requireSignature, allowedSignersPath, signingKeyPem } = options
  const writer = new Writer({
    ...shared,
    parentDs: fromDirectory(options).parentDs,
    compiler,
    key: privateKeyFromPem(signingKeyPem, 'gslbd node'),
    requireSignature,
    allowedSignersPath,
    clock,
    random,
    stop: abort.signal,
    onPrepare,
    onConfig: (delta) => onConfig({ ...delta, isWhole: false }),
    ...(effects && { effects }),
  })
  return new WriteQueue({
    clock,
    takeTurn: (work) => mutex.take(work),
    write: (batch) => writer.write(batch),
  })
}

function watched({ branch, allowedSignersPath }: GitopsOptions, gitdir: string | null): string[] {
  if (gitdir === null) return [allowedSignersPath]
  const refs = [`refs/heads/${branch}`, 'packed-refs', attestationRefPrefix.slice(0, -1)]
  return [allowedSignersPath, ...refs.map((ref) => join(gitdir, ref))]
}
