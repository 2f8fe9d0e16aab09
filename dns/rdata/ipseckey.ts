// IPSECKEY: a key for IPsec and the gateway of its tunnel. RFC 4025.
import { base64Octets, base64Form } from '#dns/rdata-text/binary-fields.ts'
import { addressField, codeField, nameField, numberField } from '#dns/rdata-text/field.ts'
import type { Field } from '#dns/rdata-text/field.ts'
import type { OctetReader } from '#dns/rdata-text/octets.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

const precedence = numberField('a precedence', 1)
const kind = numberField('the kind of gateway, 0 none, 1 IPv4, 2 IPv6, 3 a name', 1)
const algorithm = codeField('an algorithm, 0 for no key', 1, { DSA: 1, RSA: 2, ECDSA: 3 })
const none = 'a dot: there is no gateway'

const noGateway: Field = {
  parse: (values) => {
    const token = values.takePlain(none)
    if (token !== undefined && token.text !== '.') values.fail(token.column, none)
  },
  print: (_octets, _origin, reader) => (reader?.refusesNoGateway === true ? '' : '.'),
}
const gateways: readonly Field[] = [
  noGateway,
  addressField(4),
  addressField(16),
  nameField('the name of the gateway'),
]

const gatewayField: Field = {
  parse: (values, out) => {
    precedence.parse(values, out)
    const kindAt = values.peek()
    kind.parse(values, out)
    if (values.fault !== undefined) return
    const gateway = gateways[out.last!]
    if (gateway === undefined) {
      return values.fail(kindAt!.column, 'the kind of gateway, 0 none, 1 IPv4, 2 IPv6, 3 a name')
    }
    algorithm.parse(values, out)
    const hasKey = out.last !== 0
    gateway.parse(values, out)
    if (!hasKey || values.fault !== undefined) return
    const says = 'the key in base64'
    let text = ''
    let column = 0
    do {
      const token = values.takePlain(says)
      if (token === undefined) return
      column ||= token.column
      text += token.text
    } while (values.peek() !== undefined)
    const key = base64Octets(text)
    if (key === undefined) return values.fail(column, `${says}: ${base64Form}`)
    out.octets(key)
  },
  print: (octets, origin, reader) => {
    const first = precedence.print(octets, origin)
    const number = octets.number(1)
    const algorithmText = algorithm.print(octets, origin)
    const gateway = gateways[number]?.print(octets, origin, reader) ?? octets.fail()
    const texts = [first, number, algorithmText, gateway, keyText(octets, algorithmText)]
    return texts.filter((text) => text !== '').join(' ')
  },
}

function keyText(octets: OctetReader, algorithmText: string): string {
  const key = octets.rest()
  if ((key.length === 0) !== (algorithmText === '0')) octets.fail()
  return Buffer.from(key).toString('base64')
}

export const ipseckey = rdataType({ name: 'IPSECKEY', code: 45, fields: [gatewayField] })
