// One generation of what is served, as transfers read it: it stays as it is until the last of them
// is done, whatever is published meanwhile.
import type { Bundle } from '#bundle/format/bundle.ts'
import { adoptBundle } from '#bundle/load/load.ts'

/** Its bundles are to be asked for anew after each pause: `leaveMemory` replaces them. */
export class ZoneSource {
  #bundle: Bundle
  #dynamic: Bundle | undefined
  readonly serial: number
  #users = 0
  #isCopy = false

  constructor(bundle: Bundle, dynamic: Bundle | undefined, serial: number) {
    this.#bundle = bundle
    this.#dynamic = dynamic
    this.serial = serial
  }

  get bundle(): Bundle {
    return this.#bundle
  }

  /** See ServingView. */
  get dynamic(): Bundle | undefined {
    return this.#dynamic
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
   * The memory of the bundles will be given to the next generation but one: whoever still reads
   * this one gets copies.
   */
  leaveMemory(): void {
    if (this.#isCopy || !this.isUsed) return
    this.#isCopy = true
    this.#bundle = copyOf(this.#bundle)
    if (this.#dynamic !== undefined) this.#dynamic = copyOf(this.#dynamic)
  }
}

function copyOf({ bytes, digest }: Bundle): Bundle {
  return adoptBundle(bytes.slice(), digest)
}
