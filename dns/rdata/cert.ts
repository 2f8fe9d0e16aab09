// CERT: a certificate, or where it is. RFC 4398.
import { base64Field } from '#dns/rdata-text/binary-fields.ts'
import { codeField, numberField } from '#dns/rdata-text/field.ts'
import { dnssecAlgorithms } from '#dns/rdata-text/dnssec-algorithms.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const cert = rdataType({
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
})
