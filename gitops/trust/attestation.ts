// Makes and verifies attestations: signed statements that vouch for commits without an author's
// signature.
import { createHash } from 'node:crypto'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { findSigner } from './allowed-signers.ts'
import type { AllowedSigner } from './allowed-signers.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { SshPrivateKey } from './openssh-key.ts'
import { makeSshSignature, parseSshSignature, verifySshSignature } from './sshsig.ts'

const attestationNamespace = 'gslb-attest'
export const attestationRefPrefix = 'refs/gslb/attest/'

/** A line of the digest for one file, with the octets of its path to sort by. */
export interface TreeLine {
  readonly path: Buffer
  readonly line: string
}

/** @param mode Git's file mode, six digits, such as `100644` or `120000` */
export function treeLine(path: string, mode: string, bytes: Uint8Array): TreeLine {
  const sum = createHash('sha256').update(bytes).digest('hex')
  return { path: Buffer.from(path), line: `${mode} ${path} ${bytes.length} ${sum}\n` }
}

/**
 * Computes SHA-256 over the lines of all files of a tree, in hex. Git names objects by SHA-1; a
 * statement that is to outlive SHA-1 names the content by another hash. Paths hold no line feed
 * (tree-object.ts).
 */
export function treeDigest(lines: readonly TreeLine[]): string {
  // Sorted by the octets of the path: equal on every machine and in every locale.
  const sorted = lines.toSorted((a, b) => Buffer.compare(a.path, b.path))
  const hash = createHash('sha256')
  for (const { line } of sorted) hash.update(line)
  return hash.digest('hex')
}

/** Formats an attestation: a statement of four lines, then an SSH signature over them. */
export function makeAttestation(
  commit: string,
  digest: string,
  seconds: number,
  key: SshPrivateKey,
): string {
  const statement = formatStatement(commit, digest, seconds)
  return statement + makeSshSignature(Buffer.from(statement), attestationNamespace, key)
}

function formatStatement(commit: string, digest: string, seconds: number): string {
  return `gslb attestation v1\ncommit ${commit}\ntree sha256:${digest}\ntime ${seconds}\n`
}

const header = String.raw`gslb attestation v1\ncommit ([0-9a-f]{40})\ntree sha256:([0-9a-f]{64})`
const shape = new RegExp(String.raw`^${header}\ntime (\d{1,12})\n(?=-----BEGIN )`)

/**
 * Checks form, key and signature, and that the statement names `commit`. The caller compares the
 * digest. Errors: a clause.
 */
export function verifyAttestation(
  blob: Uint8Array,
  commit: string,
  signers: readonly AllowedSigner[],
): Result<{ digest: string; signer: AllowedSigner }, string> {
  if (blob.length > gitLimits.attestationBytesMax) return err('its attestation is too large')
  const text = Buffer.from(blob).toString('latin1')
  const match = shape.exec(text)
  if (match === null) return err('its attestation is malformed')
  const [statement, attestedCommit, digest = '', time] = match
  if (attestedCommit !== commit) return err('its attestation speaks of another commit')
  const signature = parseSshSignature(text.slice(statement.length))
  if (!signature.ok) return err(`its attestation's signature ${signature.error}`)
  const signer = findSigner(signers, {
    publicKey: signature.value.claimedKey,
    namespace: attestationNamespace,
    atSeconds: Number(time),
  })
  if (!signer.ok) return err(`its attestation is not accepted: ${signer.error}`)
  const message = Buffer.from(statement, 'latin1')
  const { publicKey } = signer.value
  if (!verifySshSignature(signature.value, message, attestationNamespace, publicKey)) {
    return err('its attestation has a wrong signature')
  }
  return ok({ digest, signer: signer.value })
}
