// The rdata that TLSA and SMIMEA share. RFC 6698 section 2, with the names of RFC 7218.
import { digestField } from './binary-fields.ts'
import { codeField } from './field.ts'
import type { Field } from './field.ts'

export const tlsaFields: readonly Field[] = [
  codeField('a certificate usage', 1, {
    'PKIX-TA': 0,
    'PKIX-EE': 1,
    'DANE-TA': 2,
    'DANE-EE': 3,
    PRIVCERT: 255,
  }),
  codeField('a selector', 1, { CERT: 0, SPKI: 1, PRIVSEL: 255 }),
  codeField('a matching type', 1, { FULL: 0, 'SHA2-256': 1, 'SHA2-512': 2, PRIVMATCH: 255 }),
  digestField('hex digits of the certificate data', { 1: 32, 2: 64 }),
]
