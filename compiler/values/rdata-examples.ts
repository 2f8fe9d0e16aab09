// A value of each common record type, for people who got one wrong.
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'

const examples: Readonly<Record<string, string>> = Object.freeze({
  A: '192.0.2.10',
  AAAA: '2001:db8::10',
  CAA: '0 issue "ca.example.net"',
  CERT: 'PKIX 0 0 AQIDBA==',
  CNAME: 'www.example.net.',
  DNAME: 'example.net.',
  DS: '60485 13 2 and 64 hex digits',
  HINFO: '"PC" "Linux"',
  HTTPS: '1 . alpn="h2,h3"',
  LOC: '52 22 23.000 N 4 53 32.000 E -2.00m',
  MX: '10 mail.example.net.',
  NAPTR: '100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .',
  NS: 'ns1.example.net.',
  OPENPGPKEY: 'AQIDBA==',
  PTR: 'host.example.net.',
  SMIMEA: '3 1 1 and hex digits',
  SPF: '"v=spf1 -all"',
  SRV: '10 60 5060 sip.example.net.',
  SSHFP: '4 2 and 64 hex digits',
  SVCB: '1 svc.example.net. alpn="h2"',
  TLSA: '3 1 1 and 64 hex digits',
  TXT: '"some text"',
  URI: '10 1 "https://www.example.net/"',
})

/** What follows "such as". */
export function rdataExample({ name }: RdataType): string {
  return examples[name] ?? '\\# 4 c0000201'
}
