// AAAA: an IPv6 address of a host. RFC 3596 section 2.
import { addressField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const aaaa = rdataType({
  name: 'AAAA',
  code: 28,
  fields: [addressField(16)],
})
