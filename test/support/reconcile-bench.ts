// A reconciler over a real repository, with a compiler that only hashes, and a list of its
// publications.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { SigningKey } from '#bundle/signature/channel.ts'
import type { ParentDs } from '#compiler/lower/name-outline.ts'
import type { CompilePort } from '#gitops/sync/compile-port.ts'
import type { ConfigSource } from '#gitops/source/config-source.ts'
import { createLocalSource } from '#gitops/source/local-source.ts'
import type { Position, CommitPublication } from '#gitops/sync/publication.ts'
import { Publisher } from '#gitops/sync/publisher.ts'
import { Reconciler } from '#gitops/sync/reconcile.ts'
import { loadState, resetCommand } from '#gitops/sync/stored-state.ts'
import type { Stop } from '#gitops/sync/steps.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import { systemClock } from '#lib/clock.ts'
import type { Clock } from '#lib/clock.ts'
import { newSigningKey } from './bundle-models.ts'

export interface BenchOptions {
  readonly gitdir: string
  readonly dataDir: string
  readonly allowedSignersPath: string
  readonly requireSignature?: boolean
  readonly source?: ConfigSource
  readonly resume?: Position | null
  readonly key?: SigningKey
  readonly clock?: Clock
  readonly compiler?: CompilePort
  readonly onPublish?: (publication: CommitPublication) => void
  readonly parentDs?: () => ParentDs
}

export interface Bench {
  readonly published: CommitPublication[]
  /** Lines for the log. */
  readonly changes: string[]
  readonly compiler: HashingCompiler
  readonly check: () => Promise<GitopsStatus>
  /** The verdict that a push of that head gets. */
  readonly judge: (head: string) => Promise<Stop>
}

export function reconcileBench(options: BenchOptions): Bench {
  const statePath = join(options.dataDir, 'gitops', 'state.json')
  const state = loadState(statePath)
  if (!state.ok) throw new Error(state.error)
  const published: CommitPublication[] = []
  const changes: string[] = []
  const clock = options.clock ?? systemClock
  const compiler = new HashingCompiler()
  const reconciler = new Reconciler({
    source: options.source ?? createLocalSource(options.gitdir, 'main'),
    compiler: options.compiler ?? compiler,
    publisher: new Publisher({
      state: state.value,
      statePath,
      resume: options.resume ?? null,
      channel: 'main',
      key: options.key ?? newSigningKey(),
      recordTtlMs: 86_400_000,
      clock,
      handOver: (publication) => {
        options.onPublish?.(publication)
        published.push(publication)
      },
    }),
    clock,
    branch: 'main',
    requireSignature: options.requireSignature ?? true,
    allowedSignersPath: options.allowedSignersPath,
    resetCommand: resetCommand(options.dataDir),
    ...(options.parentDs && { parentDs: options.parentDs }),
    report: (_status, change) => {
      if (change !== '') changes.push(change)
    },
  })
  const check = async (): Promise<GitopsStatus> => {
    await reconciler.check()
    return reconciler.status
  }
  const judge = (head: string): Promise<Stop> =>
    reconciler.judge({ head, incoming: null, attestations: new Map() })
  return { published, changes, compiler, check, judge }
}

/** "Compiles" a tree to a list of its files; a file with the word `broken` is an error. */
export class HashingCompiler implements CompilePort {
  readonly #known = new Set<string>()
  /** Files whose bytes were given, in order. */
  readonly read: string[] = []
  runs = 0

  has = (blobId: string): boolean => this.#known.has(blobId)

  compile: CompilePort['compile'] = (files) => {
    this.runs++
    const broken = []
    for (const { path, blobId, bytes } of files) {
      if (bytes === null) continue
      this.read.push(path)
      if (Buffer.from(bytes).includes('broken')) broken.push(path)
      else this.#known.add(blobId)
    }
    if (broken.length > 0) {
      const diagnostics = broken.map((path) => ({
        severity: 'error' as const,
        code: 'test-broken',
        file: path,
        line: 1,
        column: 1,
        field: '',
        message: 'the file is broken',
        help: 'mend it',
        text: `${path}:1:1: the file is broken`,
      }))
      return { ok: false, diagnostics, total: broken.length, errors: broken.length }
    }
    const list = files.map(({ path, blobId, kind }) => `${path} ${blobId} ${kind}\n`).join('')
    // Room for the signature block that publishing fills.
    const bytes = new Uint8Array(4_096)
    const digest = hash('sha256', list)
    return { ok: true, bytes, digest, read: [], diagnostics: [], total: 0 }
  }
}
