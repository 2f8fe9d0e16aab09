// Keeps the rrsets of one file in little memory: a small object each, their rdata in one buffer.
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'

/** The records of one name and type in a file. */
export class ReadRrset {
  /** Position in the `records` of the file. */
  readonly index: number
  /** Lower case, presentation form, final dot. */
  readonly name: string
  readonly type: RdataType
  readonly ttlSeconds: number
  /** For each rdata its position in the field `values` of the file. */
  readonly from: readonly number[]
  readonly #octets: RdataOctets
  readonly #start: number

  constructor(
    { index, name, type, ttlSeconds }: Pick<ReadRrset, 'index' | 'name' | 'type' | 'ttlSeconds'>,
    { rdata, from }: { readonly rdata: readonly Uint8Array[]; readonly from: readonly number[] },
    octets: RdataOctets,
  ) {
    this.index = index
    this.name = name
    this.type = type
    this.ttlSeconds = ttlSeconds
    this.from = from
    this.#octets = octets
    this.#start = octets.add(rdata)
  }

  get rdataBytes(): number {
    return this.#octets.bytesAt(this.#start, this.from.length)
  }

  /** In canonical order (RFC 4034 section 6.3), each once, without invalid values. */
  get rdata(): readonly Uint8Array[] {
    return this.#octets.at(this.#start, this.from.length)
  }
}

/** One buffer: an array of octets for each rdata would take more memory than everything else. */
export class RdataOctets {
  #octets = new Uint8Array(4_096)
  #length = 0

  /** @returns the offset of the first */
  add(rdata: readonly Uint8Array[]): number {
    const start = this.#length
    for (const one of rdata) {
      const end = this.#length + 2 + one.length
      if (end > this.#octets.length) this.#resize(Math.max(end, this.#octets.length * 2))
      this.#octets[this.#length] = one.length >>> 8
      this.#octets[this.#length + 1] = one.length & 255
      for (let i = 0; i < one.length; i++) this.#octets[this.#length + 2 + i] = one[i]!
      this.#length = end
    }
    return start
  }

  at(start: number, count: number): Uint8Array[] {
    const rdata: Uint8Array[] = []
    for (let at = start; rdata.length < count;) {
      const end = this.#endOf(at)
      rdata.push(this.#octets.subarray(at + 2, end))
      at = end
    }
    return rdata
  }

  /** Sums the sizes without making arrays. */
  bytesAt(start: number, count: number): number {
    let at = start
    for (let i = 0; i < count; i++) at = this.#endOf(at)
    return at - start - 2 * count
  }

  #endOf(at: number): number {
    return at + 2 + this.#octets[at]! * 256 + this.#octets[at + 1]!
  }

  /** Trims the buffer: nothing more is added. */
  end(): void {
    this.#resize(this.#length)
  }

  #resize(bytes: number): void {
    const octets = new Uint8Array(bytes)
    octets.set(this.#octets.subarray(0, this.#length))
    this.#octets = octets
  }
}
