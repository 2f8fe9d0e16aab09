// KEY: a public key, for SIG(0) and older uses. RFC 2535 section 3, RFC 3445.
import { base64FieldUnless } from '#dns/rdata-text/binary-fields.ts'
import { codeField, numberField } from '#dns/rdata-text/field.ts'
import { dnssecAlgorithms } from '#dns/rdata-text/dnssec-algorithms.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

/** RFC 2535 section 3.1.2: with both bits set, the record has no key. */
const hasNoKey = (flags: number): boolean => (flags & 0xc000) === 0xc000

export const key = rdataType({
  name: 'KEY',
  code: 25,
  fields: [
    numberField('flags', 2),
    numberField('a protocol', 1),
    codeField('an algorithm', 1, dnssecAlgorithms),
    base64FieldUnless(hasNoKey, 'the key in base64'),
  ],
})
