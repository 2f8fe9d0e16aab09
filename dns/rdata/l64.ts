// L64: a locator of ILNP with 64 bits. RFC 6742 section 2.3.
import { numberField } from '#dns/rdata-text/field.ts'
import { hexGroupsField } from '#dns/rdata-text/hex-groups.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const l64 = rdataType({
  name: 'L64',
  code: 106,
  fields: [
    numberField('a preference', 2),
    hexGroupsField({ groups: 4, bytes: 2, sign: ':', example: '2001:0db8:1140:1000' }),
  ],
})
