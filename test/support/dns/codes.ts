// Numbers of the IANA registry that the tests name. Written apart from the product's own tables.

export const typeNumbers: Readonly<Record<string, number>> = Object.freeze({
  A: 1,
  NS: 2,
  MD: 3,
  CNAME: 5,
  SOA: 6,
  NULL: 10,
  WKS: 11,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  RRSIG: 46,
  RP: 17,
  AAAA: 28,
  LOC: 29,
  SRV: 33,
  NAPTR: 35,
  DNAME: 39,
  OPT: 41,
  DS: 43,
  SSHFP: 44,
  NSEC: 47,
  DNSKEY: 48,
  TLSA: 52,
  CDS: 59,
  CDNSKEY: 60,
  SVCB: 64,
  HTTPS: 65,
  SPF: 99,
  NXNAME: 128,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
  URI: 256,
  CAA: 257,
})

export const classNumbers: Readonly<Record<string, number>> = Object.freeze({
  IN: 1,
  CS: 2,
  CH: 3,
  HS: 4,
  NONE: 254,
  ANY: 255,
})

const Rcode = Object.freeze({
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  BADVERS: 16,
})

export const OptionCode = Object.freeze({
  NSID: 3,
  ZONEVERSION: 19,
  ECS: 8,
  COOKIE: 10,
  KEEPALIVE: 11,
  PADDING: 12,
  EDE: 15,
})

/** `A`, or `TYPE65280`, the form of RFC 3597 section 5 for unnamed types. */
export function typeNumber(text: string): number {
  const known = typeNumbers[text]
  if (known !== undefined) return known
  const generic = /^TYPE(\d+)$/.exec(text)
  if (generic === null) throw new Error(`no RR type is called ${text}`)
  return Number(generic[1])
}

export function typeName(number: number): string {
  return nameIn(typeNumbers, number) ?? `TYPE${number}`
}

export function classNumber(text: string): number {
  const known = classNumbers[text]
  if (known !== undefined) return known
  const generic = /^CLASS(\d+)$/.exec(text)
  if (generic === null) throw new Error(`no class is called ${text}`)
  return Number(generic[1])
}

export function className(number: number): string {
  return nameIn(classNumbers, number) ?? `CLASS${number}`
}

export function rcodeName(number: number): string {
  return nameIn(Rcode, number) ?? `RCODE${number}`
}

function nameIn(table: Readonly<Record<string, number>>, number: number): string | undefined {
  return Object.keys(table).find((name) => table[name] === number)
}
