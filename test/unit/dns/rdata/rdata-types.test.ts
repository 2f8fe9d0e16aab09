import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { canonicalRdata, parseRdata, rdataTypeNamed, rdataTypes } from '#dns/rdata/rdata-types.ts'
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'
import { cpuMsOf } from '#test/support/cpu-time.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const typeOf = (name: string): RdataType => {
  const type = rdataTypeNamed(name)
  if (type === undefined) throw new Error(`${name} is no type`)
  return type
}
const origin = wireName('example.com.')
const hexOf = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')
const letters = (text: string): string => Buffer.from(text, 'latin1').toString('hex')
const exampleCom = '076578616d706c6503636f6d00'
const fooExampleCom = `03666f6f${exampleCom}`

const isdnText = '"150862028003217" "004"'
const apl = '1:192.168.32.0/21 !1:192.168.38.0/28'

/** Type, text, octets in hex, and the text that is printed where it is another one. */
const rows: readonly [type: string, text: string, wire: string, printed?: string][] = [
  ['A', '192.0.2.1', 'c0000201'],
  ['A', '\\# 4 0A000001', '0a000001', '10.0.0.1'],
  ['AAAA', '2001:0DB8::1', '20010db8000000000000000000000001', '2001:db8::1'],
  ['NS', 'a.iana-servers.net.', '01610c69616e612d73657276657273036e657400'],
  ['NS', '@', exampleCom],
  ['CNAME', 'foo', fooExampleCom],
  ['CNAME', 'a\\.b\\;c\\032\\@.', '07612e623b63204000', 'a\\.b\\;c\\032\\@.'],
  ['DNAME', '.', '00'],
  ['PTR', 'foo.example.com.', fooExampleCom, 'foo'],
  ['MX', '10 foo', `000a${fooExampleCom}`],
  // RFC 7505 section 3.
  ['MX', '0 .', '000000'],
  [
    'SOA',
    'foo Host\\.Master.example.com. 20 2h 10m 4w2d 60',
    `${fooExampleCom}0b486f73742e4d6173746572${exampleCom}00000014000${'01c20'}0000025800278d000000003c`,
    'foo Host\\.Master 20 7200 600 2592000 60',
  ],
  [
    'HINFO',
    'DEC-2060 "TOPS 20"',
    `08${letters('DEC-2060')}07${letters('TOPS 20')}`,
    '"DEC-2060" "TOPS 20"',
  ],
  [
    'TXT',
    'plain "two words" ""',
    `05${letters('plain')}09${letters('two words')}00`,
    '"plain" "two words" ""',
  ],
  ['TXT', '"\\"\\\\\\200;()" ü', `06225cc83b282902c3bc`, '"\\"\\\\\\200;()" "\\195\\188"'],
  ['SPF', '"v=spf1 -all"', `0b${letters('v=spf1 -all')}`],
  // RFC 1876 section 4; size and precisions are those that it says are usual.
  [
    'LOC',
    '42 21 54 N 71 06 18 W -24m 30m',
    '0033161389172dd070be15f000988d20',
    '42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m',
  ],
  [
    'LOC',
    '32 7 19 S 116 2 25 E 10m',
    '00121613791b7d2898e6486800989a68',
    '32 7 19.000 S 116 2 25.000 E 10.00m 1.00m 10000.00m 10.00m',
  ],
  [
    'LOC',
    '0 N 0 e -100000.00 0 0m 90000000.00M',
    '00000099800000008000000000000000',
    '0 0 0.000 N 0 0 0.000 E -100000.00m 0.00m 0.00m 90000000.00m',
  ],
  ['SRV', '0 5 5060 foo', `0000000513c4${fooExampleCom}`],
  // RFC 3403 section 6.1.
  [
    'NAPTR',
    '100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp.gatech.edu.',
    '006400320173' +
      `0d${letters('z3950+I2L+I2C')}00` +
      '065f7a33393530045f746370066761746563680365647500',
  ],
  // RFC 4034 section 5.4.
  [
    'DS',
    '60485 5 1 ( 2BB1'.replace('( ', '') + '83AF5F22588179A53B0A 98631FAD1A292118',
    'ec4505012bb183af5f22588179a53b0a98631fad1a292118',
    '60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118',
  ],
  ['DS', '1 ED25519 200 ab', '00010fc8ab', '1 15 200 AB'],
  // RFC 4255 section 3.2.
  [
    'SSHFP',
    '2 1 123456789abcdef67890123456789abcdef67890',
    '0201123456789abcdef67890123456789abcdef67890',
    '2 1 123456789ABCDEF67890123456789ABCDEF67890',
  ],
  ['CERT', 'PKIX 12179 RSASHA256 AQID BAU=', '00012f93080102030405', '1 12179 8 AQIDBAU='],
  // RFC 6698 section 2.3.
  [
    'TLSA',
    '0 0 1 d2abde240d7cd3ee6b4b28c54df034b9 7983a1d16e8a410e4561cb106618e971',
    '000001d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971',
    '0 0 1 D2ABDE240D7CD3EE6B4B28C54DF034B97983A1D16E8A410E4561CB106618E971',
  ],
  ['SMIMEA', 'DANE-EE SPKI Full 0102', '0301000102', '3 1 0 0102'],
  ['OPENPGPKEY', 'mQEN BA==', '99010d04', 'mQENBA=='],
  // RFC 9460 appendix D.
  ['HTTPS', '0 foo.example.com.', `0000${fooExampleCom}`, '0 foo'],
  ['SVCB', '1 .', '000100', '1 .'],
  ['SVCB', '16 foo.example.com. port=53', `0010${fooExampleCom}000300020035`, '16 foo port=53'],
  [
    'SVCB',
    '1 foo.example.com. key667=hello',
    `0001${fooExampleCom}029b000568656c6c6f`,
    '1 foo key667=hello',
  ],
  [
    'SVCB',
    '1 foo.example.com. key667="hello\\210qoo"',
    `0001${fooExampleCom}029b000968656c6c6fd2716f6f`,
    '1 foo key667="hello\\210qoo"',
  ],
  [
    'SVCB',
    '1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"',
    `0001${fooExampleCom}00060020` +
      '20010db8000000000000000000000001' +
      '20010db8000000000000000000530001',
    '1 foo ipv6hint=2001:db8::1,2001:db8::53:1',
  ],
  [
    'SVCB',
    '16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1',
    '001003666f6f076578616d706c65036f726700' +
      '0000000400010004' +
      '00010009026832056833' +
      '2d3139' +
      '00040004c0000201',
    '16 foo.example.org. mandatory=alpn,ipv4hint alpn=h2,h3-19 ipv4hint=192.0.2.1',
  ],
  [
    'SVCB',
    '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
    '001003666f6f076578616d706c65036f726700' + '0001000c08665c6f6f2c626172026832',
    '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
  ],
  [
    'SVCB',
    '16 foo.example.org. alpn=f\\\\\\092oo\\092,bar,h2',
    '001003666f6f076578616d706c65036f726700' + '0001000c08665c6f6f2c626172026832',
    '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
  ],
  [
    'HTTPS',
    '1 . no-default-alpn alpn=h2 ech=AQID dohpath="/q{?dns}" ohttp',
    '000100' +
      '00010003026832' +
      '00020000' +
      '00050003010203' +
      `00070008${letters('/q{?dns}')}` +
      '00080000',
    '1 . alpn=h2 no-default-alpn ech=AQID dohpath=/q{?dns} ohttp',
  ],
  ['MINFO', 'foo .', `${fooExampleCom}00`],
  ['RP', 'foo .', `${fooExampleCom}00`],
  ['AFSDB', '1 foo', `0001${fooExampleCom}`],
  ['X25', '311061700956', `0c${letters('311061700956')}`, '"311061700956"'],
  ['ISDN', '150862028003217 004', `0f${letters('150862028003217')}03${letters('004')}`, isdnText],
  ['ISDN', '"150862028003217"', `0f${letters('150862028003217')}`],
  ['RT', '10 foo', `000a${fooExampleCom}`],
  ['PX', '10 foo @', `000a${fooExampleCom}${exampleCom}`],
  ['KX', '10 foo', `000a${fooExampleCom}`],
  ['KEY', '256 3 RSASHA256 AQ ID', '01000308010203', '256 3 8 AQID'],
  ['KEY', '49152 3 0', 'c0000300'],
  // RFC 3123 section 4.
  ['APL', '1:192.168.32.0/21 !1:192.168.38.0/28', '00011503c0a82000011c83c0a826', apl],
  ['APL', '1:192.168.32.0/21 2:ff00::/8 !2:::/0', '00011503c0a82000020801ff00020080'],
  ['APL', '', ''],
  // RFC 4025 section 3.2.
  ['IPSECKEY', '10 1 2 192.0.2.38 AQ ID', '0a0102c0000226010203', '10 1 2 192.0.2.38 AQID'],
  ['IPSECKEY', '10 0 2 . AQID', '0a0002010203'],
  ['IPSECKEY', '10 2 2 2001:db8::1 AQID', '0a020220010db8000000000000000000000001010203'],
  ['IPSECKEY', '10 3 RSA foo AQID', `0a0302${fooExampleCom}010203`, '10 3 2 foo AQID'],
  ['IPSECKEY', '10 0 0 .', '0a0000'],
  ['DHCID', 'AAIB Y2+A', '000201636f80', 'AAIBY2+A'],
  ['HIP', '2 200100107B1A AQID', '06020003200100107b1a010203'],
  ['HIP', '2 2001 AQID foo b.', `020200032001010203${fooExampleCom}016200`],
  // RFC 7477 section 2.1.1.
  ['CSYNC', '66 3 A NS AAAA', '0000004200030004600000 08'.replace(' ', '')],
  ['CSYNC', '66 3 TYPE65280 A', '00000042000300 0140ff0180'.replace(' ', ''), '66 3 A TYPE65280'],
  ['CSYNC', '66 0', '000000420000'],
  ['ZONEMD', `1 1 1 ${'AB'.repeat(48)}`, `000000010101${'ab'.repeat(48)}`],
  // RFC 6742 section 2.
  ['NID', '10 14:4fff:ff20:ee64', '000a00144fffff20ee64', '10 0014:4fff:ff20:ee64'],
  ['L32', '10 10.1.2.0', '000a0a010200'],
  ['L64', '10 2001:0db8:1140:1000', '000a20010db811401000'],
  ['LP', '10 foo', `000a${fooExampleCom}`],
  // RFC 7043 sections 3.2 and 4.2.
  ['EUI48', '00-00-5E-00-53-2a', '00005e00532a', '00-00-5e-00-53-2a'],
  ['EUI64', '00-00-5e-ef-10-00-00-2a', '00005eef1000002a'],
  [
    'LOC',
    '42 21 .5 N 71 6 18. W +5m .5m 5.m',
    '0051521389165cd470be15f000989874',
    '42 21 0.500 N 71 6 18.000 W 5.00m 0.50m 5.00m 10.00m',
  ],
  // RFC 7553 section 4.6.
  [
    'URI',
    '10 1 "ftp://ftp1.example.com/public"',
    `000a0001${letters('ftp://ftp1.example.com/public')}`,
  ],
  // RFC 8659 section 4.2.
  [
    'CAA',
    '0 issue "ca1.example.net; account=230123"',
    `00056973737565${letters('ca1.example.net; account=230123')}`,
  ],
  ['CAA', '128 tbs ""', '8003746273'],
  // RFC 3597 section 5.
  [
    'TYPE731',
    '\\# 6 abcdef ( 01 23 45 )'.replace(/[()] ?/g, ''),
    'abcdef012345',
    '\\# 6 abcdef012345',
  ],
  ['TYPE62347', '\\# 0', ''],
  ['TYPE1', '10.0.0.1', '0a000001'],
  ['DNSKEY', '\\# 4 01000305', '01000305'],
]

