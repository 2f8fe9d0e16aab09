// A: an IPv4 address of a host. RFC 1035 section 3.4.1.
import { addressField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const a = rdataType({
  name: 'A',
  code: 1,
  fields: [addressField(4)],
})
