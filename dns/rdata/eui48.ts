// EUI48: a hardware address with 48 bits. RFC 7043 section 3.
import { hexGroupsField } from '#dns/rdata-text/hex-groups.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const eui48 = rdataType({
  name: 'EUI48',
  code: 108,
  fields: [hexGroupsField({ groups: 6, bytes: 1, sign: '-', example: '00-00-5e-00-53-2a' })],
})