describe('rdata goes from text to octets and back', () => {
  test.each(rows)('%s %s', (name, text, wire, printed = text) => {
    const type = typeOf(name)
    const rdata = parseRdata(type, text, origin)
    expect(rdata.ok ? hexOf(rdata.value) : rdata.error).toBe(wire)
    if (rdata.ok) expect(type.print(rdata.value, origin)).toBe(printed)
    expect(parseRdata(type, printed, origin)).toEqual(rdata)
  })

  test('every type of the table has a row', () => {
    const tested = new Set(rows.map(([type]) => type))
    expect(rdataTypes.filter(({ name }) => !tested.has(name))).toEqual([])
  })
})

const long = 'a'.repeat(64)
const faults: readonly [type: string, text: string, column: number, expected: string][] = [
  ['A', '', 1, 'an IPv4 address (192.0.2.1)'],
  ['A', '192.0.2.256', 1, 'an IPv4 address (192.0.2.1)'],
  ['A', '2001:db8::1', 1, 'an IPv4 address (192.0.2.1)'],
  ['A', '"192.0.2.1"', 1, 'an IPv4 address (192.0.2.1), without quotes'],
  ['A', '192.0.2.1 192.0.2.2', 11, 'nothing more'],
  ['A', '\\# 3 0A0000', 6, 'octets that are the rdata of A'],
  ['AAAA', ' 192.0.2.1', 2, 'an IPv6 address (2001:db8::1)'],
  ['NS', 'a..b.', 3, 'the name of a name server: a label before this dot'],
  ['NS', `${long}.`, 64, 'the name of a name server: labels of at most 63 octets'],
  ['CNAME', 'a\\25x', 2, 'after a backslash three digits up to 255, or one character'],
  [
    'CNAME',
    'bücher.',
    2,
    'the name that this one stands for in ASCII (xn--… for other letters), \\DDD for other octets',
  ],
  [
    'DNAME',
    `${'a.'.repeat(128)}`,
    255,
    'the name that this subtree moves to: a name of at most 255 octets',
  ],
  [
    'PTR',
    `${'a.'.repeat(122)}a`,
    1,
    'the name that is pointed to: a name of at most 255 octets, its origin included',
  ],
  ['MX', '10', 3, 'the name of a mail server'],
  ['MX', 'mail 10', 1, 'a preference, 0 to 65535'],
  ['MX', '65536 mail', 1, 'a preference, 0 to 65535'],
  [
    'SOA',
    'a b 1 2x 3 4 5',
    7,
    'a refresh time: seconds, or numbers with w, d, h, m or s (1h30m), up to 4294967295',
  ],
  ['SOA', 'a b 1 2 3 4', 12, 'a minimum time'],
  ['HINFO', 'one', 4, 'a text that names the system'],
  ['TXT', '', 1, 'a text'],
  ['TXT', 'v=DMARC1; p=none', 9, 'quotes around a text that has a semicolon, or \\; for one'],
  ['TXT', '"open', 1, 'a closing quote on the same line'],
  ['TXT', '"a"b', 4, 'white space after the closing quote'],
  ['TXT', 'a"b"', 2, 'white space before a quote, or \\" for one'],
  [
    'TXT',
    'a b(c',
    4,
    'quotes around a text that has a parenthesis: only zone files group with them',
  ],
  ['TXT', '"a\\256"', 3, 'after a backslash three digits up to 255, or one character'],
  ['TXT', '"a\u0007"', 3, '\\DDD for a control character'],
  ['TXT', 'a\ud800', 2, 'a whole character: this is half of a pair'],
  ['TXT', `"${'x'.repeat(300)}"`, 257, 'a text of at most 255 octets; go on in another one'],
  ['SPF', `${'\\120'.repeat(256)}`, 1021, 'a text of at most 255 octets; go on in another one'],
  ['LOC', '91 N 0 E 0m', 1, 'the degrees of latitude, 0 to 90'],
  ['LOC', '90 1 N 0 E 0m', 1, 'a latitude of at most 90 degrees'],
  ['LOC', '1 60 N 0 E 0m', 3, 'minutes, 0 to 59, or S or N after the latitude'],
  ['LOC', '1 N 1 1 1.2345 E 0m', 9, 'seconds, 0 to 59.999, or W or E after the longitude'],
  ['LOC', '1 N 1 E 99999999m', 9, 'an altitude in metres, -100000.00m to 42849672.95m'],
  ['LOC', '1 N 1 E 1m -1m', 12, 'the size in metres, 0.00m to 90000000.00m'],
  ['SRV', '0 5 70000 foo', 5, 'a port, 0 to 65535'],
  ['NAPTR', '1 1 "u" "x" "!(a!b!" .', 13, 'a substitution in a text as RFC 3402 section 3.2'],
  ['NAPTR', '1 1 "s!" "" "" .', 5, 'flags, letters and digits in a text ("u")'],
  ['DS', '1 8 2 ABCD', 7, 'hex digits of the digest: 64 for this kind of digest'],
  ['DS', '1 NOPE 2 ABCD', 3, 'an algorithm, 0 to 255, or RSAMD5, DH, DSA, RSASHA1'],
  ['SSHFP', '1 1 12G4', 7, 'hex digits of the fingerprint'],
  [
    'CERT',
    '1 1 8 AQI',
    7,
    'the certificate in base64: groups of four characters, the last one padded with =',
  ],
  ['TLSA', '3 1 0 123', 7, 'hex digits of the certificate data, two for each octet'],
  ['SMIMEA', '3 1 2 12', 7, 'hex digits of the certificate data: 128 for this kind of digest'],
  ['OPENPGPKEY', 'AQI- AAAA', 4, 'the public key in base64'],
  ['HTTPS', '0 foo alpn=h2', 7, 'no parameters after a priority of 0'],
  ['HTTPS', '1 . alpn', 9, 'names of protocols, 1 to 255 octets each: alpn=h2,h3'],
  ['HTTPS', '1 . alpn=h2,,h3', 13, 'names of protocols, 1 to 255 octets each: alpn=h2,h3'],
  ['HTTPS', '1 . port=1 port=2', 12, 'each parameter only once'],
  ['HTTPS', '1 . no-default-alpn', 5, 'alpn=… beside no-default-alpn'],
  ['HTTPS', '1 . no-default-alpn=1 alpn=h2', 21, 'no-default-alpn without a value'],
  ['SVCB', '1 . mandatory=alpn', 5, 'each mandatory parameter to be there: alpn is not'],
  [
    'SVCB',
    '1 . mandatory=port,port port=1',
    20,
    'names of other parameters, each once, with commas between them',
  ],
  [
    'SVCB',
    '1 . mandatory=mandatory',
    15,
    'names of other parameters, each once, with commas between them',
  ],
  ['SVCB', '1 . port=65536', 10, 'a port, 0 to 65535'],
  ['SVCB', '1 . ipv4hint=192.0.2.1,x', 24, 'IPv4 addresses with commas between them'],
  ['SVCB', '1 . ipv6hint="::1,192.0.2.1"', 19, 'IPv6 addresses with commas between them'],
  [
    'SVCB',
    '1 . ech=AQI',
    9,
    'an ECHConfigList in base64: groups of four characters, the last one padded with =',
  ],
  ['SVCB', '1 . dohpath=/dns-query', 13, 'a path with the variable dns: dohpath=/dns-query{?dns}'],
  ['SVCB', '1 . key03=x', 5, 'a parameter: mandatory, alpn, no-default-alpn, port, ipv4hint'],
  ['SVCB', '1 . key65535=x', 5, 'a parameter: mandatory, alpn, no-default-alpn, port, ipv4hint'],
  ['SVCB', '1 . key3=x', 10, 'the octets of port as they are on the wire'],
  ['SVCB', '\\# 11 0001 00 0003 0004 00350035', 7, 'octets that are the rdata of SVCB'],
  ['URI', '1 1 ""', 5, 'a URI in quotes'],
  ['MINFO', 'foo', 4, 'the mailbox for errors, as a name'],
  ['RP', 'foo', 4, 'the name that has more in TXT records, or .'],
  ['AFSDB', 'x foo', 1, 'a subtype, 0 to 65535'],
  ['X25', '12a4', 1, 'a text of four digits at least'],
  ['ISDN', '1 2 3', 5, 'nothing more'],
  ['RT', '1', 2, 'the name of a host'],
  ['PX', '1 foo', 6, 'the part of X.400, as a name'],
  ['KX', '1', 2, 'the name of a key exchanger'],
  ['KEY', '256 3 8', 8, 'the key in base64'],
  ['APL', '1:192.0.2.0/24 1:192.0.2.0/33', 16, 'a network with its family: 1:192.0.2.0/24'],
  ['APL', '2:192.0.2.0/24', 1, 'a network with its family: 1:192.0.2.0/24'],
  ['IPSECKEY', '10 4 2 . AQID', 4, 'the kind of gateway, 0 none, 1 IPv4, 2 IPv6, 3 a name'],
  ['IPSECKEY', '10 0 2 foo AQID', 8, 'a dot: there is no gateway'],
  ['IPSECKEY', '10 0 2 .', 9, 'the key in base64'],
  ['IPSECKEY', '10 0 2 . AQI', 10, 'the key in base64: groups of four characters'],
  ['DHCID', 'AQI', 1, 'the identifier in base64'],
  ['HIP', '2 200 AQID', 3, 'the host identity tag, hex digits, two for each octet'],
  ['HIP', '2 2001 AQI', 8, 'the host identity in base64, in one word'],
  ['CSYNC', '1 1 A NOPE', 7, 'a record type: A, or TYPE65280'],
  ['ZONEMD', '1 1 1 ABCD', 7, 'hex digits of the digest: 96 for this kind of digest'],
  ['NID', '10 1:2:3', 4, '4 groups of hex digits with : between them'],
  ['L32', '10 2001:db8::1', 4, 'an IPv4 address (192.0.2.1)'],
  ['L64', '10 1:2:3:4:5', 4, '4 groups of hex digits with : between them'],
  ['LP', '10', 3, 'the name that has L32 and L64 records'],
  ['EUI48', '0-0-5e-00-53-2a', 1, '6 groups of hex digits with - between them'],
  ['EUI64', '00-00-5e-00-53-2a', 1, '8 groups of hex digits with - between them'],
  ['CAA', '0 issue', 8, 'a value in quotes'],
  ['CAA', '0 is-sue ""', 3, 'a tag of letters and digits, at most 255: issue, issuewild, iodef'],
  ['CAA', '256 issue ""', 1, 'flags, 0 to 255'],
  ['TYPE65280', 'abcd', 1, 'the form of RFC 3597: \\#, the number of octets, and their hex digits'],
  ['TYPE65280', '\\# 3 abcd', 4, '2, as many octets as there are hex digits for'],
  ['TYPE65280', '\\# 65536 00', 4, 'the number of octets, 0 to 65535'],
]

