// What a control node gives to a node that asks for the keys of zones: an envelope for it alone.
import type { Bundles } from '#ports/bundles.ts'
import type { SigningKey } from '#bundle/signature/channel.ts'
import { envelopeLimits, sealEnvelope } from '#fleet/keys/envelope.ts'
import type { NodeInventory } from '#fleet/node-inventory.ts'
import { readNodeReport } from '#fleet/nodes/node-report.ts'
import { err, ok } from '#lib/result.ts'
import { printKeySet } from '#server/signing/key-set.ts'
import type { KeyVault } from '#server/signing/key-vault.ts'

interface GivingParts {
  /** null: without GSLB_SECRET_KEY the keys are files, which nobody is sent. */
  readonly vault: Pick<KeyVault, 'set'> | null
  readonly inventory: Pick<NodeInventory, 'counted'>
  readonly key: SigningKey
}

/** Octets of the head, the tag and the signature, and some more. */
const aroundBytes = 1024

export function givingKeys({ vault, inventory, key }: GivingParts): Bundles['keys'] {
  let printed: { readonly revision: number; readonly content: Buffer } | undefined
  return ({ report: sent, revision: known }) => {
    const report = readNodeReport(sent)
    if (!report.ok) return err({ code: 'refused', message: report.error })
    const { name, sealTo, role } = report.value
    if (sealTo === undefined) return err({ code: 'refused', message: 'sealTo is missing' })
    if (vault === null) return err({ code: 'none', message: noSecretKey })
    if (role !== 'dns' || inventory.counted(report.value, sent) === undefined) {
      return err({ code: 'stranger', message: stranger })
    }
    const set = vault.set()
    if (!set.ok) return err({ code: 'away', message: set.error })
    const { revision } = set.value
    // A node that has a later set asks a control node whose database is behind.
    if (revision <= known) return ok(null)
    if (printed?.revision !== revision) {
      printed = { revision, content: Buffer.from(printKeySet(set.value)) }
    }
    if (printed.content.length > envelopeLimits.bytesMax - aroundBytes) {
      return err({ code: 'away', message: 'there are more keys than an envelope has room for' })
    }
    const envelope = sealEnvelope(printed, { node: name, sealTo }, key)
    return envelope === undefined
      ? err({ code: 'refused', message: 'sealTo is no public key of X25519' })
      : ok(envelope)
  }
}

const noSecretKey = 'this node has no GSLB_SECRET_KEY: keys of zones are files that it gives nobody'
const stranger =
  'keys of zones are for nodes of the role dns that count here; where nodes are listed, ' +
  '"gslbd node add NAME" makes the GSLB_NODE_TOKEN of one, and its clock has to be right'
