// Stores signatures by a digest of what they cover, in memory that all threads share.
import { randomFillSync } from 'node:crypto'

/**
 * Words of the memory: the time in seconds since 1970, how many slots are for names of zones, a
 * seed of four words, then slots.
 *
 * A slot: a version that is odd while it is written; a digest of two words; a check, which is when
 * the signature begins to be valid, the digest and the signature, all added without carries; the
 * signature. While another thread writes, a reader finds that the check is another one, which costs
 * nothing; sixteen atomic reads took 140 ns. A digest has slots of one set alone.
 */
const Head = { NowSeconds: 0, OfZone: 1, Seed: 4, Words: 8 } as const
export const Slot = { Version: 0, Digest: 1, Check: 3, Signature: 4, Words: 20 } as const
export const setSlots = 4
const signatureWords = Slot.Words - Slot.Signature

/** Results of a search for a signature. */
export const Found = { None: 0, Newest: 1, Before: 2 } as const
const { None, Newest, Before } = Found

/** Octets of a signature, the same for algorithms 13 and 15. */
export const signatureBytes = signatureWords * 4

/** Slots, as powers of two. Names that clients make up have their own and displace no others. */
export const signatureLimits = {
  /** 2.6 and 84 MB with those of any name. */
  ofZoneMin: 16_384,
  ofZoneMax: 1_048_576,
  ofAnyName: 16_384,
  /** That a thread makes for such names over UDP: a tenth of its time. */
  newPerSecond: 1_000,
} as const

/** Twice as many as rrsets: then 2 % of the signatures find their set full. */
function slotsFor(rrsets: number): number {
  const { ofZoneMin, ofZoneMax } = signatureLimits
  const wanted = Math.min(Math.max(rrsets * 2, ofZoneMin), ofZoneMax)
  return 2 ** Math.ceil(Math.log2(wanted))
}

/**
 * For all threads of a node.
 *
 * @param nowSeconds since 1970
 * @param rrsets that may be asked for again and again
 */
export function createSignatureMemory(nowSeconds: number, rrsets: number): SharedArrayBuffer {
  const slots = slotsFor(rrsets)
  const allSlots = slots + signatureLimits.ofAnyName
  const memory = new SharedArrayBuffer((Head.Words + allSlots * Slot.Words) * 4)
  const words = new Int32Array(memory)
  randomFillSync(words.subarray(Head.Seed, Head.Words))
  words[Head.NowSeconds] = nowSeconds
  words[Head.OfZone] = slots
  return memory
}

/** Whether a memory is large enough for so many rrsets. */
export function hasRoomFor(memory: SharedArrayBuffer, rrsets: number): boolean {
  return new Int32Array(memory)[Head.OfZone]! >= slotsFor(rrsets)
}

/** Sets the time for which answers are signed. */
export function setSignatureTime(memory: SharedArrayBuffer, nowSeconds: number): void {
  Atomics.store(new Int32Array(memory), Head.NowSeconds, nowSeconds | 0)
}

/** Gives one thread access to the memory. */
export class SignatureTable {
  readonly memory: SharedArrayBuffer
  protected readonly words: Int32Array
  readonly #ofZone: number
  readonly seed0: number
  readonly seed1: number
  #turn = 0
  /** The second that `#left` is about. */
  #second = 0
  #left = 0

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.words = new Int32Array(memory)
    this.#ofZone = this.words[Head.OfZone]!
    this.seed0 = this.words[Head.Seed]!
    this.seed1 = this.words[Head.Seed + 1]!
  }

  /** Seconds since 1970, as 32 bits. */
  get nowSeconds(): number {
    return this.words[Head.NowSeconds]!
  }

  /** Takes one of `newPerSecond`. @returns false: there is none left */
  takeOne(): boolean {
    const second = this.nowSeconds
    if (second !== this.#second) {
      this.#second = second
      this.#left = signatureLimits.newPerSecond
    }
    if (this.#left === 0) return false
    this.#left--
    return true
  }

  /**
   * Writes a signature to where it belongs in a reply.
   *
   * @param inception the signature begins then
   * @param before or then; the same where no other one will do
   * @returns one of `Found`; `None`: what is there now is no signature
   */
  copy(
    digest0: number,
    digest1: number,
    inception: number,
    before: number,
    isAnyName: boolean,
    to: DataView,
    at: number,
  ): number {
    const words = this.words
    const set = this.setOf(digest0, isAnyName)
    for (let i = 0; i < setSlots; i++) {
      const slot = set + i * Slot.Words
      if (words[slot + Slot.Digest] !== digest0) continue
      if (words[slot + Slot.Digest + 1] !== digest1) continue
      const from = slot + Slot.Signature
      let check = words[slot + Slot.Check]! ^ digest0 ^ digest1
      for (let i = 0; i < signatureWords; i++) {
        const word = words[from + i]!
        to.setInt32(at + i * 4, word)
        check ^= word
      }
      if (check === inception) return Newest
      if (check === before) return Before
    }
    return None
  }

  /** Keeps a signature, in the place of another one where there is no room. */
  keep(
    digest0: number,
    digest1: number,
    inception: number,
    isAnyName: boolean,
    signature: Uint8Array,
  ): void {
    const words = this.words
    const set = this.setOf(digest0, isAnyName)
    // An older signature of the same, else a free place, else each in its turn.
    let slot = this.#turn++ & (setSlots - 1)
    for (let i = 0; i < setSlots; i++) {
      const at = set + i * Slot.Words
      const isSame = words[at + Slot.Digest] === digest0 && words[at + Slot.Digest + 1] === digest1
      if (isSame || words[at] === 0) {
        slot = i
        if (isSame) break
      }
    }
    this.write(set + slot * Slot.Words, digest0, digest1, inception, signature)
  }

  /**
   * @param at where the slot begins
   * @returns false: another thread writes it
   */
  protected write(
    at: number,
    digest0: number,
    digest1: number,
    inception: number,
    signature: Uint8Array,
  ): boolean {
    const { words } = this
    const version = Atomics.load(words, at)
    // Another thread writes it: the signature is made once more when it is asked for again.
    if ((version & 1) !== 0) return false
    if (Atomics.compareExchange(words, at, version, version | 1) !== version) return false
    words[at + Slot.Digest] = digest0
    words[at + Slot.Digest + 1] = digest1
    const to = at + Slot.Signature
    const from = new DataView(signature.buffer, signature.byteOffset, signatureBytes)
    let check = inception ^ digest0 ^ digest1
    for (let i = 0; i < signatureWords; i++) {
      const word = from.getInt32(i * 4)
      words[to + i] = word
      check ^= word
    }
    words[at + Slot.Check] = check
    Atomics.store(words, at, (version + 2) & 0x7fff_fffe)
    return true
  }

  /** Where the slots for a digest begin. */
  protected setOf(digest: number, isAnyName: boolean): number {
    const ofZone = this.#ofZone
    const sets = (isAnyName ? signatureLimits.ofAnyName : ofZone) / setSlots
    const first = isAnyName ? ofZone : 0
    return Head.Words + (first + (digest & (sets - 1)) * setSlots) * Slot.Words
  }
}
