// DS: the digest of a key of the child zone. RFC 4034 section 5.
import { digestField } from '#dns/rdata-text/binary-fields.ts'
import { codeField, numberField } from '#dns/rdata-text/field.ts'
import { dnssecAlgorithms } from '#dns/rdata-text/dnssec-algorithms.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const ds = rdataType({
  name: 'DS',
  code: 43,
  fields: [
    numberField('a key tag', 2),
    codeField('an algorithm', 1, dnssecAlgorithms),
    numberField('a digest type', 1),
    digestField('hex digits of the digest', { 1: 20, 2: 32, 4: 48 }),
  ],
})
