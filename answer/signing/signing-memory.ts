// Creates the signer of each view of a thread, and reuses what is large or slow to create.
import type { Bundle } from '#bundle/format/bundle.ts'
import { CoveredOctets } from './covered-octets.ts'
import { DigestMemo } from './digest-memo.ts'
import { RrsetDigest } from './rrset-digest.ts'
import { SignatureTable } from './signature-table.ts'
import { SignalNames } from './signal-names.ts'
import type { Signer } from './signer.ts'
import { KeyMemory } from './signing-keys.ts'
import type { HandedSigning } from './signing-keys.ts'
import { KeylessSigner, ZoneSigner } from './zone-signer.ts'

export class SigningMemory {
  readonly #keys = new KeyMemory()
  readonly #open: (memory: SharedArrayBuffer) => SignatureTable
  #digest: RrsetDigest | undefined
  #memo: DigestMemo | undefined
  #covered: CoveredOctets | undefined
  #table: SignatureTable | undefined

  /** @param open makes the way into the shared signatures that the thread has */
  constructor(open = (memory: SharedArrayBuffer) => new SignatureTable(memory)) {
    this.#open = open
  }

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
      this.#table = this.#open(handed.signatures)
    }
    this.#digest ??= new RrsetDigest()
    this.#memo ??= new DigestMemo()
    this.#covered ??= new CoveredOctets()
    const [table, digest, memo, covered] = [this.#table, this.#digest, this.#memo, this.#covered]
    const { signals: packed = null } = handed
    const signals = packed === null ? null : new SignalNames(packed, bundle)
    const parts = { table, digest, memo, covered, signals }
    return { signer: new ZoneSigner(bundle, zones, parts), isSigning: true }
  }
}
