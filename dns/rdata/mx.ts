// MX: a host that takes mail for this name. RFC 1035 section 3.3.9, RFC 7505.
import { nameField, numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const mx = rdataType({
  name: 'MX',
  code: 15,
  fields: [numberField('a preference', 2), nameField('the name of a mail server')],
  namesCompress: true,
  namesFold: true,
})
