// EDNS constants: option codes, flag bits, extended error codes. RFC 6891, RFC 8914.

export const EdnsOption = {
  Nsid: 3, // RFC 5001
  ClientSubnet: 8, // RFC 7871
  Cookie: 10, // RFC 7873
  TcpKeepalive: 11, // RFC 7828
  Padding: 12, // RFC 7830
  ExtendedError: 15, // RFC 8914
  ZoneVersion: 19, // RFC 9660
} as const

/** Top bit of the second half of the OPT TTL. RFC 3225 section 3. */
export const ednsDoBit = 0x8000
/** The bit below DO: the client understands compact answers. RFC 9824 section 5.1. */
export const ednsCoBit = 0x4000

/** RFC 8914 section 4. */
export const ExtendedError = {
  /** 4.1: the extra text gives the reason; here: no member may answer. */
  Other: 0,
  /** 4.15: the server is not ready to serve; here: no bundle yet. */
  NotReady: 14,
  /** 4.16: a list kept by the operator blocks the name. */
  Blocked: 15,
  /** 4.19: the client may not do this. */
  Prohibited: 18,
  /** 4.21: the server is not authoritative for the name. */
  NotAuthoritative: 20,
  /** 4.22: the operation or qtype is not supported. */
  NotSupported: 21,
  /** 4.25: there are no valid data for the zone; here: it has expired, or not come yet. */
  InvalidData: 24,
  /** RFC 9824 section 9: nobody may ask for this type. */
  InvalidQueryType: 30,
} as const
