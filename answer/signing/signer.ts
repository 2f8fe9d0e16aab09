// The seam for signatures: what signs rrsets as they are answered, and what keeps signatures.

/** What a signer sees of the reply that is being written: its transaction. */
export interface OpenReply {
  readonly reply: Uint8Array
  readonly replyView: DataView
  /** Where the message begins in `reply`. */
  readonly replyStart: number
  /** Where the next octet goes; a signer moves it. */
  at: number
  /** Where records must end. */
  readonly recordsEnd: number
}

/** Signs on the answer path: it waits for nobody, and allocates nothing. */
export interface Signer {
  /**
   * Writes RRSIG records behind an rrset of one of our zones, for a client that sent DO. They name
   * the zone whole (RFC 4034 section 3.1.7).
   *
   * @param zone row of the zone in the bundle
   * @param owner offset of the owner name from the start of the message
   * @param start of the first record in `to.reply`; the last one ends at `to.at`
   * @returns how many were written; -1: they do not fit
   */
  sign(to: OpenReply, zone: number, owner: number, type: number, start: number): number
}

/** What a signer keeps of its work, in memory that is laid out once. */
export interface SignatureCache {
  /** Rdata of RRSIG records. */
  readonly octets: Uint8Array
  /**
   * @param signed holds, in its first `bytes` octets, an rrset in canonical form (RFC 4034 section
   *   6) and what else a signature covers
   * @returns where in `octets` its signature begins; -1: it is not kept
   */
  find(signed: Uint8Array, bytes: number): number
  /** Keeps a signature, in the place of another where there is no room. @returns as `find` */
  keep(signed: Uint8Array, bytes: number, signature: Uint8Array): number
}

/** No zone is signed. */
export const noSigner: Signer = Object.freeze({ sign: () => 0 })
