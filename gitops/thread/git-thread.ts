// Runs the Git thread: it handles messages of the main thread, and reports what it found.
import { randomInt } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import type { PolicyTests } from '#compiler/tree/policy-tests.ts'
import type { MovedBetween } from '#compiler/lower/name-outline.ts'
import { systemClock } from '#lib/clock.ts'
import { MemoryReleases } from '#lib/memory/memory-releases.ts'
import { Random } from '#lib/random.ts'
import { systemAfter } from '#lib/timer.ts'
import { version } from '#lib/version.ts'
import type { CommitEffects, NodeDatabases } from '#judge/effects/commit-effect.ts'
import { CommitTrials } from '#gitops/sync/commit-trials.ts'
import type { HistoryAnswer, HistoryAsked } from './history-calls.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { gitLimits } from '#gitops/limits.ts'
import { noConfig } from '#config/view.ts'
import type { ConfigNews } from '#config/view.ts'
import { trialsPathOf } from './options.ts'
import type { GitopsOptions } from './options.ts'
import { startPipeline } from './pipeline.ts'
import type { Pipeline } from './pipeline.ts'
import type { CommitPublication } from '#gitops/sync/publication.ts'
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import type { Stop } from '#gitops/sync/steps.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import type { CommitResult, WriteRequest } from '#config/operation.ts'

export interface WorkerStart {
  readonly options: GitopsOptions
  /** Limit of the thread's heap. */
  readonly heapMb: number
  /** True when the thread before it died. */
  readonly isRestart: boolean
}

export type ToWorker =
  | { readonly kind: 'poke' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'agents'; readonly count: number }
  | { readonly kind: 'databases'; readonly databases: NodeDatabases }
  | { readonly kind: 'judge'; readonly id: number; readonly push: PushedHead }
  | { readonly kind: 'history'; readonly id: number; readonly question: HistoryAsked }
  | { readonly kind: 'write'; readonly id: number; readonly request: WriteRequest }

export type FromWorker =
  /** A signed bundle that will probably be published next. */
  | { readonly kind: 'prepare'; readonly bundle: Uint8Array }
  | { readonly kind: 'publish'; readonly publication: CommitPublication }
  | { readonly kind: 'status'; readonly status: GitopsStatus; readonly change: string }
  /** Follows the publication that it belongs to, and precedes the answers to its writes. */
  | { readonly kind: 'config'; readonly news: ConfigNews }
  | { readonly kind: 'answered'; readonly id: number; readonly answer: HistoryAnswer }
  | { readonly kind: 'judged'; readonly id: number; readonly verdict: Stop | null }
  | { readonly kind: 'written'; readonly id: number; readonly result: CommitResult }
  /** The thread was idle for a while, and has released the memory of its work. */
  | { readonly kind: 'rested' }

interface GitThreadParts {
  readonly start: WorkerStart
  readonly port: Pick<MessagePort, 'on' | 'postMessage'>
  /** Releases memory of finished work to the system. */
  readonly shrink: () => void
  /** Collects garbage before more is made. */
  readonly collect: () => void
  /** Called before each write. */
  readonly onWrite: () => void
  /** Called when the thread has stopped on request. */
  readonly onEnd: () => void
}

