// L32: a locator of ILNP with 32 bits. RFC 6742 section 2.2.
import { addressField, numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const l32 = rdataType({
  name: 'L32',
  code: 105,
  fields: [numberField('a preference', 2), addressField(4)],
})
