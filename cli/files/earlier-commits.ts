// Finds repairs among the commits of a checkout, as nodes of a remote do.
import { blobsIn } from '#gitops/guard/earlier.ts'
import type { Blobs } from '#gitops/guard/earlier.ts'
import { signersOfRange } from '#gitops/guard/override-signers.ts'
import { Repairs } from '#gitops/guard/repair.ts'
import type { RepairParts } from '#gitops/guard/repair.ts'
import type { AllowedSigner } from '#gitops/trust/allowed-signers.ts'
import { isRead } from '#compiler/read/layout.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { GitPlace } from '#gitops/checkout/git-tree.ts'
import { attestedIn } from './signatures.ts'

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
