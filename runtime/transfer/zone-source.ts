// One generation of what is served, as transfers read it: it stays as it is until the last of them
// is done, whatever is published meanwhile.
import type { Bundle } from '#bundle/format/bundle.ts'
import { adoptBundle } from '#bundle/load/load.ts'

/** TXT records that were written at run time. */
export interface DynamicRrset {
  /** Wire form, in lower case. */
  readonly name: Uint8Array
  readonly ttlSeconds: number
  /** Data on the wire. */
  readonly values: readonly Uint8Array[]
}

export class ZoneSource {
  #bundle: Bundle
  readonly serial: number
  readonly dynamic: readonly DynamicRrset[]
  #users = 0

  constructor(bundle: Bundle, serial: number, dynamic: readonly DynamicRrset[]) {
    this.#bundle = bundle
    this.serial = serial
    this.dynamic = dynamic
  }

  /** To be asked for anew after each pause: `leaveMemory` replaces it. */
  get bundle(): Bundle {
    return this.#bundle
  }

  get isUsed(): boolean {
    return this.#users > 0
  }

  hold(): void {
    this.#users++
  }

  release(): void {
    this.#users--
  }

  /**
   * The memory of the bundle will be given to the next generation but one: whoever still reads this
   * one gets a copy.
   */
  leaveMemory(): void {
    if (this.isUsed) this.#bundle = adoptBundle(this.#bundle.bytes.slice(), this.#bundle.digest)
  }
}
