// Answers as nodes with the keys of all signed zones do, without them: what is made of keys is
// known to be there, and cannot be told.
import type { Bundle } from '#bundle/format/bundle.ts'
import { signedZones } from '#bundle/load/zone-signing.ts'
import { packSignals, SignalNames } from '#answer/signing/signal-names.ts'
import type { PackedSignals } from '#answer/signing/signal-names.ts'
import type { Signer } from '#answer/signing/signer.ts'
import { KeylessSigner } from '#answer/signing/zone-signer.ts'

/** See `SigningMemory`. */
export class PlannedSigning {
  #digest = ''
  #memory: SharedArrayBuffer | null = null

  signerOf(bundle: Bundle): { readonly signer: Signer; readonly isSigning: boolean } {
    if (bundle.digest !== this.#digest) {
      this.#digest = bundle.digest
      this.#memory = plannedSignals(bundle).memory
    }
    const signals = this.#memory === null ? null : new SignalNames(this.#memory, bundle)
    return { signer: new KeylessSigner(bundle, signals), isSigning: false }
  }
}

/** What nodes with all keys tell. */
export function plannedSignals(bundle: Bundle): PackedSignals {
  const rows = new Set(signedZones(bundle).map(({ row }) => row))
  return packSignals(bundle, (zone) => rows.has(zone))
}
