// PTR: a name at which to go on, as for an address. RFC 1035 section 3.3.12.
import { nameField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const ptr = rdataType({
  name: 'PTR',
  code: 12,
  fields: [nameField('the name that is pointed to')],
  namesCompress: true,
  namesFold: true,
})
