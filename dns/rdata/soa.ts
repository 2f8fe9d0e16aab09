// SOA: how a zone is kept. RFC 1035 section 3.3.13.
import { nameField, numberField, secondsField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const soa = rdataType({
  name: 'SOA',
  code: 6,
  fields: [
    nameField('the name of the primary name server'),
    nameField('the mailbox of the zone, as a name (hostmaster.example.com.)'),
    numberField('a serial', 4),
    secondsField('a refresh time'),
    secondsField('a retry time'),
    secondsField('an expire time'),
    secondsField('a minimum time'),
  ],
  namesCompress: true,
  namesFold: true,
})
