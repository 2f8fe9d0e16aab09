// Parts: the node's own repository, and the Git side that follows a branch and passes bundles to
// the DNS node.
import { resolve } from 'node:path'
import { assert } from '#lib/assert.ts'
import { installPushCheck } from '#node/push/install-hook.ts'
import { checkPolicyOfNode } from '#settings/check-policy.ts'
import { geoPathsOf, gitAccess } from '#node/compose/named-files.ts'
import { openPushSocket } from '#node/push/push-socket.ts'
import type { Settings } from '#settings/settings.ts'
import { createGitopsLog } from '#node/status/gitops-log.ts'
import type { ProcessLog } from '#process/log.ts'
import { Repacker } from '#gitops/git/repacker.ts'
import { ensureOrigin } from '#gitops/source/origin.ts'
import type { CommitPublication } from '#gitops/sync/publication.ts'
import { GitopsControl } from '#gitops/thread/control.ts'
import { mirrorPath, originPath } from '#gitops/thread/options.ts'
import type { Judging } from '#gitops/thread/options.ts'
import { systemClock } from '#lib/clock.ts'
import { MemoryReleases } from '#lib/memory/memory-releases.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import type { OwnActivation } from '#integrations/telemetry/commit-traces.ts'
import type { DnsNode } from '#server/node/node.ts'
import { releaseMemory } from '#system/worker/release-memory.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'

/** The only channel of this version. */
export const channel = 'main'
/** Life of a record, which is renewed long before; nodes raise an alarm when it expires. */
export const recordTtlMs = 24 * 3_600_000

/**
 * Makes the repository before the log says that gslbd runs, so that people can push from then on.
 */
export function ensureOwnRepository({ dataDir, gitops }: Settings): Result<unknown, string> {
  return gitops.url === '' ? ensureOrigin(originPath(dataDir), gitops.branch) : ok(null)
}

export const makeRepository = (have: Given & Has<'dataDir' | 'node'>): Outcome => {
  const { settings, log, dataDir, node } = have
  const fault = dataDir.fault()
  if (fault !== null) {
    if (node.status().active === null) return err(fault)
    log.error({}, `${fault}; until then the last bundle is served and no change is kept`)
  }
  const origin = ensureOwnRepository(settings)
  if (origin.ok) keepPushCheck(settings, log)
  // A node that cannot write goes on without its repository, since it can still answer.
  return origin.ok || fault !== null ? ok({ gives: {} }) : origin
}

/** Without the hook, pushed commits are judged after the push. */
export function keepPushCheck(settings: Settings, log: ProcessLog): void {
  const installed = installPushCheck(settings, process.argv[1] ?? '')
  if (!installed.ok) log.warn({}, installed.error)
}

type OfNode = 'node' | 'health' | 'geoFeed'
type Needs = Given & Has<OfNode | 'key' | 'records' | 'telemetry'>
type Gives = Has<'gitops' | 'repacker' | 'commitToActiveSeconds'>

/** Composes the Git side; its thread starts later, with `followBranch`. */
export const createGit = (have: Needs): Outcome<Gives> => {
  const { node, health, log, later } = have
  const repacker = createRepacker(have.settings, log)
  const activations = new Activations({
    ...{ node, log, areChecksOff: health === null },
    onServed: (served) => {
      have.records.commits.activated(served.commit)
      have.telemetry.activated(served)
    },
    onActive: () => later.commitNews?.activated(),
    onStored: () => later.bundleFeed?.changed(),
  })
  // After a commit was read and activated, this thread has as much memory to release as the Git
  // thread.
  const onTheClock = { clock: systemClock, after: systemAfter }
  const releases = new MemoryReleases({ ...onTheClock, release: () => releaseMemory('keep') })
  const gitops = createGitops(have, activations, () => releases.changed())
  have.geoFeed.onChange(gitops.giveDatabases)
  return ok({
    gives: { gitops, repacker, commitToActiveSeconds: () => activations.seconds },
    stop: async () => {
      releases.stop()
      await gitops.stop()
      await activations.done()
    },
  })
}

export const followBranch = async (have: Given & Has<'dataDir' | 'gitops'>): Promise<Outcome> => {
  const { gitops, settings, dataDir, log } = have
  await gitops.start()
  if (settings.gitops.url !== '') return ok({ gives: {} })
  const { path } = dataDir
  const gitdir = originPath(resolve(path))
  const socket = openPushSocket({ dataDir: path, gitdir, judge: gitops.judge, log })
  return ok({ gives: {}, stop: socket.close })
}

