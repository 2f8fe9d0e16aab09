// Holds the public keys of the control nodes that a pulling node trusts, and reads them again while
// it runs.
import type { TrustedKey } from '#bundle/signature/channel.ts'
import { readTrustedKeyList } from '#gitops/trust/key-files.ts'
import { assert } from '#lib/assert.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export class BundleKeys {
  readonly #path: string
  readonly #trusted: TrustedKey[] = []

  private constructor(path: string) {
    this.#path = path
  }

  /** Errors: a sentence for the operator. */
  static open(path: string): Result<BundleKeys, string> {
    const keys = new BundleKeys(path)
    const read = keys.#read()
    return read.ok ? ok(keys) : read
  }

  /** The keys as of the last read. */
  get trusted(): readonly TrustedKey[] {
    return this.#trusted
  }

  /**
   * Reads the file again. A file with a mistake changes nothing. The active bundle stays, whichever
   * key signed it.
   */
  reread(log: Log): void {
    const before = this.#ids()
    const read = this.#read()
    if (!read.ok) log.error({}, `${read.error}; the keys before stay`)
    else if (this.#ids() !== before) log.info({ keys: this.#ids() }, 'bundle.keys is read again')
  }

  #read(): Result<null, string> {
    const read = readTrustedKeyList(this.#path)
    if (!read.ok) return err(`bundle.keys: ${read.error}`)
    assert(read.value.length > 0, 'a node that pulls trusts at least one key')
    this.#trusted.splice(0, this.#trusted.length, ...read.value)
    return ok(null)
  }

  #ids(): string {
    return this.#trusted.map(({ keyId }) => keyId).join()
  }
}
