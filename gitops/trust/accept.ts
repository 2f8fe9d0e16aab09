// Verifies a new head: the signature of each new commit, against the pinned list of signers.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { findSigner, isAllowedFor, isOf, overrideNamespace } from './allowed-signers.ts'
import type { AllowedSigner } from './allowed-signers.ts'
import { treeDigest, treeLine, verifyAttestation } from './attestation.ts'
import type { TreeLine } from './attestation.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import type { CommitObject } from '#gitops/git/objects/commit-object.ts'
import type { GitDriver, ObjectError } from '#gitops/git/objects/driver.ts'
import { gitLimits } from '#gitops/limits.ts'
import { committer } from '#gitops/message/commit-message.ts'
import { parseSshSignature, verifySshSignature } from './sshsig.ts'
import { nodePrincipal } from './trust-file.ts'
import type { HoldCode } from '#gitops/status/status.ts'

/** Why a head is not accepted. `Unreadable` may pass by itself; others stay until a change. */
export interface Hold {
  readonly code: HoldCode | 'Unreadable'
  readonly reason: string
}

export interface AcceptParts {
  readonly graph: CommitGraph
  readonly driver: GitDriver
  /** The attestation of a commit; null when there is none. */
  readonly attestation: (commit: string) => Promise<Result<Uint8Array | null, string>>
}

/**
 * Lists the commits between `accepted` and `head`, oldest first. Refuses a head that does not
 * descend.
 *
 * @param reset the command that makes the node forget `accepted`
 */
export async function commitsToVerify(
  graph: CommitGraph,
  accepted: string | null,
  head: string,
  reset: string,
): Promise<Result<readonly string[], Hold>> {
  const found = await graph.newCommits(accepted, head)
  if (!found.ok) return err(holdOf(found.error))
  const { commits, descends } = found.value
  if (!descends && accepted !== null) {
    return err({
      code: 'HistoryRewritten',
      reason:
        `The new head ${short(head)} does not contain ${short(accepted)}, which was accepted ` +
        'before: the history was rewritten. Push a head that contains it, or, if the rewrite ' +
        `is meant, stop the node, run "${reset}", start it.`,
    })
  }
  if (commits.length > gitLimits.newCommitsMax) {
    return err({
      code: 'TooManyCommits',
      reason:
        `The new head brings ${commits.length} commits, more than ` +
        `${gitLimits.newCommitsMax}. Push them in smaller steps, or squash them.`,
    })
  }
  return ok(commits)
}

/** What the signatures of commits say. */
export interface Signatures {
  /**
   * Commits signed by a node: its API made them then, and judged them. The name in a commit proves
   * nothing.
   */
  readonly byNodes: ReadonlySet<string>
  /**
   * Commits whose signer may declare a change beyond the guardrails as meant; null: nobody has to
   * sign, and all may.
   */
  readonly overriding: ReadonlySet<string> | null
}

export interface Verified extends Signatures {
  /** Name of the signer of the last commit. */
  readonly lastSigner: string
}

export const mayOverride = ({ overriding }: Signatures, commit: string): boolean =>
  overriding === null || overriding.has(commit)

/** Verifies each commit by itself: a signature vouches for no parent. */
export async function verifyCommits(
  commits: readonly string[],
  accepted: string | null,
  signers: readonly AllowedSigner[],
  parts: AcceptParts,
): Promise<Result<Verified, Hold>> {
  let lastSigner = ''
  const byNodes = new Set<string>()
  const overriding = new Set<string>()
  for (const oid of commits) {
    const signer = await verifyCommit(oid, signers, parts)
    if (signer.ok) {
      lastSigner = nameOfSigner(signer.value)
      if (isNode(signer.value)) byNodes.add(oid)
      if (isAllowedFor(signer.value, overrideNamespace)) overriding.add(oid)
      continue
    }
    // With wrong clocks, the walk may include a commit that was accepted long ago.
    if (accepted !== null && (await parts.graph.isAncestor(oid, accepted))) continue
    return signer
  }
  return ok({ lastSigner, byNodes, overriding })
}

/**
 * Finds, among commits of the history, those that a node signed for its API, and those whose signer
 * may override guardrails. Commits that claim neither are not verified.
 *
 * @returns an error where an attestation cannot be read now
 */
export async function signersAmong(
  commits: readonly string[],
  signers: readonly AllowedSigner[],
  parts: AcceptParts,
): Promise<Result<Signatures, Hold>> {
  const byNodes = new Set<string>()
  const overriding = new Set<string>()
  for (const oid of commits) {
    const commit = await parts.graph.commit(oid)
    if (!commit.ok) continue
    if (commit.value.override === '' && commit.value.committer.name !== committer) continue
    const signer = await verifyCommit(oid, signers, parts)
    if (!signer.ok) {
      if (signer.error.code === 'Unreadable') return signer
      continue
    }
    if (isNode(signer.value)) byNodes.add(oid)
    if (isAllowedFor(signer.value, overrideNamespace)) overriding.add(oid)
  }
  return ok({ byNodes, overriding })
}

