// A value of each common record type, for people who got one wrong.
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'

const examples: Readonly<Record<string, string>> = Object.freeze({
  A: '192.0.2.10',
  AAAA: '2001:db8::10',
  AFSDB: '1 afs.example.net.',
  APL: '1:192.0.2.0/24 !1:192.0.2.64/28',
  CAA: '0 issue "ca.example.net"',
  CERT: 'PKIX 0 0 AQIDBA==',
  CNAME: 'www.example.net.',
  CSYNC: '66 3 A NS AAAA',
  DHCID: 'AAIBY2A=',
  DNAME: 'example.net.',
  DS: '60485 13 2 and 64 hex digits',
  EUI48: '00-00-5e-00-53-2a',
  EUI64: '00-00-5e-ef-10-00-00-2a',
  HINFO: '"PC" "Linux"',
  HIP: '2 200100107b1a74df AQIDBA==',
  HTTPS: '1 . alpn="h2,h3"',
  IPSECKEY: '10 1 2 192.0.2.38 AQIDBA==',
  ISDN: '"150862028003217"',
  KEY: '256 3 8 AQIDBA==',
  KX: '10 kx.example.net.',
  L32: '10 192.0.2.1',
  L64: '10 2001:0db8:1140:1000',
  LOC: '52 22 23.000 N 4 53 32.000 E -2.00m',
  LP: '10 l64.example.net.',
  MINFO: 'admin.example.net. .',
  MX: '10 mail.example.net.',
  NAPTR: '100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .',
  NID: '10 0014:4fff:ff20:ee64',
  NS: 'ns1.example.net.',
  OPENPGPKEY: 'AQIDBA==',
  PTR: 'host.example.net.',
  PX: '10 mail.example.net. x400.example.net.',
  RP: 'admin.example.net. .',
  RT: '10 relay.example.net.',
  SMIMEA: '3 1 1 and hex digits',
  SPF: '"v=spf1 -all"',
  SRV: '10 60 5060 sip.example.net.',
  SSHFP: '4 2 and 64 hex digits',
  SVCB: '1 svc.example.net. alpn="h2"',
  TLSA: '3 1 1 and 64 hex digits',
  TXT: '"some text"',
  URI: '10 1 "https://www.example.net/"',
  X25: '"311061700956"',
  ZONEMD: '2026010101 1 1 and 96 hex digits',
})

/** What follows "such as". */
export function rdataExample({ name }: RdataType): string {
  return examples[name] ?? '\\# 4 c0000201'
}
