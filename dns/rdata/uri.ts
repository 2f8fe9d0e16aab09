// URI: where a service is, as a URI. RFC 7553.
import { numberField } from '#dns/rdata-text/field.ts'
import { restTextField } from '#dns/rdata-text/string-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const uri = rdataType({
  name: 'URI',
  code: 256,
  fields: [
    numberField('a priority', 2),
    numberField('a weight', 2),
    restTextField('a URI in quotes', false),
  ],
})
