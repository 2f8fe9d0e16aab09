// HINFO: what a host is, in two texts. RFC 1035 section 3.3.2.
import { stringField } from '#dns/rdata-text/string-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const hinfo = rdataType({
  name: 'HINFO',
  code: 13,
  fields: [stringField('a text that names the CPU'), stringField('a text that names the system')],
})
