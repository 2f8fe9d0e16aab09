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
import { explain, RemoteError } from './http-client.ts'
import type { HttpLimits } from './http-client.ts'
import { gitLimits } from '#gitops/limits.ts'
import { makeBareRepository } from './origin.ts'
import { createHttpTransport } from './http-transport.ts'
import { packCount } from '#gitops/git/objects/pack-set.ts'
import type { RemoteTransport } from './remote-transport.ts'
import { createSshTransport } from './ssh-transport.ts'
import type { SshAccess } from './ssh-transport.ts'

export interface RemoteOptions {
  /** Without credentials. */
  readonly url: string
  /** Value of the Authorization header, or ''. */
  readonly authorization: string
  /** For an address of SSH; without it, HTTP is spoken. */
  readonly ssh?: SshAccess
  readonly branch: string
  /** Where the mirror lives; owned by this source alone. */
  readonly gitdir: string
  readonly limits: HttpLimits
  readonly stop: AbortSignal
}

/** What Git says of a branch that somebody else is moving at that moment. */
const lockedReason = /failed to update ref|\block\b/

export function createRemoteSource(options: RemoteOptions): ConfigSource {
  const { ssh, ...http } = options
  const { url, limits, stop } = options
  const transport =
    ssh === undefined
      ? createHttpTransport(http)
      : createSshTransport({ url, access: ssh, limits, stop })
  return new RemoteSource(options, transport)
}

class RemoteSource implements ConfigSource {
  readonly name: string
  readonly isLocal = false
  readonly repairAdvice = 'The mirror is fetched anew by itself.'
  readonly #options: RemoteOptions
  readonly #transport: RemoteTransport
  readonly #headRef: string
  #mirror: GitDriver

  constructor(options: RemoteOptions, transport: RemoteTransport) {
    this.#options = options
    this.name = options.url
    this.#headRef = `refs/heads/${options.branch}`
    this.#transport = transport
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
    const { branch } = this.#options
    // Only the local branch is announced as had: put it where the remote was last seen, or a branch
    // that went another way would make every fetch carry the whole history.
    const seen = this.#mirror.readRef(`refs/remotes/origin/${branch}`)
    if (seen !== null) {
      const path = join(this.#options.gitdir, this.#headRef)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, `${seen}\n`)
    }
    const fetched = await this.#fetchRef(this.#headRef)
    // What the remote sent builds on objects that the mirror should have.
    if (!fetched.ok && fetched.error.code === 'Unreadable') this.discard()
    return fetched
  }

  async push(push: Push): Promise<Result<void, PushFailure>> {
    const { expected, commit } = push
    // Looked at first: what cannot be reached was not changed, and a late push sends nothing.
    const before = await this.head()
    if (!before.ok) return err({ kind: 'refused', reason: before.error.reason })
    if (before.value !== expected) return err({ kind: 'lost-race' })
    const sent = await this.#ask(() => this.#transport.push(this.#mirror, this.#headRef, push))
    if (!sent.ok && sent.error.code === 'Unauthorized') {
      const reason = `${sent.error.reason} To write, the account needs the right to push.`
      return err({ kind: 'refused', reason })
    }
    if (!sent.ok) {
      // The answer was lost; the branch may have moved.
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

  /** Looks more than once: the push that holds the branch's lock may not have moved it yet. */
  async #isMoving(expected: string | null, reason: string): Promise<boolean> {
    const pausesMs = lockedReason.test(reason) ? gitLimits.remoteLockPausesMs : []
    for (const pauseMs of [0, ...pausesMs]) {
      await sleep(pauseMs)
      const head = await this.head()
      if (!head.ok || head.value !== expected) return head.ok
    }
    return false
  }

  /** So that the next fetch need not bring them. A mirror that cannot keep them is fetched anew. */
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

  /** What a push needs is at the remote; of the mirror the next look tells. */
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
  // A fetch fails with it when the mirror cannot be written.
  const refusal = diskError(error)
  if (refusal !== undefined) return refusal
  const { code, message } = error as { code?: string; message: string }
  if (code === 'SmartHttpError' || code === 'ParseError') {
    return {
      code: 'NotGit',
      reason:
        `${name} does not answer as a Git server does. Check gitops.url: it may be a web ` +
        'page, or need a login.',
    }
  }
  if (code === 'NotFoundError') {
    return { code: 'Unreadable', reason: `${name} changed while it was read: ${message}` }
  }
  if (typeof code === 'string' && /^[A-Z][a-z]/.test(code)) {
    return { code: 'Unreadable', reason: `${name} could not be read: ${message}` }
  }
  return explain(error, name)
}

/**
 * The refspec is fixed: whatever the remote says, only its branches are written, under
 * refs/remotes.
 */
function openMirror(gitdir: string): GitDriver {
  if (!existsSync(join(gitdir, 'HEAD'))) {
    removeMirror(gitdir)
    makeBareRepository(gitdir, 'main')
    const remote = '[remote "origin"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    writeFileSync(
      join(gitdir, 'config'),
      `[core]\n\trepositoryformatversion = 0\n\tbare = true\n${remote}`,
    )
  }
  return createDiskDriver(gitdir)
}

/** Tries again where git, packing, makes a file meanwhile. */
function removeMirror(gitdir: string): void {
  rmSync(gitdir, { recursive: true, force: true, maxRetries: 5 })
}
