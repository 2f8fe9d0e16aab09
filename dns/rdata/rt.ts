// RT: a host that passes on for this one. RFC 1183 section 3.3.
import { nameField, numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const rt = rdataType({
  name: 'RT',
  code: 21,
  fields: [numberField('a preference', 2), nameField('the name of a host')],
  namesFold: true,
})
