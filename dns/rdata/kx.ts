// KX: a host that exchanges keys for this one. RFC 2230 section 3.
import { nameField, numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const kx = rdataType({
  name: 'KX',
  code: 36,
  fields: [numberField('a preference', 2), nameField('the name of a key exchanger')],
  namesFold: true,
})
