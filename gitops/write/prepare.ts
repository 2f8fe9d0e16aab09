// Prepares a commit from a draft in memory: nothing is written before it compiles.
import { isRead } from '#compiler/read/layout.ts'
import type { ParentDs } from '#compiler/lower/name-outline.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { readyForScripts } from '#compiler/scripts/script-syntax.ts'
import { editYaml, printObject } from '#compiler/yaml/edit.ts'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import { lowerBound } from '#lib/sequence/lower-bound.ts'
import type { Result } from '#lib/result.ts'
import { formatCommit, parseCommit } from '#gitops/git/objects/commit-object.ts'
import type { CommitObject } from '#gitops/git/objects/commit-object.ts'
import type { CompiledBundle, CompileFailure, CompilePort } from '#gitops/sync/compile-port.ts'
import { objectIdOf } from '#gitops/git/disk-driver.ts'
import type { GitDriver, StagedObjects } from '#gitops/git/objects/driver.ts'
import type { SshPrivateKey } from '#gitops/trust/openssh-key.ts'
import { makeSshSignature } from '#gitops/trust/sshsig.ts'
import type { AcceptedConfig } from './accepted.ts'
import type { Stages } from './stages.ts'
import { commitText, committer } from '#gitops/message/commit-message.ts'
import type { Draft } from '#config/draft.ts'
import type { HeadDiagnostic } from '#gitops/status/status.ts'
import type { WriteFailure, WriteRequest } from '#config/operation.ts'

export interface Prepared {
  readonly commit: string
  readonly tree: string
  readonly object: CommitObject
  readonly objects: StagedObjects
  readonly changes: ReadonlyMap<string, SourceFile | null>
  readonly compiled: CompiledBundle
}

export interface PrepareParts {
  readonly driver: GitDriver
  readonly compiler: CompilePort
  readonly accepted: AcceptedConfig
  readonly key: SshPrivateKey
  readonly stages: Stages
  /** Diagnostics of the accepted commit. */
  readonly diagnostics: readonly HeadDiagnostic[]
  /** See `GuardMemory`. */
  readonly parentDs?: () => ParentDs
  /** Turns an error of a bug into the failure of the request. */
  readonly onFault: (thrown: unknown) => WriteFailure
}

/**
 * Why there is no commit: the compiler's errors; or a sentence, when the repository cannot be read.
 */
type PrepareFailure = CompileFailure | Unprintable | string

/** A bug: the draft holds an object that cannot be written as YAML. */
interface Unprintable {
  readonly paths: ReadonlySet<string>
  readonly thrown: unknown
}

/** @returns null when the draft changes nothing */
export async function prepareCommit(
  {
    driver,
    compiler,
    accepted,
    key,
    stages,
  }: Omit<PrepareParts, 'onFault' | 'diagnostics' | 'parentDs'>,
  draft: Draft,
  requests: readonly WriteRequest[],
  atSeconds: number,
): Promise<Result<Prepared | null, PrepareFailure>> {
  const changes = changedFiles(draft, accepted)
  if ('thrown' in changes) return err(changes)
  if (changes.size === 0) return ok(null)
  const contents = Array.from(changes, ([path, file]): [string, Uint8Array | null] => [
    path,
    file === null ? null : file.bytes,
  ])
  await readyForScripts([...changes.values()].filter((file) => file !== null))
  const planned = await driver.planFiles(accepted.tree, new Map(contents))
  if (!planned.ok) return err(planned.error.reason)
  const { tree, objects } = planned.value
  const { author, message } = commitText(requests, {
    get: (kind, uid) => accepted.index.get(kind, uid) ?? draft.get(kind, uid),
    part: (kind, uid) => accepted.index.part(kind, uid) ?? draft.part(kind, { uid }),
  })
  const parents = accepted.commit === null ? [] : [accepted.commit]
  const raw = formatCommit(
    {
      tree,
      parents,
      author: { name: author, seconds: atSeconds },
      committer: { name: committer, seconds: atSeconds },
      message,
    },
    (payload) => makeSshSignature(payload, 'git', key),
  )
  const commit = objectIdOf('commit', raw)
  stages.begin('compile')
  const compiled = compiler.compile(accepted.filesWith(changes), commit)
  if (!compiled.ok) return err(compiled)
  const { read } = compiled
  for (const [path, file] of changes) {
    const at = lowerBound(read.length, (i) => read[i]!.path < path)
    const isRight = !isRead(path) || (read[at]?.path === path) === (file !== null)
    assert(isRight, 'the compiler has read what a write changes')
  }
  const object = parseCommit(raw)
  if (!object.ok) return err(`The commit ${object.error}.`)
  assert(object.value.tree === tree, 'a commit reads as it was written')
  assert(object.value.parents[0] === parents[0], 'a write stands on the accepted commit')
  return ok({
    commit,
    tree,
    object: object.value,
    objects: new Map([...objects, [commit, { type: 'commit', content: raw }]]),
    changes,
    compiled,
  })
}

function changedFiles(
  draft: Draft,
  accepted: AcceptedConfig,
): Map<string, SourceFile | null> | Unprintable {
  const files = new Map<string, SourceFile | null>()
  for (const [path, changed] of draft.changes()) {
    if (changed === null) {
      files.set(path, null)
      continue
    }
    const before = accepted.files.get(path)?.read?.text
    let text: string
    try {
      text = before === undefined ? printObject(changed.raw) : editYaml(before, changed.raw)
    } catch (thrown) {
      return { paths: new Set([path]), thrown }
    }
    if (text === before) continue
    const bytes = Buffer.from(text)
    const blobId = objectIdOf('blob', bytes)
    files.set(path, { path, blobId, kind: 'file', sizeBytes: bytes.length, bytes })
  }
  return files
}
