// TXT: one or more texts. RFC 1035 section 3.3.14.
import { stringsField } from '#dns/rdata-text/string-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const txt = rdataType({
  name: 'TXT',
  code: 16,
  fields: [stringsField('a text')],
})
