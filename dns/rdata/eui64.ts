// EUI64: a hardware address with 64 bits. RFC 7043 section 4.
import { hexGroupsField } from '#dns/rdata-text/hex-groups.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const eui64 = rdataType({
  name: 'EUI64',
  code: 109,
  fields: [hexGroupsField({ groups: 8, bytes: 1, sign: '-', example: '00-00-5e-ef-10-00-00-2a' })],
})
