// Replaces the key of a stopped node, and the line of the old key among the trusted signers.
import { generateKeyPairSync } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '#lib/assert.ts'
import { formatPublicKeyLine, privateKeyFromPem } from '#gitops/trust/openssh-key.ts'
import { addSigner, listSigners, nodePrincipal, removeSigners } from '#gitops/trust/trust-file.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { writeSecret } from './data-dir.ts'
import { openNodeKey } from './key.ts'

/**
 * The order of steps leaves a node that starts, wherever it is interrupted: until the new key is
 * written, the old one is valid; after that, bundles of the old one are refused and made again.
 *
 * @param signersFile the list of trusted signers
 * @returns lines for people. Errors: a sentence.
 */
export function rotateNodeKey(dataDir: string, signersFile: string): Result<string[], string> {
  const before = openNodeKey(dataDir)
  if (!before.ok) return before
  const old = privateKeyFromPem(before.value.pem, '').publicKey
  const signers = listSigners(signersFile)
  if (!signers.ok) return signers
  const isOld = ({ publicKey }: { publicKey: { fingerprint: string } }): boolean =>
    publicKey.fingerprint === old.fingerprint
  const isListed = signers.value.some(isOld)

  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const { publicKey } = privateKeyFromPem(pem, 'gslbd node')
  assert(publicKey.fingerprint !== old.fingerprint, 'a new key is another one')
  const publicKeyLine = formatPublicKeyLine(publicKey, 'gslbd node')
  if (isListed) {
    const added = addSigner(signersFile, { principal: nodePrincipal, publicKeyLine, atSeconds: 0 })
    if (!added.ok) return added
  }
  writeSecret(join(dataDir, 'keys', 'node.pem'), pem)
  // Bundles signed by the old key. The next start compiles the accepted commit.
  rmSync(join(dataDir, 'node'), { recursive: true, force: true })
  const removed = removeSigners(signersFile, isOld)
  if (!removed.ok) return removed
  return ok([
    `the node has a new key, ${publicKey.fingerprint}, in the place of ${old.fingerprint}`,
    ...(isListed
      ? [`${signersFile} lists the new one; where other nodes follow the same remote, there too:`]
      : [`${signersFile} did not list the old one; to let the API write, add the new one:`]),
    `  gslbd trust add ${nodePrincipal} "${publicKeyLine}"`,
    'Nodes that pull from this one (roles [dns] or [agent]) refuse what it signs with the new key',
    'until their bundle.keys have this line, too; add it, and reload them, before this node starts:',
    `  ${publicKeyLine}`,
  ])
}
