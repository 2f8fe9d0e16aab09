// Tells who signed commits that are already in the history, and who of them may override.
import { saidOfNodes, signersAmong } from '#gitops/trust/accept.ts'
import type { AcceptParts, Hold } from '#gitops/trust/accept.ts'
import type { AllowedSigner } from '#gitops/trust/allowed-signers.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RangeSigners } from './answered.ts'

/**
 * A commit whose key has been taken off the list since then proves neither: it is not known to be
 * of the API, and cannot override.
 *
 * @param signers null: nobody has to sign, and all are believed
 */
export async function signersOfRange(
  parts: AcceptParts,
  from: string,
  to: string,
  signers: readonly AllowedSigner[] | null,
): Promise<Result<RangeSigners | undefined, Hold>> {
  const found = await parts.graph.newCommits(from, to)
  if (!found.ok || !found.value.descends) return ok(undefined)
  const { commits } = found.value
  if (signers === null) {
    const byNodes = await saidOfNodes(parts.graph, commits)
    return ok({ commits, isOfApi: (commit) => byNodes.has(commit), mayOverride: () => true })
  }
  const signed = await signersAmong(commits, signers, parts)
  if (!signed.ok) return signed
  const { byNodes, overriding } = signed.value
  const isOfApi = (commit: string): boolean => byNodes.has(commit)
  return ok({ commits, isOfApi, mayOverride: (commit) => overriding.has(commit) })
}
