// Says when signatures begin and end. Each rrset has periods that begin at a moment of its own, so
// that not all signatures are renewed at once.

/** Seconds. */
export const validity = {
  /** A signature is valid from before its period, for clients whose clock is a day late. */
  backdated: 90_000,
  period: 259_200,
  /**
   * What was signed for the period before is still answered, while it is signed anew where nobody
   * waits: an entry that is asked for is there before it is needed.
   */
  overlap: 3_600,
  /**
   * Seven days from when its period begins. RFC 6781 section 4.4.2 has days in mind: nearly 4 are
   * left when it is answered last.
   */
  total: 694_800,
} as const

/** Inception of a signature that is made now; seconds since 1970, as 32 bits. */
export function inceptionAt(nowSeconds: number, digest: number): number {
  const { period, backdated } = validity
  const offset = (digest & 0x3fff_ffff) % period
  const now = nowSeconds >>> 0
  const begun = now - ((now + offset) % period)
  return (begun - backdated) | 0
}

/**
 * The same of the signature before, which may still be answered.
 *
 * @param inception what `inceptionAt` gives now
 * @returns `inception`: it may not
 */
export function inceptionBefore(nowSeconds: number, inception: number): number {
  const { period, backdated, overlap } = validity
  const sinceBegun = (nowSeconds - backdated - inception) | 0
  return sinceBegun < overlap ? (inception - period) | 0 : inception
}