/** Commits that claim to be of a node's API: believed where no signature is required. */
export async function claimedByNodes(
  graph: CommitGraph,
  commits: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const oid of commits) {
    const commit = await graph.commit(oid)
    if (commit.ok && commit.value.committer.name === committer) found.add(oid)
  }
  return found
}

const isNode = (signer: AllowedSigner): boolean => isOf(signer, nodePrincipal)

async function verifyCommit(
  oid: string,
  signers: readonly AllowedSigner[],
  parts: AcceptParts,
): Promise<Result<AllowedSigner, Hold>> {
  const commit = await parts.graph.commit(oid)
  if (!commit.ok) return err(holdOf(commit.error))
  const bySignature = verifySignature(commit.value, signers)
  if (bySignature.ok) return bySignature
  const attestation = await parts.attestation(oid)
  if (!attestation.ok) return err({ code: 'Unreadable', reason: attestation.error })
  let problem = bySignature.error
  if (attestation.value !== null) {
    const byAttestation = await checkAttestation(
      oid,
      commit.value,
      attestation.value,
      signers,
      parts,
    )
    if (byAttestation.ok) return byAttestation
    if (byAttestation.error.code === 'Unreadable') return byAttestation
    problem = `${problem}, and ${byAttestation.error.reason}`
  }
  const { subject, author, signature } = commit.value
  return err({
    code: signature === '' ? 'Unsigned' : 'SignatureRefused',
    reason:
      `Commit ${short(oid)} "${subject}" by ${author.name} is not accepted: ${problem}. ` +
      (signature === '' ? '' : 'If its key may be believed, list it with "gslbd trust add". ') +
      remedyFor(oid),
  })
}

/**
 * Returns the remedy for an unsigned commit. People first try a signed commit on top, which leaves
 * this one unsigned.
 */
function remedyFor(oid: string): string {
  return (
    `To vouch for it, run "gslbd attest ${short(oid)}" in a checkout, with a key of ` +
    'allowed_signers, and push the ref that it prints; a signed commit on top does not help. ' +
    'Where it was pushed already, signing it anew (git commit --amend -S) takes a forced push, ' +
    'which the local origin refuses.'
  )
}

/**
 * Verifies a signature. The key in it only selects a line of the list; the key of the list
 * verifies. Errors: a clause.
 */
function verifySignature(
  commit: CommitObject,
  signers: readonly AllowedSigner[],
): Result<AllowedSigner, string> {
  if (commit.signature === '') return err('it is not signed')
  const signature = parseSshSignature(commit.signature)
  if (!signature.ok) return err(`its signature ${signature.error}`)
  const signer = findSigner(signers, {
    publicKey: signature.value.claimedKey,
    namespace: 'git',
    // The committer's time, as `git verify-commit` uses it. The signer chooses it: an expiry date
    // serves a planned rotation, while a stolen key must be removed from the file.
    atSeconds: commit.committer.seconds,
  })
  if (!signer.ok) return signer
  const isGood = verifySshSignature(signature.value, commit.payload, 'git', signer.value.publicKey)
  return isGood ? signer : err('its signature does not fit its content')
}

async function checkAttestation(
  oid: string,
  commit: CommitObject,
  blob: Uint8Array,
  signers: readonly AllowedSigner[],
  { driver }: AcceptParts,
): Promise<Result<AllowedSigner, Hold>> {
  const verified = verifyAttestation(blob, oid, signers)
  if (!verified.ok) return err({ code: 'SignatureRefused', reason: verified.error })
  const digest = await digestOfTree(driver, commit.tree)
  if (!digest.ok) return err(holdOf(digest.error))
  if (digest.value !== verified.value.digest) {
    return err({ code: 'SignatureRefused', reason: 'its attestation speaks of another tree' })
  }
  return ok(verified.value.signer)
}

/** Computes the digest of all files. Slow for a big tree; needed for attested commits only. */
export async function digestOfTree(
  driver: GitDriver,
  tree: string,
): Promise<Result<string, ObjectError>> {
  const files = await driver.readTree(tree)
  if (!files.ok) return files
  const lines: TreeLine[] = []
  for (const { path, mode, oid, kind } of files.value) {
    if (kind === 'submodule') {
      // A submodule: its content is in another repository, and only the commit that it names
      // counts.
      lines.push(treeLine(path, mode, Buffer.from(oid)))
      continue
    }
    const bytes = await driver.readBlob(oid)
    if (!bytes.ok) return bytes
    lines.push(treeLine(path, mode, bytes.value))
  }
  return ok(treeDigest(lines))
}

export function holdOf(error: ObjectError): Hold {
  const isOfCommit = error.kind === 'refused' || error.kind === 'oversized'
  return { code: isOfCommit ? 'MalformedCommit' : 'Unreadable', reason: error.reason }
}

export const nameOfSigner = ({ principals, publicKey }: AllowedSigner): string =>
  `${principals} ${publicKey.fingerprint}`

export const short = (oid: string): string => oid.slice(0, 10)