/** Runs until a message stops it, in a thread of its own or in that of a test. */
export async function runGitThread(parts: GitThreadParts): Promise<void> {
  const { start, port, shrink, collect, onWrite, onEnd } = parts
  const { options, heapMb, isRestart } = start
  const releases = new MemoryReleases({
    clock: systemClock,
    after: systemAfter,
    release: () =>
      void keeps().finally(() => {
        shrink()
        port.postMessage({ kind: 'rested' } satisfies FromWorker)
      }),
  })
  const tell = (message: FromWorker): void => {
    port.postMessage(message)
    // A look at an unchanged branch leaves nothing to release.
    if (message.kind !== 'status' || message.change !== '') releases.changed()
  }
  let keptMs = -Infinity
  const keeps = async (): Promise<void> => {
    const nowMs = systemClock.monotonicMs()
    if (nowMs - keptMs < gitLimits.keptEveryMs) return
    if ((await pipeline.keep()) !== 'nothing new') keptMs = nowMs
  }
  /** Spreads the polls of a fleet; a predictable seed is no risk. */
  const random = new Random(randomInt(2 ** 32))
  const { policyTests, movedBetween } = await judgesOf(options)
  let databases: NodeDatabases | null = null
  const effects = effectsOf(options, () => databases)
  const pipeline = startPipeline({
    options,
    trials: new CommitTrials({ path: trialsPathOf(options.dataDir), heapMb, version, isRestart }),
    compiler: createCompilePort(options.checkPolicy, policyTests, movedBetween),
    clock: systemClock,
    random: () => random.next() / 2 ** 32,
    onPrepare: (bundle) => tell({ kind: 'prepare', bundle }),
    onPublish: (publication) => tell({ kind: 'publish', publication }),
    onStatus: (status, change) => {
      if (hasNoConfig(status, options)) tell({ kind: 'config', news: noConfig })
      tell({ kind: 'status', status, change })
    },
    onConfig: (news) => tell({ kind: 'config', news }),
    collect,
    ...effects.ofWrites,
  })
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'stop') void pipeline.stop().then(onEnd)
    else if (message.kind === 'databases') {
      ;({ databases } = message)
      effects.renew()
      releases.changed()
    } else {
      if (message.kind === 'write') onWrite()
      obey(message, pipeline, tell)
    }
  })
}

function obey(
  message: Exclude<ToWorker, { readonly kind: 'stop' | 'databases' }>,
  pipeline: Pipeline,
  tell: (message: FromWorker) => void,
): void {
  if (message.kind === 'poke') pipeline.poke()
  else if (message.kind === 'agents') pipeline.permitAgents(message.count)
  else if (message.kind === 'judge') {
    const { id, push } = message
    void pipeline.judge(push).then((verdict) => tell({ kind: 'judged', id, verdict }))
  } else if (message.kind === 'write') {
    const { id, request } = message
    pipeline.write({ request, settle: (result) => tell({ kind: 'written', id, result }) })
  } else {
    const { id, question } = message
    void pipeline.history(question).then((answer) => tell({ kind: 'answered', id, answer }))
  }
}

/** Loads the answer path only where answers are judged; messages wait in the port until then. */
async function judgesOf(options: GitopsOptions): Promise<{
  readonly policyTests: PolicyTests | null
  readonly movedBetween: MovedBetween | null
}> {
  if (options.judging === undefined) return { policyTests: null, movedBetween: null }
  const { createPolicyTests } = await import('#judge/policy-tests/run.ts')
  const { createMovedBetween } = await import('#judge/effects/moved-between.ts')
  return {
    policyTests: createPolicyTests(),
    movedBetween: createMovedBetween(options.judging.databases),
  }
}

/** Loads the effects on demand: most nodes make no commits. */
function effectsOf({ judging }: GitopsOptions, databases: () => NodeDatabases | null): LazyEffects {
  if (judging === undefined) return { ofWrites: {}, renew: () => undefined }
  const { hasDatabases } = judging
  let effects: Promise<CommitEffects> | undefined
  const read = async (): Promise<CommitEffects> => {
    const { createCommitEffects } = await import('#judge/effects/commit-effects.ts')
    return createCommitEffects({ hasDatabases, databases })
  }
  const readAgain = (thrown: unknown): never => {
    effects = undefined
    throw thrown
  }
  return {
    ofWrites: { effects: () => (effects ??= read().catch(readAgain)) },
    renew: () => void effects?.then((read) => read.renew()).catch(() => undefined),
  }
}

interface LazyEffects {
  readonly ofWrites: { readonly effects?: () => Promise<CommitEffects> }
  /** To be called when there are other databases. */
  readonly renew: () => void
}

/**
 * Whether the repository is new: it has no commit, or the first one was read and is held. A state
 * that is lost or unreadable does not count: a node that serves a bundle has a configuration.
 */
function hasNoConfig({ sync, code, accepted }: GitopsStatus, { resume }: GitopsOptions): boolean {
  const servedNothing = resume === null
  return servedNothing && sync === 'held' && accepted === null && code !== 'StateUnreadable'
}
