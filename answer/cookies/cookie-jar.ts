// Reads and checks the DNS cookie of a query and writes that of the reply. RFC 7873, RFC 9018.
import * as hashing from '#dns/siphash.ts'
import * as layout from './secret-cells.ts'

// Local constants are faster than imports: see answer.ts.
const { siphash } = hashing
const { daySeconds, keyCell, SecretCell, slotOfDay, TwoFixed } = layout

/** The state of the cookie in a query; from `ClientOnly` on the reply has one. */
export const CookieKind = {
  None: 0,
  /** The option has no length of a cookie: the query is FORMERR. */
  Malformed: 1,
  ClientOnly: 2,
  Valid: 3,
  /** Too old, or from the future. */
  Expired: 4,
  /** Made for another client, with another secret, by another kind of server, or forged. */
  Invalid: 5,
} as const
export type CookieKind = (typeof CookieKind)[keyof typeof CookieKind]
export const cookieKindNames = ['none', 'malformed', 'client', 'valid', 'expired', 'invalid']

const clientBytes = 8
/** RFC 7873 section 4: server cookies have 8 to 32 octets; RFC 9018 section 4: 16. */
const serverBytesMin = 8
const serverBytesMax = 32
const serverBytes = 16
/** Octets of the cookie in a reply. */
export const cookieBytes = clientBytes + serverBytes
/** Client cookie, version, reserved octets and time: the hashed octets before the address. */
const hashedBytes = 16
/** Version 1 and reserved zeros, the first octet lowest. */
const version = 1
const versionMask = 0xff
/** RFC 9018 section 4.3. */
const age = { secondsMax: 3_600, secondsMin: -300, renewSeconds: 1_800 } as const
/** The third word of an IPv4 address in IPv6 form, the first octet lowest. RFC 4291. */
const mappedWord = 0xffff_0000 | 0

/** One per thread and transport. It keeps all words of the option as little-endian. */
export class CookieJar {
  readonly #cells: Int32Array
  /** The hashed words: two of client cookie, version, time, one word of address or four. */
  readonly #words = new Int32Array(10)
  #bytes = 0
  readonly #hash = new Int32Array(2)
  // Length of the server cookie in the query, in octets.
  #serverBytes = 0
  #seconds = 0
  #hashLow = 0
  #hashHigh = 0
  /** The reply returns the server cookie unchanged. */
  #isKept = false

  /** @param shared see secret-cells.ts; undefined: cookies are ignored */
  constructor(shared = new SharedArrayBuffer(layout.cookieCellBytes)) {
    this.#cells = new Int32Array(shared)
  }

  isOn(): boolean {
    return Atomics.load(this.#cells, SecretCell.NowSeconds) !== 0
  }

  /** Whether clients that send cookies need a valid one to be answered over UDP. */
  enforces(): boolean {
    return this.#cells[SecretCell.Enforces] !== 0
  }

  /**
   * Reads the option.
   *
   * @param at offset of its data
   * @returns false: its length is not that of a cookie. RFC 7873 section 5.2.2
   */
  read(query: DataView, at: number, length: number): boolean {
    const ofServer = length - clientBytes
    if (ofServer !== 0 && (ofServer < serverBytesMin || ofServer > serverBytesMax)) return false
    this.#words[0] = query.getInt32(at, true)
    this.#words[1] = query.getInt32(at + 4, true)
    this.#serverBytes = ofServer
    if (ofServer < serverBytes) return true
    this.#words[2] = query.getInt32(at + 8, true)
    this.#words[3] = query.getInt32(at + 12, true)
    this.#seconds = query.getInt32(at + 12)
    this.#hashLow = query.getInt32(at + 16, true)
    this.#hashHigh = query.getInt32(at + 20, true)
    return true
  }

  /**
   * Checks the cookie that was read.
   *
   * @param source has the client's address, of `bytes` octets, at `at`
   */
  check(source: Uint8Array, at: number, bytes: number): CookieKind {
    this.#isKept = false
    this.#takeAddress(source, at, bytes)
    if (this.#serverBytes === 0) return CookieKind.ClientOnly
    const isOurs = this.#serverBytes === serverBytes && (this.#words[2]! & versionMask) === version
    if (!isOurs) return CookieKind.Invalid
    // RFC 1982: times wrap around. Cookies out of time are rejected before the hash is computed.
    const ageSeconds = (this.#cells[SecretCell.NowSeconds]! - this.#seconds) | 0
    if (ageSeconds > age.secondsMax || ageSeconds < age.secondsMin) return CookieKind.Expired
    const fixed = Atomics.load(this.#cells, SecretCell.Fixed)
    const isFirst = this.#isHashOf(fixed === 0 ? slotAt(this.#seconds) : fixed & 3)
    if (!isFirst && (fixed < TwoFixed || !this.#isHashOf((fixed & 3) + 1))) {
      return CookieKind.Invalid
    }
    // A cookie by the outgoing secret is renewed, as is one whose reserved octets are not zero.
    this.#isKept = isFirst && ageSeconds <= age.renewSeconds && this.#words[2] === version
    return CookieKind.Valid
  }

  /** Writes `cookieBytes` octets: the client's cookie and ours. `check` must have run. */
  write(reply: DataView, at: number): void {
    const words = this.#words
    reply.setInt32(at, words[0]!, true)
    reply.setInt32(at + 4, words[1]!, true)
    if (!this.#isKept) {
      const nowSeconds = this.#cells[SecretCell.NowSeconds]!
      reply.setInt32(at + 12, nowSeconds)
      words[2] = version
      words[3] = reply.getInt32(at + 12, true)
      const fixed = Atomics.load(this.#cells, SecretCell.Fixed)
      this.#hashWith(fixed === 0 ? slotAt(nowSeconds) : fixed & 3)
    }
    reply.setInt32(at + 8, words[2]!, true)
    reply.setInt32(at + 12, words[3]!, true)
    reply.setInt32(at + 16, this.#hash[0]!, true)
    reply.setInt32(at + 20, this.#hash[1]!, true)
  }

  /** RFC 9018 section 4.4: 4 octets for IPv4, which a dual-stack socket may give in IPv6 form. */
  #takeAddress(source: Uint8Array, at: number, bytes: number): void {
    const words = this.#words
    let count = 0
    for (let from = at; from < at + bytes; from += 4) {
      words[4 + count++] =
        source[from]! |
        (source[from + 1]! << 8) |
        (source[from + 2]! << 16) |
        (source[from + 3]! << 24)
    }
    if (count === 4 && words[4] === 0 && words[5] === 0 && words[6] === mappedWord) {
      words[4] = words[7]!
      count = 1
    }
    // The last pair of words, which holds the length, begins with a one-word address.
    words[4 + count] = 0
    words[5 + count] = 0
    this.#bytes = hashedBytes + count * 4
  }

  #isHashOf(slot: number): boolean {
    this.#hashWith(slot)
    // One test for both halves, so that its time does not show where they differ.
    return ((this.#hash[0]! ^ this.#hashLow) | (this.#hash[1]! ^ this.#hashHigh)) === 0
  }

  #hashWith(slot: number): void {
    siphash(this.#cells, keyCell(slot), this.#words, this.#bytes, this.#hash)
  }
}

/** The slot of the secret for the day of `seconds`; cookies are accepted for days with a slot. */
function slotAt(seconds: number): number {
  return slotOfDay(Math.floor((seconds >>> 0) / daySeconds))
}
