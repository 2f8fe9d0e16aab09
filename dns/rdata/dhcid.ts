// DHCID: which DHCP client a name belongs to. RFC 4701.
import { base64Field } from '#dns/rdata-text/binary-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const dhcid = rdataType({
  name: 'DHCID',
  code: 49,
  fields: [base64Field('the identifier in base64')],
})
