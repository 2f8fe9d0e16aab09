// The layout of the DNS message header: offsets, flag bits, opcodes. RFC 1035 section 4.1.1.

/** Octet offsets from the start of the message. */
export const HeaderOffset = {
  Id: 0,
  /** QR, OPCODE, AA, TC, RD */
  Flags1: 2,
  /** RA, Z, AD, CD, RCODE */
  Flags2: 3,
  QdCount: 4,
  AnCount: 6,
  NsCount: 8,
  ArCount: 10,
  End: 12,
} as const

/** Bits of the third octet. */
export const Flag1 = { Qr: 0x80, OpcodeMask: 0x78, Aa: 0x04, Tc: 0x02, Rd: 0x01 } as const

/** Bits of the fourth octet. */
export const Flag2 = { RcodeMask: 0x0f } as const

/** RFC 1035 section 4.1.1, RFC 1996, RFC 2136. */
export const Opcode = { Query: 0, IQuery: 1, Status: 2, Notify: 4, Update: 5 } as const

/** RFC 1035 section 3.2.4; NONE: RFC 2136 section 2.4. */
export const QClass = { In: 1, Ch: 3, None: 254, Any: 255 } as const
