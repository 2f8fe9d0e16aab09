// ZONEMD: a digest over a whole zone. RFC 8976 section 2.
import { digestField } from '#dns/rdata-text/binary-fields.ts'
import { numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const zonemd = rdataType({
  name: 'ZONEMD',
  code: 63,
  fields: [
    numberField('a serial', 4),
    numberField('a scheme', 1),
    numberField('a hash algorithm', 1),
    digestField('hex digits of the digest', { 1: 48, 2: 64 }),
  ],
})
