// APL: a list of address prefixes with their family, each included or negated. RFC 3123.
import { formatAddress, parseAddress } from '#dns/address.ts'
import type { Field } from '#dns/rdata-text/field.ts'
import { rdataType } from '#dns/rdata-text/rdata-type.ts'

/** Octets of an address by family number. */
const familyBytes: Readonly<Record<string, number>> = { 1: 4, 2: 16 }
const form = 'a network with its family: 1:192.0.2.0/24, 2:2001:db8::/32, or !1:192.0.2.64/28'

const prefixesField: Field = {
  parse: (values, out) => {
    for (let token = values.peek(); token !== undefined; token = values.peek()) {
      values.takePlain(form)
      const shape = /^(!?)([12]):([0-9a-f.:]+)\/(\d{1,3})$/i.exec(token.text)
      const [, negation, family, text, prefix] = shape ?? []
      const address = parseAddress(text ?? '')
      const bytes = familyBytes[family ?? ''] ?? 0
      const isAddress = address.ok && address.value.length === bytes
      if (!isAddress || Number(prefix) > bytes * 8) return values.fail(token.column, form)
      let length = bytes
      // Trailing zero octets are left out: section 4 of the RFC.
      while (length > 0 && address.value[length - 1] === 0) length--
      out.number(Number(family), 2)
      out.number(Number(prefix), 1)
      out.number((negation === '!' ? 0x80 : 0) | length, 1)
      out.octets(address.value.subarray(0, length))
    }
  },
  print: (octets) => {
    const items: string[] = []
    while (octets.left > 0) {
      const family = octets.number(2)
      const prefix = octets.number(1)
      const length = octets.number(1)
      const address = octets.take(length & 0x7f)
      const bytes = familyBytes[family] ?? 0
      const isWhole = address.length <= bytes && address.at(-1) !== 0
      if (bytes === 0 || prefix > bytes * 8 || !isWhole || octets.isBad) return octets.fail()
      const whole = new Uint8Array(bytes)
      whole.set(address)
      items.push(`${length > 0x7f ? '!' : ''}${family}:${formatAddress(whole)}/${prefix}`)
    }
    return items.join(' ')
  },
}

export const apl = rdataType({ name: 'APL', code: 42, fields: [prefixesField] })
