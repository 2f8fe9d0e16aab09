// Record types whose rdata is a sequence of fields, each with its RFC.
import { base64Field, digestField } from '#dns/rdata-text/binary-fields.ts'
import { dnssecAlgorithms } from '#dns/rdata-text/dnssec-algorithms.ts'
import {
  addressField,
  codeField,
  nameField,
  numberField,
  secondsField,
} from '#dns/rdata-text/field.ts'
import { hexGroupsField } from '#dns/rdata-text/hex-groups.ts'
import { locationField } from '#dns/rdata-text/location-field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'
import { serviceFields } from '#dns/rdata-text/service-fields.ts'
import {
  restTextField,
  stringField,
  stringFieldOrNone,
  stringsField,
} from '#dns/rdata-text/string-fields.ts'
import { tlsaFields } from '#dns/rdata-text/tlsa-fields.ts'
import { typeBitmapField } from '#dns/rdata-text/type-bitmap.ts'
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'

/** Sorted by code. */
export const fieldTypes: readonly RdataType[] = [
  // A: an IPv4 address of a host. RFC 1035 section 3.4.1.
  rdataType({
    name: 'A',
    code: 1,
    fields: [addressField(4)],
  }),
  // NS: a name server of a zone. RFC 1035 section 3.3.11.
  rdataType({
    name: 'NS',
    code: 2,
    fields: [nameField('the name of a name server')],
    namesCompress: true,
    namesFold: true,
  }),
  // CNAME: the canonical name of an alias. RFC 1035 section 3.3.1.
  rdataType({
    name: 'CNAME',
    code: 5,
    fields: [nameField('the name that this one stands for')],
    namesCompress: true,
    namesFold: true,
  }),
  // SOA: the primary server, serial and timers of a zone. RFC 1035 section 3.3.13.
  rdataType({
    name: 'SOA',
    code: 6,
    fields: [
      nameField('the name of the primary name server'),
      nameField('the mailbox of the zone, as a name (hostmaster.example.com.)'),
      numberField('a serial', 4),
      secondsField('a refresh time'),
      secondsField('a retry time'),
      secondsField('an expire time'),
      secondsField('a minimum time'),
    ],
    namesCompress: true,
    namesFold: true,
  }),
  // PTR: a pointer to another name, as from an address. RFC 1035 section 3.3.12.
  rdataType({
    name: 'PTR',
    code: 12,
    fields: [nameField('the name that is pointed to')],
    namesCompress: true,
    namesFold: true,
  }),
  // HINFO: the CPU and the system of a host, as two texts. RFC 1035 section 3.3.2.
  rdataType({
    name: 'HINFO',
    code: 13,
    fields: [stringField('a text that names the CPU'), stringField('a text that names the system')],
  }),
  // MINFO: mailboxes of a mailing list. RFC 1035 section 3.3.7.
  rdataType({
    name: 'MINFO',
    code: 14,
    fields: [
      nameField('the mailbox that is responsible, as a name'),
      nameField('the mailbox for errors, as a name'),
    ],
    namesCompress: true,
    namesFold: true,
  }),
  // MX: a host that takes mail for this name. RFC 1035 section 3.3.9, RFC 7505.
  rdataType({
    name: 'MX',
    code: 15,
    fields: [numberField('a preference', 2), nameField('the name of a mail server')],
    namesCompress: true,
    namesFold: true,
  }),
  // TXT: one or more texts. RFC 1035 section 3.3.14.
  rdataType({
    name: 'TXT',
    code: 16,
    fields: [stringsField('a text')],
  }),
  // RP: a responsible person. RFC 1183 section 2.2.
  rdataType({
    name: 'RP',
    code: 17,
    fields: [
      nameField('a mailbox, as a name, or .'),
      nameField('the name that has more in TXT records, or .'),
    ],
    namesFold: true,
  }),
  // AFSDB: a server of an AFS cell or a DCE cell. RFC 1183 section 1.
  rdataType({
    name: 'AFSDB',
    code: 18,
    fields: [numberField('a subtype', 2), nameField('the name of a server')],
    namesFold: true,
  }),
  // X25: an address in an X.25 network. RFC 1183 section 3.1.
  rdataType({
    name: 'X25',
    code: 19,
    fields: [stringField('a text of four digits at least', /^\d{4,}$/)],
  }),
  // ISDN: a telephone number, maybe with a subaddress. RFC 1183 section 3.2.
  rdataType({
    name: 'ISDN',
    code: 20,
    fields: [
      stringField('a text with the ISDN address'),
      stringFieldOrNone('a text with the subaddress'),
    ],
  }),
  // RT: a host that relays traffic for this one. RFC 1183 section 3.3.
  rdataType({
    name: 'RT',
    code: 21,
    fields: [numberField('a preference', 2), nameField('the name of a host')],
    namesFold: true,
  }),
  // PX: how addresses of RFC 822 and of X.400 map. RFC 2163 section 4.
  rdataType({
    name: 'PX',
    code: 26,
    fields: [
      numberField('a preference', 2),
      nameField('the part of RFC 822, as a name'),
      nameField('the part of X.400, as a name'),
    ],
    namesFold: true,
  }),
  // AAAA: an IPv6 address of a host. RFC 3596 section 2.
  rdataType({
    name: 'AAAA',
    code: 28,
    fields: [addressField(16)],
  }),
  // LOC: a position on Earth. RFC 1876.
  rdataType({
    name: 'LOC',
    code: 29,
    fields: [locationField],
  }),
  // SRV: the host and port of a service. RFC 2782.
  rdataType({
    name: 'SRV',
    code: 33,
    fields: [
      numberField('a priority', 2),
      numberField('a weight', 2),
      numberField('a port', 2),
      nameField('the name of a server'),
    ],
    namesFold: true,
  }),
  // KX: a host that exchanges keys for this one. RFC 2230 section 3.
  rdataType({
    name: 'KX',
    code: 36,
    fields: [numberField('a preference', 2), nameField('the name of a key exchanger')],
    namesFold: true,
  }),
  // CERT: a certificate, or its URL. RFC 4398.
  rdataType({
    name: 'CERT',
    code: 37,
    fields: [
      codeField('a certificate type', 2, {
        PKIX: 1,
        SPKI: 2,
        PGP: 3,
        IPKIX: 4,
        ISPKI: 5,
        IPGP: 6,
        ACPKIX: 7,
        IACPKIX: 8,
        URI: 253,
        OID: 254,
      }),
      numberField('a key tag', 2),
      codeField('an algorithm', 1, dnssecAlgorithms),
      base64Field('the certificate in base64'),
    ],
  }),
  // DNAME: redirects all names below this one to below another. RFC 6672.
  rdataType({
    name: 'DNAME',
    code: 39,
    fields: [nameField('the name that this subtree moves to')],
    namesFold: true,
  }),
  // DS: the digest of a key of the child zone. RFC 4034 section 5.
  rdataType({
    name: 'DS',
    code: 43,
    fields: [
      numberField('a key tag', 2),
      codeField('an algorithm', 1, dnssecAlgorithms),
      numberField('a digest type', 1),
      digestField('hex digits of the digest', { 1: 20, 2: 32, 4: 48 }),
    ],
  }),
  // SSHFP: the fingerprint of a key of an SSH server. RFC 4255, RFC 6594.
  rdataType({
    name: 'SSHFP',
    code: 44,
    fields: [
      numberField('an algorithm', 1),
      numberField('a fingerprint type', 1),
      digestField('hex digits of the fingerprint', { 1: 20, 2: 32 }),
    ],
  }),
  // DHCID: which DHCP client a name belongs to. RFC 4701.
  rdataType({
    name: 'DHCID',
    code: 49,
    fields: [base64Field('the identifier in base64')],
  }),
  // TLSA: the certificate that a TLS server has. RFC 6698.
  rdataType({
    name: 'TLSA',
    code: 52,
    fields: tlsaFields,
  }),
  // SMIMEA: the certificate that signs someone's mail. RFC 8162.
  rdataType({
    name: 'SMIMEA',
    code: 53,
    fields: tlsaFields,
  }),
  // OPENPGPKEY: the public key for someone's mail. RFC 7929.
  rdataType({
    name: 'OPENPGPKEY',
    code: 61,
    fields: [base64Field('the public key in base64')],
  }),
  // CSYNC: the types that a parent is to copy from this zone. RFC 7477.
  rdataType({
    name: 'CSYNC',
    code: 62,
    fields: [numberField('a serial', 4), numberField('flags', 2), typeBitmapField],
  }),
  // ZONEMD: a digest over a whole zone. RFC 8976 section 2.
  rdataType({
    name: 'ZONEMD',
    code: 63,
    fields: [
      numberField('a serial', 4),
      numberField('a scheme', 1),
      numberField('a hash algorithm', 1),
      digestField('hex digits of the digest', { 1: 48, 2: 64 }),
    ],
  }),
  // SVCB: an endpoint of a service and its parameters. RFC 9460.
  rdataType({
    name: 'SVCB',
    code: 64,
    fields: serviceFields,
  }),
  // HTTPS: an endpoint of a web origin and its parameters. RFC 9460 section 9.
  rdataType({
    name: 'HTTPS',
    code: 65,
    fields: serviceFields,
  }),
  // SPF: same form as TXT, which replaced it. RFC 7208 section 3.1.
  rdataType({
    name: 'SPF',
    code: 99,
    fields: [stringsField('a text')],
  }),
  // NID: a node identifier of ILNP. RFC 6742 section 2.1.
  rdataType({
    name: 'NID',
    code: 104,
    fields: [
      numberField('a preference', 2),
      hexGroupsField({ groups: 4, bytes: 2, sign: ':', example: '0014:4fff:ff20:ee64' }),
    ],
  }),
  // L32: a locator of ILNP with 32 bits. RFC 6742 section 2.2.
  rdataType({
    name: 'L32',
    code: 105,
    fields: [numberField('a preference', 2), addressField(4)],
  }),
  // L64: a locator of ILNP with 64 bits. RFC 6742 section 2.3.
  rdataType({
    name: 'L64',
    code: 106,
    fields: [
      numberField('a preference', 2),
      hexGroupsField({ groups: 4, bytes: 2, sign: ':', example: '2001:0db8:1140:1000' }),
    ],
  }),
  // LP: the name that has the locators of ILNP. RFC 6742 section 2.4.
  rdataType({
    name: 'LP',
    code: 107,
    fields: [numberField('a preference', 2), nameField('the name that has L32 and L64 records')],
  }),
  // EUI48: a hardware address with 48 bits. RFC 7043 section 3.
  rdataType({
    name: 'EUI48',
    code: 108,
    fields: [hexGroupsField({ groups: 6, bytes: 1, sign: '-', example: '00-00-5e-00-53-2a' })],
  }),
  // EUI64: a hardware address with 64 bits. RFC 7043 section 4.
  rdataType({
    name: 'EUI64',
    code: 109,
    fields: [
      hexGroupsField({ groups: 8, bytes: 1, sign: '-', example: '00-00-5e-ef-10-00-00-2a' }),
    ],
  }),
  // URI: the location of a service as a URI. RFC 7553.
  rdataType({
    name: 'URI',
    code: 256,
    fields: [
      numberField('a priority', 2),
      numberField('a weight', 2),
      restTextField('a URI in quotes', false),
    ],
  }),
]
