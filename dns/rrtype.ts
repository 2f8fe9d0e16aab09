// Resource record types. IANA "DNS Parameters"; the RFC that matters here is on each line.

export const RrType = {
  A: 1, // RFC 1035 section 3.4.1
  NS: 2, // RFC 1035 section 3.3.11
  CNAME: 5, // RFC 1035 section 3.3.1
  SOA: 6, // RFC 1035 section 3.3.13
  PTR: 12, // RFC 1035 section 3.3.12
  HINFO: 13, // RFC 1035 section 3.3.2; the answer to ANY, RFC 8482 section 4.2
  MX: 15, // RFC 1035 section 3.3.9
  TXT: 16, // RFC 1035 section 3.3.14
  AAAA: 28, // RFC 3596 section 2.1
  SRV: 33, // RFC 2782
  DNAME: 39, // RFC 6672 section 2.1
  OPT: 41, // RFC 6891 section 6.1.1
  DS: 43, // RFC 4034 section 5
  RRSIG: 46, // RFC 4034 section 3
  NSEC: 47, // RFC 4034 section 4
  DNSKEY: 48, // RFC 4034 section 2
  CDS: 59, // RFC 7344 section 3.1
  CDNSKEY: 60, // RFC 7344 section 3.2
  CSYNC: 62, // RFC 7477 section 2
  ZONEMD: 63, // RFC 8976 section 2
  SVCB: 64, // RFC 9460
  HTTPS: 65, // RFC 9460 section 9
  NXNAME: 128, // RFC 9824 section 2
  TKEY: 249, // RFC 2930 section 2
  TSIG: 250, // RFC 8945 section 4.2
  IXFR: 251, // RFC 1995
  AXFR: 252, // RFC 5936
  ANY: 255, // RFC 8482
} as const
export type RrType = (typeof RrType)[keyof typeof RrType]

/** RFC 6895 section 3.1: 128 to 255 are Q and meta types; no zone can hold them. */
export const metaTypeMin = 128
export const metaTypeMax = 255

/** Types that metrics count by name; all others count as OTHER. */
export const rrTypeNames: Readonly<Record<number, string>> = {
  1: 'A',
  2: 'NS',
  5: 'CNAME',
  6: 'SOA',
  12: 'PTR',
  13: 'HINFO',
  15: 'MX',
  16: 'TXT',
  28: 'AAAA',
  33: 'SRV',
  43: 'DS',
  48: 'DNSKEY',
  64: 'SVCB',
  65: 'HTTPS',
  252: 'AXFR',
  255: 'ANY',
  257: 'CAA',
}
