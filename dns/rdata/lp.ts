// LP: the name that has the locators of ILNP. RFC 6742 section 2.4.
import { nameField, numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const lp = rdataType({
  name: 'LP',
  code: 107,
  fields: [numberField('a preference', 2), nameField('the name that has L32 and L64 records')],
})
