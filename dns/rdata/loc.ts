// LOC: where on Earth. RFC 1876.
import { locationField } from '#dns/rdata-text/location-field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const loc = rdataType({
  name: 'LOC',
  code: 29,
  fields: [locationField],
})
