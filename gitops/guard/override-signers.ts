// Finds out who signed commits that are already in the history, and which signers may override.
import { claimedByNodes, signersAmong } from '#gitops/trust/accept.ts'
import type { AcceptParts, Hold } from '#gitops/trust/accept.ts'
import type { AllowedSigner } from '#gitops/trust/allowed-signers.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { SignedRange } from './answered.ts'

/**
 * Checks signatures against the list of now: a commit whose key has been removed since is not known
 * to be of the API, and cannot override.
 *
 * @param signers null: no signature is required, and all commits are believed
 */
export async function signersOfRange(
  parts: AcceptParts,
  from: string,
  to: string,
  signers: readonly AllowedSigner[] | null,
): Promise<Result<SignedRange | undefined, Hold>> {
  const found = await parts.graph.newCommits(from, to)
  if (!found.ok || !found.value.descends) return ok(undefined)
  const { commits } = found.value
  if (signers === null) {
    const byNodes = await claimedByNodes(parts.graph, commits)
    return ok({ commits, signatures: { byNodes, overriding: null } })
  }
  const signatures = await signersAmong(commits, signers, parts)
  return signatures.ok ? ok({ commits, signatures: signatures.value }) : signatures
}
