// A zone file with every record type in many forms, as people write them.
const head = `$TTL 1h
$ORIGIN example.com.
@ IN SOA ns1 host\\.master ( 2026010101 ; serial
      2h 15m 4w2d 5m ) ; times
  NS ns1
  NS ns2.example.net.
  MX 10 mail
  MX 0 mail.Example.NET.
  TXT "v=spf1 mx -all"
  CAA 0 issue "ca.example.net; account=1"
  CAA 128 tbs ""
ns1 300 A 192.0.2.1
    300 AAAA 2001:DB8::0001
mail A 192.0.2.2
*.wild 60 TXT any
bob's\\032printer&co 60 SRV 0 0 631 mail
old DNAME new
$GENERATE 1-20/2 gen$ A 192.0.2.$
$GENERATE 0-9 \${0,3,d}.rev PTR gen$
`
const digest = (octets: number, n: number): string =>
  n
    .toString(16)
    .padStart(2, '0')
    .repeat(octets)
    .slice(0, octets * 2)

/** An owner for each type, with values that differ by the number. */
const forms: readonly ((n: number) => string)[] = [
  (n) => `A 10.0.${n}.1\n A 10.0.${n}.2`,
  (n) => `AAAA 2001:db8::${n.toString(16)}:0:0:1`,
  (n) => `CNAME target${n}`,
  (n) => `DNAME t${n}.example.org.`,
  (n) => `MX ${n} mail\n MX ${n + 1} mail${n}.example.org.`,
  (n) => `TXT "number ${n}" plain\\"${n} "semi;colon (${n}) \\\\ \\2${10 + n}" ""`,
  (n) => `SPF "v=spf1 ip4:10.0.${n}.0/24 -all"`,
  (n) =>
    `NS ns1\n NS ns${n}.example.org.\n DS ${n} ECDSAP256SHA256 2 ${digest(20, n)} ${digest(12, n)}`,
  (n) => `DS ${n} 8 1 ${digest(20, n)}\n DS ${n} 8 4 ${digest(48, n)}\n NS ns1`,
  (n) => `SRV ${n} 5 5060 sip${n}`,
  (n) => `CAA 0 issuewild "ca${n}.example; policy=\\"ev\\""`,
  (n) => `PTR host${n}.example.net.`,
  (n) => `NAPTR ${n} 50 "u" "E2U+sip" "!^.*$!sip:x${n}@example.com!" .`,
  (n) => `SSHFP 4 2 ${digest(32, n)}\n SSHFP 1 1 ${digest(20, n)}`,
  (n) => `TLSA 3 1 1 ${digest(32, n)}\n TLSA 0 0 0 ${digest(70, n)}`,
  (n) => `SMIMEA 3 1 2 ${digest(64, n)}`,
  (n) => `HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.${n} ipv6hint=2001:db8::${n} port=${443 + n}`,
  (n) => `HTTPS 0 pool${n}.example.net.`,
  (n) =>
    `SVCB ${n} svc key${667 + n}="a\\210b" mandatory=port,alpn alpn="x\\\\,y,h2" port=1 no-default-alpn`,
  (n) => `SVCB 2 . ech=AEX+DQ== dohpath=/q{?dns} alpn=h2 key65${200 + n}`,
  (n) => `URI ${n} 1 "https://example.com/${n}?a=b;c"`,
  (n) => `LOC ${n} 21 54.${n} N 71 6 18 W -24.5m 30m ${n}m 10m\n LOC ${n} S ${n} E 0`,
  (n) => `CERT ${n % 2 === 0 ? 'PKIX' : 'PGP'} ${n} RSASHA256 AQID BAU=`,
  (n) => `OPENPGPKEY mQENBA${digest(3, n).slice(0, 2)}`,
  (n) => `HINFO "CPU ${n}" OS`,
  (n) => `MINFO admins${n} .`,
  (n) => `RP admin${n} txt`,
  (n) => `AFSDB ${n} afs`,
  (n) => `X25 31106170095${n}`,
  (n) => `ISDN 15086202800${n} 00${n}\n ISDN 15086202801${n}`,
  (n) => `RT ${n} relay`,
  (n) => `KEY 256 3 RSASHA256 AQID BA${digest(1, n)}`,
  (n) => `PX ${n} map.example.org. x400`,
  (n) => `KX ${n} kx`,
  (n) => `APL 1:10.${n}.0.0/16 !1:10.${n}.1.0/24 2:2001:db8:${n}::/48`,
  (n) => `IPSECKEY ${n} 1 2 192.0.2.${n} AQID\n IPSECKEY ${n} 3 2 gw AQID`,
  (n) => `IPSECKEY ${n} 2 2 2001:db8::${n} AQID\n IPSECKEY ${n} 0 2 . AQID`,
  (n) => `DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2k${10 + n}A=`,
  (n) => `HIP 2 200100107B1A74DF365639CC39F1D5${digest(1, n)} AwEAAbdx rvs${n}`,
  (n) => `CSYNC ${n} 3 A NS AAAA TYPE65${280 + n}`,
  (n) => `ZONEMD 2026010101 1 ${240 + (n % 4)} ${digest(48, n)}`,
  (n) => `NID ${n} 14:4fff:ff20:${digest(2, n)}`,
  (n) => `L32 ${n} 10.1.2.${n}`,
  (n) => `L64 ${n} 2001:0db8:1140:${digest(2, n)}`,
  (n) => `LP ${n} l64.example.org.`,
  (n) => `EUI48 00-00-5E-00-53-${digest(1, n)}`,
  (n) => `EUI64 00-00-5e-ef-10-00-00-${digest(1, n)}`,
  (n) => `TYPE65${280 + n} \\# 4 0a00 00${n.toString(16).padStart(2, '0')}`,
  (n) => `TYPE1 \\# 4 0a00${digest(1, n)}01`,
]

/** `each` owners of every form. */
export function zoneOfAllTypes(each: number): string {
  const lines = forms.flatMap((form, i) =>
    Array.from(
      { length: each },
      (_, n) => `N${n + 1}.f${i} ${60 + n} IN ${form(n + 1).replaceAll('\n ', `\n ${60 + n} `)}\n`,
    ),
  )
  return head + lines.join('')
}
