// Response codes. RFC 1035 section 4.1.1; RFC 2136 section 2.2; BADVERS: RFC 6891 section 9.

/** The header carries the low four bits, the OPT record the rest. */
export const Rcode = {
  NoError: 0,
  FormErr: 1,
  ServFail: 2,
  NXDomain: 3,
  NotImp: 4,
  Refused: 5,
  YXDomain: 6,
  YXRRSet: 7,
  NXRRSet: 8,
  NotAuth: 9,
  NotZone: 10,
  BadVers: 16,
  /** RFC 7873 section 8. */
  BadCookie: 23,
} as const
export type Rcode = (typeof Rcode)[keyof typeof Rcode]

/** Mnemonic of a code, as `dig` prints it. */
export const rcodeNames: Readonly<Record<number, string>> = {
  0: 'NOERROR',
  1: 'FORMERR',
  2: 'SERVFAIL',
  3: 'NXDOMAIN',
  4: 'NOTIMP',
  5: 'REFUSED',
  6: 'YXDOMAIN',
  7: 'YXRRSET',
  8: 'NXRRSET',
  9: 'NOTAUTH',
  10: 'NOTZONE',
  16: 'BADVERS',
  23: 'BADCOOKIE',
}
