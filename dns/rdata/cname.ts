// CNAME: the name that this one stands for. RFC 1035 section 3.3.1.
import { nameField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const cname = rdataType({
  name: 'CNAME',
  code: 5,
  fields: [nameField('the name that this one stands for')],
  namesCompress: true,
  namesFold: true,
})
