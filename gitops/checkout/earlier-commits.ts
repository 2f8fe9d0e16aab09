// Compiles commits of a checkout for the guardrails, and finds repairs among them, as nodes do.
import { blobsIn } from '#gitops/guard/earlier.ts'
import type { Blobs } from '#gitops/guard/earlier.ts'
import { signersOfRange } from '#gitops/guard/override-signers.ts'
import { Repairs } from '#gitops/guard/repair.ts'
import type { RepairParts } from '#gitops/guard/repair.ts'
import type { AllowedSigner } from '#gitops/trust/allowed-signers.ts'
import { isRead } from '#compiler/read/layout.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { Compiler, CompileSuccess } from '#compiler/compile.ts'
import { withMoves } from '#compiler/lower/name-outline.ts'
import type { MovedBetween, NameOutline } from '#compiler/lower/name-outline.ts'
import { filesOfCommit } from './git-tree.ts'
import type { GitPlace } from './git-tree.ts'
import { attestedIn } from './signatures.ts'

/** Compiles a commit; undefined: it cannot be read, or has errors. */
export function outlinesOf(
  place: GitPlace,
  compiler: Compiler,
  movedBetween: MovedBetween,
): RepairParts['outlineOf'] {
  return async (commit) => {
    const files = await filesOfCommit(place, commit)
    const result = files.ok ? compiler.compile(files.value, { commit: '' }) : undefined
    return result?.ok === true ? outlineIn(result, movedBetween) : undefined
  }
}

/** The outline, with a copy of the bundle: the compiler reuses its memory. */
export function outlineIn(
  { outline, bundle }: Pick<CompileSuccess, 'outline' | 'bundle'>,
  movedBetween: MovedBetween,
): NameOutline {
  return withMoves(outline(), Uint8Array.from(bundle.bytes), movedBetween)
}

/** @param signers null: every commit is believed */
export function repairsIn(
  place: GitPlace,
  outlineOf: RepairParts['outlineOf'],
  signers: readonly AllowedSigner[] | null,
): Repairs {
  return new Repairs({
    graph: place.graph,
    outlineOf,
    blobsOf: (tree) => blobsIn(place.driver, tree, place.place),
    signersOfRange: async (from, to) => {
      const found = await signersOfRange(attestedIn(place), from, to, signers)
      return found.ok ? found.value : undefined
    },
  })
}

export function blobsOfFiles(files: readonly SourceFile[]): Blobs {
  const own = files.filter(({ kind, path }) => kind === 'file' && isRead(path))
  return new Map(own.map(({ path, blobId }) => [path, blobId]))
}
