// X25: an address in an X.25 network. RFC 1183 section 3.1.
import { stringField } from '#dns/rdata-text/string-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const x25 = rdataType({
  name: 'X25',
  code: 19,
  fields: [stringField('a text of four digits at least', /^\d{4,}$/)],
})
