// TLSA: the certificate that a TLS server has. RFC 6698.
import { tlsaFields } from '#dns/rdata-text/tlsa-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const tlsa = rdataType({
  name: 'TLSA',
  code: 52,
  fields: tlsaFields,
})
