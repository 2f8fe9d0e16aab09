// CAA: who may issue certificates for this name. RFC 8659 section 4.
import type { Field } from '#dns/rdata-text/field.ts'
import { numberField } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'
import { restTextField } from '#dns/rdata-text/string-fields.ts'

const form = 'a tag of letters and digits, at most 255: issue, issuewild, iodef'

/** The tag, the only character string written without quotes. RFC 8659 section 4.1. */
const tag: Field = {
  parse: (values, out) => {
    const token = values.takePlain(form)
    if (token === undefined) return
    if (!/^[0-9a-zA-Z]{1,255}$/.test(token.text)) return values.fail(token.column, form)
    out.number(token.text.length, 1)
    out.octets(Buffer.from(token.text, 'latin1'))
  },
  print: (octets) => {
    const text = Buffer.from(octets.string()).toString('latin1')
    return /^[0-9a-zA-Z]+$/.test(text) ? text : octets.fail()
  },
}

export const caa = rdataType({
  name: 'CAA',
  code: 257,
  fields: [numberField('flags', 1), tag, restTextField('a value in quotes', true)],
})
