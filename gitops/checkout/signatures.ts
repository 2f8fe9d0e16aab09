// Verifies the commits of a checkout as a node does: by signatures and attestations.
import { commitsToVerify, verifyCommits } from '#gitops/trust/accept.ts'
import type { AcceptParts, Hold, Verified } from '#gitops/trust/accept.ts'
import type { AllowedSigner } from '#gitops/trust/allowed-signers.ts'
import { attestationRefPrefix } from '#gitops/trust/attestation.ts'
import { gitLimits } from '#gitops/limits.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { GitPlace } from './git-tree.ts'

/** @param base 40 hex digits, as is `head`, which must descend from it */
export async function verifyBetween(
  { driver, graph }: Pick<GitPlace, 'driver' | 'graph'>,
  base: string,
  head: string,
  signers: readonly AllowedSigner[],
): Promise<Result<Verified, Hold>> {
  const commits = await commitsToVerify(graph, base, head, 'gslbd trust reset')
  if (!commits.ok) return commits
  return await verifyCommits(commits.value, base, signers, attestedIn({ driver, graph }))
}

/** Uses the attestations in the checkout. */
export function attestedIn({ driver, graph }: Pick<GitPlace, 'driver' | 'graph'>): AcceptParts {
  const attestations = driver.listRefs(attestationRefPrefix)
  return {
    graph,
    driver,
    attestation: async (commit) => {
      const blob = attestations.get(commit)
      if (blob === undefined) return ok(null)
      const bytes = await driver.readBlob(blob, gitLimits.attestationBytesMax)
      return bytes.ok ? bytes : err(bytes.error.reason)
    },
  }
}
