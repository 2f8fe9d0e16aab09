// NAPTR: a rule that rewrites a name. RFC 3403 section 4.
import { nameField, numberField } from '#dns/rdata-text/field.ts'
import { stringField } from '#dns/rdata-text/string-fields.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'
import { isSubstitution } from './naptr-substitution.ts'

const substitutionForm =
  'a substitution in a text as RFC 3402 section 3.2 has it ("!^.*$!sip:info@example.net!"), or ""'

export const naptr = rdataType({
  name: 'NAPTR',
  code: 35,
  fields: [
    numberField('an order', 2),
    numberField('a preference', 2),
    stringField('flags, letters and digits in a text ("u")', /^[0-9a-zA-Z]*$/),
    stringField('a text that names the services'),
    stringField(substitutionForm, { test: isSubstitution }),
    nameField('the name that replaces this one, or .'),
  ],
  namesFold: true,
})
