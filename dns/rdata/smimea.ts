// SMIMEA: the certificate that signs someone's mail. RFC 8162.
import { tlsaFields } from '#dns/rdata-text/tlsa-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const smimea = rdataType({
  name: 'SMIMEA',
  code: 53,
  fields: tlsaFields,
})
