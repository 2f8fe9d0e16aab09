// SSHFP: the fingerprint of a key of an SSH server. RFC 4255, RFC 6594.
import { digestField } from '#dns/rdata-text/binary-fields.ts'
import { numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

export const sshfp = rdataType({
  name: 'SSHFP',
  code: 44,
  fields: [
    numberField('an algorithm', 1),
    numberField('a fingerprint type', 1),
    digestField('hex digits of the fingerprint', { 1: 20, 2: 32 }),
  ],
})
