// Defines the options of the Git side, and opens the source of commits that they describe.
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
  /** Address of the remote; '': the local bare repository `dataDir/config.git`. */
  readonly url: string
  readonly branch: string
  /** Pause between two looks at a remote. */
  readonly pollMs: number
  readonly requireSignature: boolean
  readonly allowedSignersPath: string
  /** Keys and programs to reach a remote. */
  readonly access?: GitAccess
  /** For an HTTP remote: `user:password` or a token. */
  readonly authToken?: string
  /** Name of the channel in its records. */
  readonly channel: string
  /** Ed25519 in PKCS #8: signs bundles and records. */
  readonly signingKeyPem: string
  readonly recordTtlMs: number
  /** How many probe agents nodes accept, until another number is set; left out: all. */
  readonly agentsMax?: number
  /** Heap of the compiling thread; left out: what suits the memory of the container. */
  readonly heapMb?: number
  /** Health checks that this node permits; left out: none that need a permission. */
  readonly checkPolicy?: HealthCheckPolicy
  /** How answers are judged; left out: no test runs, no client counts, no effect is shown. */
  readonly judging?: Judging
  /** The bundle that the node activated last. */
  readonly resume: ServedPosition | null
}

export interface Judging {
  readonly databases: GeoPaths
  /** True when databases locate clients; see `GitopsControl.giveDatabases`. */
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