function createGitops(have: Needs, activations: Activations, onRest: () => void): GitopsControl {
  const { gitops, health, dataDir } = have.settings
  const tell = createGitopsLog(have.log)
  const options = {
    dataDir,
    url: gitops.url,
    branch: gitops.branch,
    pollMs: gitops.pollMs,
    requireSignature: gitops.requireSignature,
    allowedSignersPath: gitops.allowedSigners,
    access: gitAccess(gitops),
    channel,
    signingKeyPem: have.key.pem,
    recordTtlMs,
    checkPolicy: checkPolicyOfNode(health),
    judging: judgingOf(have.settings),
    resume: have.node.resumePoint(),
    ...agentsMaxOf(have.node),
  }
  return new GitopsControl(options, {
    onStatus: (status, change) => {
      activations.noteHead(status.head?.commit)
      tell(status, change)
      have.records.commits.statusIs(status)
      have.telemetry.looked(status)
    },
    onPrepare: (bundle) => have.node.prepare(bundle),
    onPublish: (publication) => activations.add(publication),
    onRest,
  })
}

/** Until the licence is read, nodes keep the number that they were sent before. */
function agentsMaxOf(node: DnsNode): { readonly agentsMax?: number } {
  const { agentsMax } = node.status().active ?? {}
  return agentsMax === undefined ? {} : { agentsMax }
}

function judgingOf(settings: Settings): Judging {
  const { geoip, asn } = settings
  return {
    databases: { geoip: geoip.dbPath, asn: asn.dbPath },
    hasDatabases: Object.values(geoPathsOf(settings)).some((path) => path !== ''),
  }
}

interface ActivationsParts {
  readonly node: DnsNode
  readonly areChecksOff: boolean
  readonly log: ProcessLog
  /** Called when the node answers from a bundle; also when it did before. */
  readonly onServed: (served: OwnActivation) => void
  /** Called when the bundle is another one. */
  readonly onActive: () => void
  /** Called when the record is another one. */
  readonly onStored: () => void
}

/** Activates bundles one after the other, and measures how long a commit takes. */
class Activations {
  readonly #parts: ActivationsParts
  #last: Promise<void> = Promise.resolve()
  #isUnprobedLogged = false
  /** The newest commit, and when it was seen by the monotonic clock. */
  #head = { commit: '', seenAtMs: 0 }
  /** Seconds from seeing the newest commit until all responders used it; null: none yet. */
  seconds: number | null = null

  constructor(parts: ActivationsParts) {
    this.#parts = parts
    this.#warnOfUnprobedPools()
  }

  /** Activations are chained: two at once could finish in the wrong order. */
  add(publication: CommitPublication): Promise<void> {
    this.#last = this.#last
      .then(() => this.#activate(publication))
      // A bug, or no memory: the active bundle stays, and later publications are tried.
      .catch((error: unknown) =>
        this.#parts.log.error({ err: error }, 'a bundle was not activated'),
      )
    return this.#last
  }

  done(): Promise<void> {
    return this.#last
  }

  noteHead(commit: string | undefined): void {
    if (commit === undefined || commit === this.#head.commit) return
    this.#head = { commit, seenAtMs: systemClock.monotonicMs() }
  }

  async #activate(publication: CommitPublication): Promise<void> {
    const startMs = systemClock.nowMs()
    const sinceMs = systemClock.monotonicMs()
    const { node, onServed, onActive, onStored } = this.#parts
    const activated = await node.activate(publication)
    if (!activated.ok) return
    const { active, publisher } = node.status()
    assert(active !== null, 'a node with a bundle answers from one')
    const { seq, digest } = active
    const period = { startMs, endMs: startMs + systemClock.monotonicMs() - sinceMs }
    onServed({ commit: publication.commit, publisher, seq, digest, ...period })
    // A renewed record is news for nodes that pull.
    onStored()
    if (activated.value === 'unchanged') return
    onActive()
    this.#warnOfUnprobedPools()
    if (publication.commit !== this.#head.commit) return
    this.seconds = (systemClock.monotonicMs() - this.#head.seenAtMs) / 1000
  }

  /**
   * Warns once for each time that such pools appear: a person who declares checks expects probes.
   */
  #warnOfUnprobedPools(): void {
    const { node, areChecksOff, log } = this.#parts
    const pools = areChecksOff ? node.poolsWithHealthCheck() : 0
    if (pools > 0 && !this.#isUnprobedLogged) {
      log.warn(
        { pools },
        'health checks are declared but health.enabled is false: every member counts as healthy',
      )
    }
    this.#isUnprobedLogged = pools > 0
  }
}

function createRepacker({ dataDir, gitops }: Settings, log: ProcessLog): Repacker {
  return new Repacker({
    gitdir: gitops.url === '' ? originPath(dataDir) : mirrorPath(dataDir),
    afterObjects: gitops.packAfterObjects,
    searchPath: process.env['PATH'] ?? '',
    clock: systemClock,
    after: systemAfter,
    log,
  })
}
