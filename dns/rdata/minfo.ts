// MINFO: mailboxes of a mailing list. RFC 1035 section 3.3.7.
import { nameField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const minfo = rdataType({
  name: 'MINFO',
  code: 14,
  fields: [
    nameField('the mailbox that is responsible, as a name'),
    nameField('the mailbox for errors, as a name'),
  ],
  namesCompress: true,
  namesFold: true,
})
