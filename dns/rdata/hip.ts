// HIP: identity tag, key and rendezvous servers of a host; lengths come first. RFC 8005 section 5.
import { base64Form, base64Octets } from '#dns/rdata-text/binary-fields.ts'
import { codeField, nameField } from '#dns/rdata-text/field.ts'
import type { Field } from '#dns/rdata-text/field.ts'
import { OctetWriter } from '#dns/rdata-text/octets.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

const algorithm = codeField('an algorithm of the key', 1, { DSA: 1, RSA: 2, ECDSA: 3 })
const tagForm = 'the host identity tag, hex digits, two for each octet, at most 255 octets'
const keyForm = 'the host identity in base64, in one word'
const server = nameField('the name of a rendezvous server')

const hostIdentityField: Field = {
  parse: (values, out) => {
    const number = new OctetWriter()
    algorithm.parse(values, number)
    const tag = values.takePlain(tagForm)
    if (tag === undefined) return
    if (!/^(?:[0-9a-f]{2}){1,255}$/i.test(tag.text)) return values.fail(tag.column, tagForm)
    const key = values.takePlain(keyForm)
    const octets = key && base64Octets(key.text)
    if (key === undefined) return
    if (octets === undefined || octets.length > 0xffff) {
      return values.fail(key.column, `${keyForm}: ${base64Form}`)
    }
    out.number(tag.text.length / 2, 1)
    out.octets(number.done())
    out.number(octets.length, 2)
    out.octets(Buffer.from(tag.text, 'hex'))
    out.octets(octets)
    while (values.peek() !== undefined && values.fault === undefined) server.parse(values, out)
  },
  print: (octets, origin, reader) => {
    const tagBytes = octets.number(1)
    const number = algorithm.print(octets, origin)
    const keyBytes = octets.number(2)
    const tag = Buffer.from(octets.take(tagBytes)).toString('hex').toUpperCase()
    const key = Buffer.from(octets.take(keyBytes)).toString('base64')
    if (tagBytes === 0 || keyBytes === 0) octets.fail()
    const words = [number, tag, key]
    while (octets.left > 0) words.push(server.print(octets, origin, reader))
    return words.join(' ')
  },
}

export const hip = rdataType({ name: 'HIP', code: 55, fields: [hostIdentityField] })
