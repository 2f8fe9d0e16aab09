// A remote as the source of commits, through a local bare mirror that can be rebuilt.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { attestationRefPrefix } from '#gitops/trust/attestation.ts'
import type { ConfigSource, Push, PushFailure, SourceError } from './config-source.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { diskError } from './disk-error.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import { RemoteError } from './git-program.ts'
import { createGitTransport } from './git-transport.ts'
import type { GitTransport, Remote } from './git-transport.ts'
import { gitLimits } from '#gitops/limits.ts'
import { makeBareRepository } from './origin.ts'
import { packCount } from '#gitops/git/objects/pack-set.ts'

interface RemoteOptions extends Remote {
  readonly branch: string
  /** Folder of the mirror, which belongs to this source alone. */
  readonly gitdir: string
}

/** git's message when somebody else is moving the branch at that moment. */
const lockedReason = /failed to update ref|\block\b/

export function createRemoteSource(options: RemoteOptions): ConfigSource {
  return new RemoteSource(options)
}

class RemoteSource implements ConfigSource {
  readonly name: string
  readonly isLocal = false
  readonly repairAdvice = 'The mirror is fetched anew by itself.'
  readonly #options: RemoteOptions
  readonly #transport: GitTransport
  readonly #headRef: string
  #mirror: GitDriver

  constructor(options: RemoteOptions) {
    this.#options = options
    this.name = options.url
    this.#headRef = `refs/heads/${options.branch}`
    this.#transport = createGitTransport(options)
    this.#mirror = openMirror(options.gitdir)
  }

  get driver(): GitDriver {
    return this.#mirror
  }

  async head(): Promise<Result<string | null, SourceError>> {
    const refs = await this.#list(this.#headRef)
    return refs.ok ? ok(refs.value.get(this.#headRef) ?? null) : refs
  }

  async attestations(): Promise<Result<ReadonlyMap<string, string>, SourceError>> {
    const refs = await this.#list(attestationRefPrefix)
    if (!refs.ok) return refs
    const found = new Map<string, string>()
    for (const [ref, oid] of refs.value) {
      if (!ref.startsWith(attestationRefPrefix)) continue
      if (found.size === gitLimits.attestationRefsMax) break
      found.set(ref.slice(attestationRefPrefix.length), oid)
    }
    return ok(found)
  }

  async fetch(head: string): Promise<Result<void, SourceError>> {
    if (packCount(this.#options.gitdir) >= gitLimits.mirrorPacksMax) this.discard()
    if ((await this.#mirror.readCommit(head)).ok) return ok(undefined)
    const fetched = await this.#fetchRef(this.#headRef)
    // The fetched objects build on objects that the mirror has lost: it is made anew.
    if (!fetched.ok && fetched.error.code === 'Unreadable') {
      // If the disk refuses that as well, the first reason is the one to report.
      await this.#ask(async () => this.discard())
    }
    return fetched
  }

  async push(push: Push): Promise<Result<void, PushFailure>> {
    const { expected, commit } = push
    // Asked first: a remote that cannot be reached was not changed, and a push that is too late
    // sends nothing.
    const before = await this.head()
    if (!before.ok) return err({ kind: 'refused', reason: before.error.reason })
    if (before.value !== expected) return err({ kind: 'lost-race' })
    const sent = await this.#ask(() => this.#transport.push(this.#mirror, this.#headRef, push))
    if (!sent.ok && sent.error.code === 'Unauthorized') {
      const reason = `${sent.error.reason} To write, the account needs the right to push.`
      return err({ kind: 'refused', reason })
    }
    if (!sent.ok) {
      // The answer was lost, so the branch may have moved.
      const head = await this.head()
      if (!head.ok) return err({ kind: 'unknown', error: sent.error })
      if (head.value !== commit) {
        return err(
          head.value === expected ? { kind: 'unknown', error: sent.error } : { kind: 'lost-race' },
        )
      }
    } else if (sent.value !== '') {
      const isElsewhere = await this.#isMoving(expected, sent.value)
      return err(isElsewhere ? { kind: 'lost-race' } : { kind: 'refused', reason: sent.value })
    }
    await this.#keep(push)
    return ok(undefined)
  }

  /** Looks several times: the push that holds the lock of the branch may not have moved it yet. */
  async #isMoving(expected: string | null, reason: string): Promise<boolean> {
    const pausesMs = lockedReason.test(reason) ? gitLimits.remoteLockPausesMs : []
    for (const pauseMs of [0, ...pausesMs]) {
      await sleep(pauseMs)
      const head = await this.head()
      if (!head.ok || head.value !== expected) return head.ok
    }
    return false
  }

  /** Stores the pushed objects in the mirror as well, so that the next fetch need not. */
  async #keep({ commit, objects }: Push): Promise<void> {
    const seen = join(this.#options.gitdir, `refs/remotes/origin/${this.#options.branch}`)
    try {
      await this.#mirror.writeObjects(objects)
      mkdirSync(dirname(seen), { recursive: true })
      writeFileSync(seen, `${commit}\n`)
    } catch {
      return
    }
  }

  /** The objects of a push are at the remote; the next look finds out about the mirror. */
  async checkPush(): Promise<Result<void, SourceError>> {
    return ok(undefined)
  }

  inspect(): Result<void, SourceError> {
    return ok(undefined)
  }

  async readAttestation(
    commit: string,
    blob: string,
  ): Promise<Result<Uint8Array | null, SourceError>> {
    const read = () => this.#mirror.readBlob(blob, gitLimits.attestationBytesMax)
    let bytes = await read()
    if (!bytes.ok && bytes.error.kind !== 'oversized') {
      const fetched = await this.#fetchRef(attestationRefPrefix + commit)
      if (!fetched.ok) return fetched
      bytes = await read()
    }
    if (!bytes.ok && bytes.error.kind === 'oversized') return ok(null)
    return bytes.ok ? bytes : err({ code: 'Unreadable', reason: bytes.error.reason })
  }

  discard(): void {
    removeMirror(this.#options.gitdir)
    this.#mirror = openMirror(this.#options.gitdir)
  }

  async #list(prefix: string): Promise<Result<ReadonlyMap<string, string>, SourceError>> {
    return this.#ask(() => this.#transport.list(prefix))
  }

  async #fetchRef(ref: string): Promise<Result<void, SourceError>> {
    return this.#ask(() => this.#transport.fetch(this.#options.gitdir, ref))
  }

  async #ask<T>(question: () => Promise<T>): Promise<Result<T, SourceError>> {
    try {
      return ok(await question())
    } catch (error) {
      const { code, reason } = sourceErrorOf(error, this.name)
      return err({ code, reason })
    }
  }
}

function sourceErrorOf(error: unknown, name: string): SourceError {
  if (error instanceof RemoteError) return error
  // A fetch fails with this error when the mirror cannot be written.
  const refusal = diskError(error)
  if (refusal !== undefined) return refusal
  return { code: 'Unreadable', reason: `${name} could not be read: ${(error as Error).message}` }
}

function openMirror(gitdir: string): GitDriver {
  if (!existsSync(join(gitdir, 'HEAD'))) {
    removeMirror(gitdir)
    makeBareRepository(gitdir, 'main')
  }
  return createDiskDriver(gitdir)
}

/** Removes the mirror. Tries again where a git that packs makes a file meanwhile. */
function removeMirror(gitdir: string): void {
  rmSync(gitdir, { recursive: true, force: true, maxRetries: 5 })
}
