// Adds the node's own key to the trusted signers, where the API writes to the node's own
// repository.
import { existsSync } from 'node:fs'
import { formatPublicKeyLine, privateKeyFromPem } from '#gitops/trust/openssh-key.ts'
import { addSigner, nodePrincipal } from '#gitops/trust/trust-file.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { openNodeKey } from './key.ts'
import type { Settings } from '#cli/settings/settings.ts'

/**
 * Makes the list of those believed, with this one key, when there is none yet; a list that somebody
 * made stays as it is. With a remote the list is the same on all nodes, and people make it.
 *
 * Errors: a sentence. A list that cannot be written is none: the node answers DNS without it, and a
 * write of the API says what to do.
 */
export function believeOwnKey({ dataDir, api, gitops }: Settings): Result<null, string> {
  const { url, requireSignature, allowedSigners } = gitops
  const isOurs = url === '' && api.enabled && requireSignature
  if (!isOurs || existsSync(allowedSigners)) return ok(null)
  const key = openNodeKey(dataDir)
  if (!key.ok) return key
  const { publicKey } = privateKeyFromPem(key.value.pem, 'gslbd node')
  const publicKeyLine = formatPublicKeyLine(publicKey, 'gslbd node')
  addSigner(allowedSigners, { principal: nodePrincipal, publicKeyLine })
  return ok(null)
}
