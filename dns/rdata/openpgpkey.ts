// OPENPGPKEY: the public key for someone's mail. RFC 7929.
import { base64Field } from '#dns/rdata-text/binary-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const openpgpkey = rdataType({
  name: 'OPENPGPKEY',
  code: 61,
  fields: [base64Field('the public key in base64')],
})
