// AFSDB: a server of an AFS cell or a DCE cell. RFC 1183 section 1.
import { nameField, numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const afsdb = rdataType({
  name: 'AFSDB',
  code: 18,
  fields: [numberField('a subtype', 2), nameField('the name of a server')],
  namesFold: true,
})
