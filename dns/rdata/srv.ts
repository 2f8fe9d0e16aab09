// SRV: the host and port of a service. RFC 2782.
import { nameField, numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const srv = rdataType({
  name: 'SRV',
  code: 33,
  fields: [
    numberField('a priority', 2),
    numberField('a weight', 2),
    numberField('a port', 2),
    nameField('the name of a server'),
  ],
  namesFold: true,
})
