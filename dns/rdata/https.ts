// HTTPS: an endpoint of a web origin and its parameters. RFC 9460 section 9.
import { serviceFields } from '#dns/rdata-text/service-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const https = rdataType({
  name: 'HTTPS',
  code: 65,
  fields: serviceFields,
})
