// ISDN: a telephone number, maybe with a subaddress. RFC 1183 section 3.2.
import { rdataType } from '#dns/rdata-text/rdata-type.ts'
import { stringField, stringFieldOrNone } from '#dns/rdata-text/string-fields.ts'

export const isdn = rdataType({
  name: 'ISDN',
  code: 20,
  fields: [
    stringField('a text with the ISDN address'),
    stringFieldOrNone('a text with the subaddress'),
  ],
})