describe('a fault is told with its column and what was expected', () => {
  test.each(faults)('%s %s', (name, text, column, expected) => {
    const rdata = parseRdata(typeOf(name), text, origin)
    expect(rdata.ok ? hexOf(rdata.value) : rdata.error.column).toBe(column)
    if (!rdata.ok) expect(rdata.error.expected.slice(0, expected.length)).toBe(expected)
  })

  test('every type of the table has a row', () => {
    const tested = new Set(faults.map(([type]) => type))
    expect(rdataTypes.filter(({ name }) => !tested.has(name))).toEqual([])
  })

  test('a relative name without an origin', () => {
    const [relative, at] = ['foo', '@'].map((text) => parseRdata(typeOf('NS'), text))
    expect(relative).toMatchObject({ error: { column: 4 } })
    expect(at).toMatchObject({ error: { column: 1 } })
  })

  test('more octets than an rdata can have', () => {
    const text = `"${'x'.repeat(255)}" `.repeat(257)
    const rdata = parseRdata(typeOf('TXT'), text)
    expect(rdata).toEqual({
      ok: false,
      error: { column: 1, expected: 'at most 65535 octets of rdata' },
    })
    expect(parseRdata(typeOf('TXT'), text.repeat(10)).ok).toBe(false)
  })
})

