// CSYNC: what a parent is to copy from this zone. RFC 7477.
import { numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'
import { typeBitmapField } from '#dns/rdata-text/type-bitmap.ts'

export const csync = rdataType({
  name: 'CSYNC',
  code: 62,
  fields: [numberField('a serial', 4), numberField('flags', 2), typeBitmapField],
})
