// The options of the Git side, and the source of commits that they describe.
import { join } from 'node:path'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import type { GeoPaths } from '#judge/simulate/tables.ts'
import { err, ok } from '#lib/result.ts'
import type { Err, Result } from '#lib/result.ts'
import type { ConfigSource, SourceError } from '#gitops/source/config-source.ts'
import { defaultRemoteLimits } from '#gitops/source/git-program.ts'
import { createLocalSource } from '#gitops/source/local-source.ts'
import { ensureOrigin, findGitdir } from '#gitops/source/origin.ts'
import type { ServedPosition } from '#gitops/sync/publication.ts'
import { isBranchName, releaseDeadLocks } from '#gitops/git/refs.ts'
import { createRemoteSource } from '#gitops/source/remote-source.ts'
import { parseRemoteUrl } from '#gitops/source/remote-url.ts'
import type { GitAccess } from '#gitops/source/git-transport.ts'

export interface GitopsOptions {
  readonly dataDir: string
  /** '': the local bare repository `dataDir/config.git`. */
  readonly url: string
  readonly branch: string
  /** Between two looks at a remote. */
  readonly pollMs: number
  readonly requireSignature: boolean
  readonly allowedSignersPath: string
  /** For a remote. */
  readonly access?: GitAccess
  /** For an HTTP remote: `user:password` or a token. */
  readonly authToken?: string
  /** Name in the channel record. */
  readonly channel: string
  /** Ed25519, PKCS #8: signs bundles and records. */
  readonly signingKeyPem: string
  readonly recordTtlMs: number
  /** Probe agents that nodes may hear, until another number is said; left out: all. */
  readonly agentsMax?: number
  /** Heap of the thread that compiles; left out, what suits the memory of the container. */
  readonly heapMb?: number
  /** What health checks may do here; without it nothing that a node has to allow. */
  readonly checkPolicy?: HealthCheckPolicy
  /** How answers are judged; left out, no test is asked, no client counted, no effect told. */
  readonly judging?: Judging
  /** What the node activated last. */
  readonly resume: ServedPosition | null
}

export interface Judging {
  readonly databases: GeoPaths
  /** Whether there are databases that tell where clients are, see `GitopsControl.giveDatabases`. */
  readonly hasDatabases: boolean
}

export interface OpenSource {
  readonly source: ConfigSource
  /** A repository on this machine; null for a remote. */
  readonly localGitdir: string | null
}

export const originPath = (dataDir: string): string => join(dataDir, 'config.git')
export const mirrorPath = (dataDir: string): string => join(dataDir, 'gitops', 'mirror.git')
export const trialsPathOf = (dataDir: string): string => join(dataDir, 'gitops', 'trials.json')
export const keptPathOf = (dataDir: string): string => join(dataDir, 'gitops', 'kept')
export const statePathOf = (dataDir: string): string => join(dataDir, 'gitops', 'state.json')

/** Errors: `BadUrl` for a setting, `Unreadable` for a repository on this machine. */
export function openSource(
  options: GitopsOptions,
  stop: AbortSignal,
): Result<OpenSource, SourceError> {
  const { dataDir, branch } = options
  if (!isBranchName(branch))
    return err({ code: 'BadUrl', reason: `gitops.branch: "${branch}" is no name of a branch.` })
  if (options.url === '') {
    const gitdir = originPath(dataDir)
    const origin = ensureOrigin(gitdir, branch)
    return origin.ok ? local(gitdir, branch) : unreadable(origin.error)
  }
  const remote = parseRemoteUrl(options.url, options.authToken ?? '')
  if (!remote.ok) return err({ code: 'BadUrl', reason: remote.error })
  if (remote.value.kind === 'path') {
    const gitdir = findGitdir(remote.value.path)
    return gitdir.ok ? local(gitdir.value, branch) : unreadable(gitdir.error)
  }
  const { url } = remote.value
  const { access } = options
  if (access === undefined) return err({ code: 'BadUrl', reason: `${url} needs git and a key.` })
  const credentials = remote.value.kind === 'http' ? remote.value.credentials : ''
  const shared = { branch, gitdir: mirrorPath(dataDir), limits: defaultRemoteLimits, stop }
  const source = createRemoteSource({ ...shared, url, credentials, access })
  return ok({ source, localGitdir: null })
}

function local(gitdir: string, branch: string): Result<OpenSource, SourceError> {
  releaseDeadLocks(gitdir, [`refs/heads/${branch}`])
  return ok({ source: createLocalSource(gitdir, branch), localGitdir: gitdir })
}

const unreadable = (reason: string): Err<SourceError> => err({ code: 'Unreadable', reason })
