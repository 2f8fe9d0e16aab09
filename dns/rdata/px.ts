// PX: how addresses of RFC 822 and of X.400 map. RFC 2163 section 4.
import { nameField, numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const px = rdataType({
  name: 'PX',
  code: 26,
  fields: [
    numberField('a preference', 2),
    nameField('the part of RFC 822, as a name'),
    nameField('the part of X.400, as a name'),
  ],
  namesFold: true,
})
