// DNAME: the name below which all names below this one go on. RFC 6672.
import { nameField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const dname = rdataType({
  name: 'DNAME',
  code: 39,
  fields: [nameField('the name that this subtree moves to')],
  namesFold: true,
})
