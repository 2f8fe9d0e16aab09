// Makes signed commits as git does, without starting it: 1 ms instead of 30.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { objectIdOf } from '#gitops/git/disk-driver.ts'
import type { ObjectType } from '#gitops/git/disk-driver.ts'
import { formatCommit, parseCommit } from '#gitops/git/objects/commit-object.ts'
import type { CommitDraft } from '#gitops/git/objects/commit-object.ts'
import { loosePath, ObjectStore } from '#gitops/git/objects/object-store.ts'
import { formatTree } from '#gitops/git/objects/tree-object.ts'
import { parsePrivateKey } from '#gitops/trust/openssh-key.ts'
import { makeSshSignature } from '#gitops/trust/sshsig.ts'

export interface QuickCommit {
  /** By path; null: those of the commit before. */
  readonly files: Readonly<Record<string, string>> | null
  readonly message: string
  readonly committer?: string
  readonly committedMs?: number
  readonly isSigned?: boolean
}

const author = 'Alice <alice@example.com>'

/** @param keyPath of the private key that signs */
export function quickCommits(gitdir: string, keyPath: string): (commit: QuickCommit) => string {
  const key = parsePrivateKey(readFileSync(keyPath, 'utf8'))
  if (!key.ok) throw new Error(key.error)
  const objects = new ObjectStore(gitdir)
  const store = (type: ObjectType, content: Uint8Array): string => {
    const oid = objectIdOf(type, content)
    const path = loosePath(gitdir, oid)
    if (existsSync(path)) return oid
    mkdirSync(dirname(path), { recursive: true })
    const head = Buffer.from(`${type} ${content.length}\0`)
    writeFileSync(path, deflateSync(Buffer.concat([head, content])))
    return oid
  }
  const treeOf = (files: readonly (readonly [path: string, text: string])[]): string => {
    const entries = Object.entries(Object.groupBy(files, ([path]) => path.split('/', 1)[0]!))
    return store(
      'tree',
      formatTree(
        entries.map(([name, below = []]) => {
          const [[path, text]] = below as [readonly [string, string]]
          if (path === name) return { mode: '100644', name, oid: store('blob', Buffer.from(text)) }
          const inside = below.map(([one, its]) => [one.slice(name.length + 1), its] as const)
          return { mode: '40000', name, oid: treeOf(inside) }
        }),
      ),
    )
  }
  return ({ files, message, committer = author, committedMs = Date.now(), isSigned = true }) => {
    const head = readFileSync(join(gitdir, 'HEAD'), 'utf8')
    const ref = join(gitdir, head.slice('ref: '.length).trim())
    const parents = existsSync(ref) ? [readFileSync(ref, 'utf8').trim()] : []
    const above = parents.map((parent) => parseCommit(objects.read(parent)!.content))[0]
    const kept = above?.ok === true ? above.value.tree : treeOf([])
    const draft: CommitDraft = {
      tree: files === null ? kept : treeOf(Object.entries(files)),
      parents,
      author: { name: author, seconds: Math.floor(Date.now() / 1_000) },
      committer: { name: committer, seconds: Math.floor(committedMs / 1_000) },
      message,
    }
    const signature = (payload: Buffer): string =>
      isSigned ? makeSshSignature(payload, 'git', key.value) : ''
    const commit = store('commit', formatCommit(draft, signature))
    writeFileSync(ref, `${commit}\n`)
    return commit
  }
}