test('types that no zone can hold have no parser', () => {
  const names = ['ANY', 'OPT', 'TYPE41', 'TYPE255', 'TYPE0', 'TYPE65536', 'AXFR', 'constructor', '']
  expect(names.filter((name) => rdataTypeNamed(name) !== undefined)).toEqual([])
})

test('octets that are none of the type are printed in the form of any type', () => {
  expect(typeOf('A').print(Uint8Array.of(1, 2))).toBe('\\# 2 0102')
  expect(typeOf('MX').print(Uint8Array.of(0, 1, 0xc0, 0))).toBe('\\# 4 0001c000')
  expect(typeOf('MX').nameOffsets(Uint8Array.of(0, 1))).toBeUndefined()
})

describe('in the canonical form', () => {
  const shown = (name: string, text: string): string => {
    const rdata = parseRdata(typeOf(name), text)
    if (!rdata.ok) throw new Error(rdata.error.expected)
    return typeOf(name).print(canonicalRdata(typeOf(name), rdata.value))
  }

  test('names of the old types are in lower case', () => {
    expect(shown('MX', '10 Mail.EXAMPLE.')).toBe('10 mail.example.')
    expect(shown('SOA', 'NS.X. HOST.X. 1 2 3 4 5')).toBe('ns.x. host.x. 1 2 3 4 5')
    expect(shown('SRV', '1 2 3 A.B.')).toBe('1 2 3 a.b.')
    expect(shown('NAPTR', '1 2 "S" "A" "" C.')).toBe('1 2 "S" "A" "" c.')
    expect(shown('DNAME', 'A.')).toBe('a.')
  })

  test('octets of a Buffer stay as they are', () => {
    const octets = Buffer.from('\0\x0a\x04Mail\0', 'latin1')
    expect(hexOf(canonicalRdata(typeOf('MX'), octets))).toBe('000a046d61696c00')
    expect(hexOf(octets)).toBe('000a044d61696c00')
  })

  test('names of newer types and texts stay as they are', () => {
    expect(shown('SVCB', '1 A.B.')).toBe('1 A.B.')
    expect(shown('TXT', '"ABC"')).toBe('"ABC"')
  })

  test('only types of RFC 1035 say that their names may be compressed', () => {
    const compressing = rdataTypes.filter(({ namesCompress }) => namesCompress)
    expect(compressing.map(({ name }) => name)).toEqual([
      'NS',
      'CNAME',
      'SOA',
      'PTR',
      'MINFO',
      'MX',
    ])
  })
})

const corpus = new URL('../../../fuzz/corpus/rdata/', import.meta.url)
describe('hostile values are refused by every type', () => {
  test.each(readdirSync(corpus))('%s', (file) => {
    const text = readFileSync(new URL(file, corpus), 'utf8')
    for (const type of rdataTypes) {
      const rdata = parseRdata(type, text, origin)
      expect(rdata.ok).toBe(false)
    }
  })

  test('a path of many names takes time that grows with its length, and no faster', async () => {
    const type = rdataTypeNamed('SVCB')!
    const path = (end: string): string => `1 . dohpath="/{?${'dns,'.repeat(14_000)}${end}"`
    expect(parseRdata(type, path('x}'), origin).ok).toBe(true)
    // Some milliseconds; with the square of the length it was seconds.
    const refused = () => expect(parseRdata(type, path(''), origin).ok).toBe(false)
    expect(await cpuMsOf(refused)).toBeLessThan(400)
  })
})
