// NID: a node identifier of ILNP. RFC 6742 section 2.1.
import { numberField } from '#dns/rdata-text/field.ts'
import { hexGroupsField } from '#dns/rdata-text/hex-groups.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const nid = rdataType({
  name: 'NID',
  code: 104,
  fields: [
    numberField('a preference', 2),
    hexGroupsField({ groups: 4, bytes: 2, sign: ':', example: '0014:4fff:ff20:ee64' }),
  ],
})
