// Makes the signer of each view of a thread; what is large or slow to make goes from one to the
// next.
import type { Bundle } from '#bundle/format/bundle.ts'
import { DigestMemo } from './digest-memo.ts'
import { RrsetDigest } from './rrset-digest.ts'
import { SignatureTable } from './signature-table.ts'
import type { Signer } from './signer.ts'
import { KeyMemory } from './signing-keys.ts'
import type { HandedSigning } from './signing-keys.ts'
import { KeylessSigner, ZoneSigner } from './zone-signer.ts'

export class SigningMemory {
  readonly #keys = new KeyMemory()
  #digest: RrsetDigest | undefined
  #memo: DigestMemo | undefined
  #table: SignatureTable | undefined

  /** @param handed null: there are no keys */
  signerOf(
    bundle: Bundle,
    handed: HandedSigning | null,
  ): { readonly signer: Signer; readonly isSigning: boolean } {
    const zones = handed === null ? [] : this.#keys.keysOf(handed)
    if (handed === null || zones.length === 0) {
      return { signer: new KeylessSigner(bundle), isSigning: false }
    }
    // A bundle that has more to sign than the one before may come with a larger one.
    if (this.#table?.memory !== handed.signatures) {
      this.#table = new SignatureTable(handed.signatures)
    }
    this.#digest ??= new RrsetDigest()
    this.#memo ??= new DigestMemo()
    const parts = { table: this.#table, digest: this.#digest, memo: this.#memo }
    return { signer: new ZoneSigner(bundle, zones, parts), isSigning: true }
  }
}
