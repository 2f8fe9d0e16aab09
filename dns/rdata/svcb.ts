// SVCB: an endpoint of a service and its parameters. RFC 9460.
import { serviceFields } from '#dns/rdata-text/service-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const svcb = rdataType({
  name: 'SVCB',
  code: 64,
  fields: serviceFields,
})
