// SPF: in the form of TXT, which has taken its place. RFC 7208 section 3.1.
import { stringsField } from '#dns/rdata-text/string-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const spf = rdataType({
  name: 'SPF',
  code: 99,
  fields: [stringsField('a text')],
})
