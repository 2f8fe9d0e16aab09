// Checks whether any signer is trusted.
import { readSigners } from '#gitops/trust/signers-file.ts'
import { readTrustedKeyList } from '#gitops/trust/key-files.ts'
import { bad, good, warning } from './check.ts'
import type { Check, Finding, CheckedNode } from './check.ts'

export const trust: Check = {
  name: 'trust',
  look: async (node) => [
    node.settings.roles.includes('control') ? signers(node) : publishingKeys(node),
  ],
}

function signers({ settings: { gitops } }: CheckedNode): Finding {
  if (!gitops.requireSignature) {
    const todo = 'set gitops.requireSignature: whoever may push is believed now'
    return warning('no commit needs a signature', todo)
  }
  const read = readSigners(gitops.allowedSigners).signers
  if (read.ok) return good(`${gitops.allowedSigners} has ${read.value.length} keys`)
  return bad(read.error.replace(/\.$/, ''), 'see docs/operations/trust.md')
}

function publishingKeys({ settings: { bundle } }: CheckedNode): Finding {
  const key = readTrustedKeyList(bundle.keys)
  if (key.ok) return good(`${bundle.keys} has ${key.value.length} keys that may sign bundles`)
  return bad(key.error, 'put the public keys of the control nodes there: docs/operations/fleet.md')
}
