// A repository, and nodes with guardrails that serve it, as their own and as a remote.
import { readFileSync, writeFileSync } from 'node:fs'
import { createMovedBetween } from '#judge/effects/moved-between.ts'
import { createLocalSource } from '#gitops/source/local-source.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { systemClock } from '#lib/clock.ts'
import type { Clock } from '#lib/clock.ts'
import { gitSandbox } from './git-sandbox.ts'
import { quickCommits } from './quick-commits.ts'
import type { QuickCommit } from './quick-commits.ts'
import { reconcileBench } from './reconcile-bench.ts'

const head = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec:\n`

export type Pools = Readonly<Record<string, readonly number[]>>

/** One service for each pool of a tenant; members by their last octet. */
export function filesOf(
  tenants: Readonly<Record<string, Pools>>,
  limits = '',
): Record<string, string> {
  const files: Record<string, string> = {
    'gslb.yaml':
      `${head('Settings', 'settings')}  zones: [{ name: example.com. }]\n` +
      '  defaults: { nameservers: [{ name: ns1.example.org. }] }\n' +
      (limits === '' ? '' : `  guardrails: { ${limits} }\n`),
  }
  for (const [tenant, pools] of Object.entries(tenants)) {
    for (const [name, octets] of Object.entries(pools)) {
      const rows = octets.map((n) => `    - { name: m${n}, ipAddress: 192.0.2.${n}, port: 80 }\n`)
      files[`tenants/${tenant}/pools/${name}.yaml`] =
        `${head('Pool', name)}  members:${rows.length === 0 ? ' []\n' : `\n${rows.join('')}`}`
      files[`tenants/${tenant}/services/${name}.yaml`] =
        `${head('Service', name)}  { domain: ${name}.example.com., pool: ${name}, ttl: 60 }\n`
    }
  }
  return files
}

type Change = [files: Record<string, string>, ...message: string[]]

const movedBetween = createMovedBetween({})

/** A repository and a node that serves it. */
export function guardedNode(clock: Clock = systemClock, requireSignature = true) {
  const box = gitSandbox()
  const alice = box.sshKey('alice')
  /** Sets the namespaces of alice's key. */
  const permit = (namespaces: string): void => {
    const who = `alice@example.com namespaces="${namespaces}"`
    box.write('allowed_signers', `${who} ${alice.publicLine}\n`)
  }
  permit('*')
  const repo = box.at('repo')
  box.git(box.path, 'init', '-q', '-b', 'main', repo)
  const started = () =>
    reconcileBench({
      gitdir: box.at('repo/.git'),
      dataDir: box.at('data'),
      allowedSignersPath: box.at('allowed_signers'),
      compiler: createCompilePort(undefined, null, movedBetween),
      clock,
      requireSignature,
    })
  let bench = started()
  const quickCommit = quickCommits(box.at('repo/.git'), alice.path)
  /** Whether the working tree is that of an earlier commit. */
  let isBehind = false
  const commitAs = (
    by: Partial<QuickCommit>,
    files: Record<string, string>,
    ...message: readonly string[]
  ): string => {
    isBehind = true
    const draft = { files: files === asItWas ? null : files, ...by }
    return quickCommit({ ...draft, message: ['a change', ...message].join('\n\n') })
  }
  const commit = (...change: Change): string => commitAs({}, ...change)
  const git = (...args: readonly string[]) => {
    if (isBehind) isBehind = box.git(repo, 'reset', '-q', '--hard') !== ''
    return box.git(repo, ...box.signWith(alice), ...args)
  }
  const look = async () => {
    const { sync, code, note, reason, accepted } = await bench.check()
    return { sync, code, note, reason, commit: accepted?.commit ?? '', changes: bench.changes }
  }
  /** Commits, pushes, and looks. */
  const push = async (...change: Change) => {
    commit(...change)
    return await look()
  }
  /** Without required signatures, `node@gslbd` is trusted. */
  const byApi = async (...change: Change) => {
    commitAs({ committer: 'gslbd <node@gslbd>', isSigned: false }, ...change)
    return (await bench.check()).sync
  }
  /** Makes a commit with a committer date that long ago. */
  const commitOf = (agoMs: number, ...change: Change) =>
    commitAs({ committedMs: Date.now() - agoMs }, ...change)
  const restart = (): void => void (bench = started())
  const upgrade = (): void => asOfOldRelease(box.at('data/gitops/state.json'))
  /** Another node, with the same repository as its remote. */
  const beside = (dataDir: string, itsClock: Clock) =>
    reconcileBench({
      source: { ...createLocalSource(box.at('repo/.git'), 'main'), isLocal: false },
      gitdir: box.at('repo/.git'),
      dataDir: box.at(dataDir),
      allowedSignersPath: box.at('allowed_signers'),
      compiler: createCompilePort(undefined, null, movedBetween),
      clock: itsClock,
      requireSignature,
    })
  return { push, commit, commitOf, beside, byApi, restart, upgrade, permit, git, look }
}

/** Rewrites the state as an earlier release left it. */
function asOfOldRelease(path: string): void {
  const state = JSON.parse(readFileSync(path, 'utf8')) as object
  writeFileSync(path, JSON.stringify({ ...state, tree: undefined, earlier: undefined }))
}

export const day = 86_400_000
export const handClock = (atMs: number) => ({ nowMs: () => atMs, monotonicMs: () => 0 })
export const asItWas: Record<string, string> = {}
export const meant = 'Gslb-Override: a new shop'
export const backTo = (commit: string) => `Gslb-Back: ${commit}`
export const few = { web: [1, 2, 3, 4], shop: [5] }
export const before = filesOf({ default: few }, 'movedClients: 50')
export const moved = filesOf({ default: { ...few, shop: [6] } }, 'movedClients: 50')
