// NS: a name server of a zone. RFC 1035 section 3.3.11.
import { nameField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const ns = rdataType({
  name: 'NS',
  code: 2,
  fields: [nameField('the name of a name server')],
  namesCompress: true,
  namesFold: true,
})
