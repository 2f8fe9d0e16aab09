// RP: a responsible person. RFC 1183 section 2.2.
import { nameField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const rp = rdataType({
  name: 'RP',
  code: 17,
  fields: [
    nameField('a mailbox, as a name, or .'),
    nameField('the name that has more in TXT records, or .'),
  ],
  namesFold: true,
})
