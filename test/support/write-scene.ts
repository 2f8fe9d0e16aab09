// A node's Git side without threads: an origin with a first commit, writes, and what readers see.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import type { RememberingCompiler } from '#gitops/sync/compile-adapter.ts'
import { LiveConfigView } from '#config/view.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { formatPublicKeyLine, privateKeyFromPem } from '#gitops/trust/openssh-key.ts'
import { originPath } from '#gitops/thread/options.ts'
import { ensureOrigin, seedRepository } from '#gitops/source/origin.ts'
import type { CommitEffects } from '#judge/effects/commit-effect.ts'
import { startPipeline } from '#gitops/thread/pipeline.ts'
import type { CommitPublication, ServedPosition } from '#gitops/sync/publication.ts'
import type { Keeping } from '#gitops/sync/kept-commit.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import { unknownStatus } from '#gitops/status/status.ts'
import type { CommitResult, Operation, WriteRequest } from '#config/operation.ts'
import { withUids } from '#config/uids.ts'
import { systemClock } from '#lib/clock.ts'
import type { Clock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { testSeed } from './random.ts'
import { newSigningKey } from './bundle-models.ts'
import { waitUntil } from './wait-until.ts'
import { httpAccess } from './git-http-server.ts'

export const settingsYaml = `# Zones of the tests.
apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - name: example.com.
      nameservers:
        - { name: ns1.example.com., addresses: ["127.0.0.1"] }
      soa: { mname: ns1.example.com., rname: hostmaster.example.com. }
  defaults:
    nameservers:
      - { name: ns1.example.com. }
`

const alice = { name: 'alice', address: 'user-alice@users.gslbd' }

export function newPem(): string {
  return newSigningKey().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A line for `allowed_signers`. */
export function signerLine(principal: string, pem: string): string {
  const key = privateKeyFromPem(pem, principal)
  return `${principal} namespaces="git" ${formatPublicKeyLine(key.publicKey, principal)}\n`
}

export interface SceneOptions {
  readonly dataDir: string
  readonly pem: string
  /** '' for the local origin. */
  readonly url?: string
  readonly allowedSignersPath?: string
  readonly pollMs?: number
  /** Left out: writes have no effect text. */
  readonly effects?: CommitEffects | Promise<CommitEffects>
  /** Default of writes that do not set it; left out: true with `effects`. */
  readonly asksForEffect?: boolean
  /** Left out: the system's. */
  readonly clock?: Clock
  /** Left out: that of a node. */
  readonly compiler?: RememberingCompiler
  /** Left out: the node serves nothing yet. */
  readonly resume?: ServedPosition
  /** Receives messages to the main thread. */
  readonly onTold?: (what: 'publication' | 'config') => void
}

/** An origin in `dataDir` whose first commit the node's key signed; trusts that key. */
export async function seedOrigin(
  { dataDir, pem }: SceneOptions,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  mkdirSync(dataDir, { recursive: true })
  const signers = join(dataDir, 'allowed_signers')
  if (!existsSync(signers)) writeFileSync(signers, signerLine('node@gslbd', pem))
  const gitdir = originPath(dataDir)
  const made = ensureOrigin(gitdir, 'main')
  if (!made.ok) throw new Error(made.error)
  const contents = Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const)
  const seed = {
    branch: 'main',
    files: new Map(contents),
    message: 'first',
    author: { name: 'alice <alice@example.com>', seconds: 1_700_000_000 },
  }
  const seeded = await seedRepository(createDiskDriver(gitdir), seed, privateKeyFromPem(pem, ''))
  if (!seeded.ok) throw new Error(seeded.error)
  return seeded.value
}

export interface WriteScene {
  readonly view: LiveConfigView
  /** Bundles of commits that were being flushed. */
  readonly prepared: Uint8Array[]
  readonly published: CommitPublication[]
  readonly status: () => GitopsStatus
  /** Lines for the log. */
  readonly changes: string[]
  readonly write: (...operations: Operation[]) => Promise<CommitResult>
  readonly send: (more: Partial<WriteRequest>, ...operations: Operation[]) => Promise<CommitResult>
  readonly poke: () => void
  /** Runs the work of a thread that has been quiet for a moment. */
  readonly keep: () => Promise<Keeping>
  readonly stop: () => Promise<void>
}

/** Resolves when the first commit is accepted. */
export async function startWriteScene(options: SceneOptions): Promise<WriteScene> {
  const { dataDir, pem } = options
  const view = new LiveConfigView()
  const prepared: Uint8Array[] = []
  const published: CommitPublication[] = []
  const changes: string[] = []
  let status = unknownStatus
  let lastId = 0
  const { effects, asksForEffect = effects !== undefined } = options
  const random = new Random(testSeed)
  const pipeline = startPipeline({
    options: {
      dataDir,
      url: options.url ?? '',
      access: httpAccess,
      branch: 'main',
      pollMs: options.pollMs ?? 60_000,
      requireSignature: true,
      allowedSignersPath: options.allowedSignersPath ?? join(dataDir, 'allowed_signers'),
      channel: 'main',
      signingKeyPem: pem,
      recordTtlMs: 86_400_000,
      resume: options.resume ?? null,
    },
    compiler: options.compiler ?? createCompilePort(),
    clock: options.clock ?? systemClock,
    random: () => random.next() / 2 ** 32,
    onPrepare: (bundle) => prepared.push(bundle),
    onPublish: (publication) => {
      published.push(publication)
      options.onTold?.('publication')
    },
    onConfig: (news) => {
      view.apply(news)
      options.onTold?.('config')
    },
    onStatus: (next, change) => {
      status = next
      if (change !== '') changes.push(change)
    },
    ...(effects && { effects: () => Promise.resolve(effects) }),
  })
  const send: WriteScene['send'] = (more, ...operations) =>
    new Promise((settle) => {
      const told = { ...(asksForEffect && { effectFor: { tenant: null } }), ...more }
      const request = { requestId: `request-${++lastId}`, actor: alice, operations, ...told }
      pipeline.write({ request: withUids(request, systemClock), settle })
    })
  await waitUntil('the first look', () => status.checkedAtMs > 0, { timeoutMs: 60_000 })
  return {
    view,
    prepared,
    published,
    status: () => status,
    changes,
    write: (...operations) => send({}, ...operations),
    send,
    poke: pipeline.poke,
    keep: pipeline.keep,
    stop: pipeline.stop,
  }
}
