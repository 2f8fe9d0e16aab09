// A seeded pseudo-random generator that allocates nothing; each thread has its own.

/** xoshiro128**: four words of state, 32 bits a draw. Unsuitable for secrets. */
export class Random {
  readonly #state = new Uint32Array(4)

  constructor(seed: number) {
    this.restart(seed)
  }

  /** Continues like a new generator with this seed. */
  restart(seed: number): void {
    // SplitMix32 spreads the seed, so that neighbouring seeds give unrelated streams.
    let z = seed >>> 0
    for (let i = 0; i < 4; i++) {
      z = (z + 0x9e3779b9) >>> 0
      let x = z
      x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
      x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
      this.#state[i] = (x ^ (x >>> 15)) >>> 0
    }
  }

  /** An unsigned 32-bit number. */
  next(): number {
    return this.draw() >>> 0
  }

  /**
   * A signed number, for the answer path: an unsigned one above 2^31 is an object unless the call
   * is inlined.
   */
  draw(): number {
    const s = this.#state
    const s1 = s[1]!
    const x = Math.imul(s1, 5)
    const result = Math.imul((x << 7) | (x >>> 25), 9)
    const t = s1 << 9
    s[2]! ^= s[0]!
    s[3]! ^= s1
    s[1]! ^= s[2]!
    s[0]! ^= s[3]!
    s[2]! ^= t
    const s3 = s[3]!
    s[3] = (s3 << 11) | (s3 >>> 21)
    return result
  }

  /** A whole number from 0 up to, not including, `bound` (1 to 2^32). */
  below(bound: number): number {
    // One draw, not two: its bias is below bound / 2^32, far under what an operator can observe.
    return Math.floor((this.next() / 4_294_967_296) * bound)
  }
}
