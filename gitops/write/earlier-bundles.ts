// Compiles, one by one, the earlier commits that a write may go back to.
import { isRead } from '#compiler/read/layout.ts'
import { fileBytesMax } from '#compiler/read/source.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { readyForScripts } from '#compiler/scripts/script-syntax.ts'
import type { CommitBundle } from '#judge/effects/commit-effect.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import { blobsIn, candidatesFor } from '#gitops/guard/earlier.ts'
import type { Blobs, EarlierStates } from '#gitops/guard/earlier.ts'
import type { CompilePort } from '#gitops/sync/compile-port.ts'
import type { AcceptedConfig } from './accepted.ts'

/** A bundle that answered before, until another took its place. */
interface EarlierBundle extends CommitBundle {
  readonly commit: string
}

interface EarlierBundlesParts {
  readonly driver: GitDriver
  readonly compiler: CompilePort
  readonly accepted: AcceptedConfig
  readonly earlier: EarlierStates
}

/**
 * Compiles earlier commits, newest first. One that cannot be read, or now has errors, is left out.
 * The compiler has then compiled another commit than the accepted one, as after each dry run: the
 * next compilation takes longer, and is as right.
 *
 * @param changed paths of the files that the write changes
 */
export async function* earlierBundles(
  { driver, compiler, accepted, earlier }: EarlierBundlesParts,
  changed: Iterable<string>,
): AsyncGenerator<EarlierBundle> {
  const now = new Map<string, string>()
  for (const [path, { blobId }] of accepted.files) if (isRead(path)) now.set(path, blobId)
  const blobsOf = (tree: string): Promise<Blobs | undefined> => blobsIn(driver, tree)
  const states = await candidatesFor(earlier, now, [...changed].filter(isRead), blobsOf)
  for (const { commit, tree } of states.toReversed()) {
    const changes = await changesTo(tree, now, driver)
    if (changes === undefined) continue
    const compiled = compiler.compile(accepted.filesWith(changes), commit)
    // A copy, since the compiler reuses its memory.
    if (!compiled.ok) continue
    yield { commit, bytes: Uint8Array.from(compiled.bytes), digest: compiled.digest }
  }
}

/**
 * Returns the changes of these files from the accepted commit; null: absent. undefined: a file is
 * unreadable.
 */
async function changesTo(
  tree: string,
  now: Blobs,
  driver: GitDriver,
): Promise<ReadonlyMap<string, SourceFile | null> | undefined> {
  const listed = await blobsIn(driver, tree)
  if (listed === undefined) return undefined
  const changes = new Map<string, SourceFile | null>([...now.keys()].map((path) => [path, null]))
  for (const [path, blobId] of listed) {
    if (now.get(path) === blobId) {
      changes.delete(path)
      continue
    }
    const bytes = await driver.readBlob(blobId, fileBytesMax)
    if (!bytes.ok) return undefined
    const { length: sizeBytes } = bytes.value
    changes.set(path, { path, blobId, kind: 'file', sizeBytes, bytes: bytes.value })
  }
  await readyForScripts([...changes.values()].filter((file) => file !== null))
  return changes
}
