// Adds the node's own key to the trusted signers, where the API writes to the node's own
// repository.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findSigner } from '#gitops/trust/allowed-signers.ts'
import { formatPublicKeyLine, privateKeyFromPem } from '#gitops/trust/openssh-key.ts'
import type { SshPublicKey } from '#gitops/trust/openssh-key.ts'
import { addSigner, listSigners, nodePrincipal } from '#gitops/trust/trust-file.ts'
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { shellWord } from '#lib/text/shell-word.ts'
import { openNodeKey } from './key.ts'
import type { Settings } from '#settings/settings.ts'

/**
 * Creates the list of signers with this one key; an existing list is left as it is. With a remote
 * the list is the same on all nodes, and people make it. Errors: a sentence. Without a list the
 * node still answers DNS, and a write of the API explains what to do.
 */
export function believeOwnKey({ dataDir, api, gitops }: Settings): Result<null, string> {
  const { url, requireSignature, allowedSigners } = gitops
  const isOurs = url === '' && api.enabled && requireSignature
  if (!isOurs || existsSync(allowedSigners)) return ok(null)
  const key = ownKey(dataDir)
  if (!key.ok) return key
  const publicKeyLine = key.value.line
  addSigner(allowedSigners, { principal: nodePrincipal, publicKeyLine, atSeconds: 0 })
  return ok(null)
}

/**
 * @returns a warning: the API can write nothing, since its signature is not trusted; undefined: it
 * can, or the list has a fault that is reported elsewhere
 */
export function unbelievedKey(
  { dataDir, api, gitops }: Settings,
  clock: Clock,
): string | undefined {
  const { requireSignature, allowedSigners } = gitops
  if (!api.enabled || !requireSignature || !existsSync(allowedSigners)) return undefined
  const key = ownKey(dataDir)
  const signers = listSigners(allowedSigners)
  if (!key.ok || !signers.ok) return undefined
  const atSeconds = Math.floor(clock.nowMs() / 1000)
  const { publicKey, line } = key.value
  if (findSigner(signers.value, { publicKey, namespace: 'git', atSeconds }).ok) return undefined
  return (
    `the API can write nothing: ${allowedSigners} does not have the node's own key, which signs ` +
    `its commits; ${howToBelieve(line, allowedSigners)}`
  )
}

/** The public key of a node that has a key already. Errors: a sentence. */
export function publicKeyOfNode(dataDir: string): Result<OwnKey, string> | undefined {
  return existsSync(join(dataDir, 'keys', 'node.pem')) ? ownKey(dataDir) : undefined
}

/** A clause with the command that adds the key. */
export function howToBelieve(line: string, allowedSigners: string): string {
  return `run: gslbd trust add ${nodePrincipal} '${line}' --file ${shellWord(allowedSigners)}`
}

/**
 * To be asked before a start makes the key of the node.
 *
 * @returns what has to be done, as the key is gone with which this node has signed; undefined: it
 * is there, or there never was one
 */
export function lostKey({ dataDir }: Pick<Settings, 'dataDir'>): string | undefined {
  const path = join(dataDir, 'keys', 'node.pem')
  const hasSigned = existsSync(join(dataDir, 'node', 'active.json'))
  if (existsSync(path) || !hasSigned) return undefined
  return (
    `${path} is gone, with which this node has signed; it makes another one. If a backup has the ` +
    'old one, stop the node, put it back, and start it. Otherwise nodes that pull from this one ' +
    'refuse what it gives (unknown-key) until bundle.keys of each have the new one; where the ' +
    'API writes, allowed_signers need it, too: docs/operations/trust.md'
  )
}

export interface OwnKey {
  readonly publicKey: SshPublicKey
  /** `ssh-ed25519 AAAA… gslbd node` */
  readonly line: string
}

function ownKey(dataDir: string): Result<OwnKey, string> {
  const key = openNodeKey(dataDir)
  if (!key.ok) return key
  const { publicKey } = privateKeyFromPem(key.value.pem, 'gslbd node')
  return ok({ publicKey, line: formatPublicKeyLine(publicKey, 'gslbd node') })
}
