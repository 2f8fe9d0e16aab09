// Parts: the node's own repository, and the Git side that follows a branch and hands bundles to the
// DNS node.
import { resolve } from 'node:path'
import { assert } from '#lib/assert.ts'
import { installPushCheck } from '#node/push/install-hook.ts'
import { checkPolicyOfNode } from '#settings/check-policy.ts'
import { geoPathsOf, gitAccess } from '#node/compose/named-files.ts'
import { openPushSocket } from '#node/push/push-socket.ts'
import type { Settings } from '#settings/settings.ts'
import { createGitopsLog } from '#node/status/gitops-log.ts'
import type { ProcessLog } from '#node/process/log.ts'
import { Repacker } from '#gitops/git/repacker.ts'
import { ensureOrigin } from '#gitops/source/origin.ts'
import type { CommitPublication } from '#gitops/sync/publication.ts'
import { createGitopsControl } from '#gitops/thread/control.ts'
import type { GitopsControl } from '#gitops/thread/control.ts'
import { mirrorPath, originPath } from '#gitops/thread/options.ts'
import type { Judging } from '#gitops/thread/options.ts'
import { systemClock } from '#lib/clock.ts'
import { MemoryReleases } from '#lib/memory/memory-releases.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import type { DnsNode } from '#server/node/node.ts'
import { releaseMemory } from '#system/worker/release-memory.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { HasDataDir, HasGit, HasKey, HasNode, HasRecords } from '#node/parts/part-outputs.ts'

/** One name for the only channel of this version. */
export const channel = 'main'
/** A record is renewed long before; a node that has not heard for so long raises an alarm. */
export const recordTtlMs = 24 * 3_600_000

/** Without a remote, people can push as soon as the log says that gslbd is running. */
export function ensureOwnRepository({ dataDir, gitops }: Settings): Result<unknown, string> {
  return gitops.url === '' ? ensureOrigin(originPath(dataDir), gitops.branch) : ok(null)
}

export const makeRepository = (have: Given & HasDataDir & HasNode): Outcome => {
  const { settings, log, dataDir, node } = have
  const fault = dataDir.fault()
  if (fault !== null) {
    if (node.status().active === null) return err(fault)
    log.error({}, `${fault}; until then the last bundle is served and no change is kept`)
  }
  const origin = ensureOwnRepository(settings)
  if (origin.ok) keepPushCheck(settings, log)
  // A node that cannot write goes on without its repository; it serves all the same.
  return origin.ok || fault !== null ? ok({ gives: {} }) : origin
}

/** Without it, what is pushed is judged when it is there. */
export function keepPushCheck(settings: Settings, log: ProcessLog): void {
  const installed = installPushCheck(settings, process.argv[1] ?? '')
  if (!installed.ok) log.warn({}, installed.error)
}

type Needs = Given & HasKey & HasRecords & HasNode

/** Puts the Git side together; its thread starts later, with `followBranch`. */
export const createGit = (have: Needs): Outcome<HasGit> => {
  const { node, health, log, later } = have
  const repacker = createRepacker(have.settings, log)
  const activations = new Activations(
    node,
    health === null,
    log,
    (commit) => have.records.commits.activated(commit),
    () => later.commitNews?.activated(),
    () => later.bundleFeed?.changed(),
  )
  const gitops = createGitops(have, activations)
  have.geoFeed.onChange(gitops.giveDatabases)
  // When a commit was read, and is active, this thread has as much to give back as the one of Git.
  const onTheClock = { clock: systemClock, after: systemAfter }
  const releases = new MemoryReleases({ ...onTheClock, release: () => releaseMemory('keep') })
  gitops.onRest(() => releases.changed())
  return ok({
    gives: { gitops, repacker, commitToActiveSeconds: () => activations.seconds },
    stop: async () => {
      releases.stop()
      await gitops.stop()
      await activations.done()
    },
  })
}

export const followBranch = async (have: Given & HasDataDir & HasGit): Promise<Outcome> => {
  const { gitops, settings, dataDir, log } = have
  await gitops.start()
  if (settings.gitops.url !== '') return ok({ gives: {} })
  const { path } = dataDir
  const gitdir = originPath(resolve(path))
  const socket = openPushSocket({ dataDir: path, gitdir, judge: gitops.judge, log })
  return ok({ gives: {}, stop: socket.close })
}

function createGitops(have: Needs, activations: Activations): GitopsControl {
  const { gitops, health, dataDir } = have.settings
  const control = createGitopsControl({
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
  })
  const tell = createGitopsLog(have.log)
  control.onStatus((status, change) => {
    activations.noteHead(status.head?.commit)
    tell(status, change)
    have.records.commits.statusIs(status)
  })
  control.onPrepare((bundle) => have.node.prepare(bundle))
  control.onPublish((publication) => activations.add(publication))
  return control
}

/** Until the licence was read, nodes are told what they were told before. */
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

/** Bundles on their way to the DNS node, one after the other, and how long a commit took. */
class Activations {
  readonly #node: DnsNode
  readonly #areChecksOff: boolean
  readonly #log: ProcessLog
  readonly #onServed: (commit: string) => void
  readonly #onActive: () => void
  readonly #onStored: () => void
  #last: Promise<void> = Promise.resolve()
  #isUnprobedLogged = false
  /** Newest commit, and when it was seen on the monotonic clock. */
  #head = { commit: '', seenAtMs: 0 }
  /** From the moment the newest commit was seen until all responders used it; null: none yet. */
  seconds: number | null = null

  constructor(
    node: DnsNode,
    areChecksOff: boolean,
    log: ProcessLog,
    onServed: (commit: string) => void,
    onActive: () => void,
    onStored: () => void,
  ) {
    this.#onServed = onServed
    this.#onActive = onActive
    this.#onStored = onStored
    this.#node = node
    this.#areChecksOff = areChecksOff
    this.#log = log
    this.#warnOfUnprobedPools()
  }

  /** Two at once could finish in the wrong order. */
  add(publication: CommitPublication): Promise<void> {
    this.#last = this.#last
      .then(() => this.#activate(publication))
      // A fault of ours, or no memory left: what serves goes on, and so do later publications.
      .catch((error: unknown) => this.#log.error({ err: error }, 'a bundle was not activated'))
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
    const activated = await this.#node.activate(publication)
    if (!activated.ok) return
    assert(this.#node.status().active !== null, 'a node with a bundle answers from one')
    this.#onServed(publication.commit)
    // A renewal of the record is news to nodes that pull.
    this.#onStored()
    if (activated.value === 'unchanged') return
    this.#onActive()
    this.#warnOfUnprobedPools()
    if (publication.commit !== this.#head.commit) return
    this.seconds = (systemClock.monotonicMs() - this.#head.seenAtMs) / 1000
  }

  /** Once per time that such pools come up: a person who has declared checks expects them. */
  #warnOfUnprobedPools(): void {
    const pools = this.#areChecksOff ? this.#node.poolsWithHealthCheck() : 0
    if (pools > 0 && !this.#isUnprobedLogged) {
      this.#log.warn(
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
