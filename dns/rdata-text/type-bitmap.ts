// A field of record types, one bit each in windows of 256. RFC 4034 section 4.1.2.
import type { Field } from './field.ts'
import { typeNumbers } from './type-names.ts'

const form = 'a record type: A, or TYPE65280'

/** Types that every reader of zone files knows by name; others print as `TYPE…`. */
const names = new Map(
  'A NS CNAME SOA PTR HINFO MX TXT AAAA LOC SRV NAPTR CERT DNAME DS SSHFP RRSIG NSEC DNSKEY TLSA CAA'
    .split(' ')
    .map((name) => [typeNumbers[name]!, name]),
)

/** Runs to the end of the rdata; may be empty. */
export const typeBitmapField: Field = {
  parse: (values, out) => {
    const codes = new Set<number>()
    for (let token = values.peek(); token !== undefined; token = values.peek()) {
      values.takePlain(form)
      const code = codeNamed(token.text)
      if (code === undefined) return values.fail(token.column, form)
      codes.add(code)
    }
    const windows = new Map<number, Uint8Array>()
    for (const code of [...codes].sort((a, b) => a - b)) {
      const window = windows.get(code >> 8) ?? new Uint8Array(32)
      window[(code & 255) >> 3]! |= 0x80 >> (code & 7)
      windows.set(code >> 8, window)
    }
    for (const [number, bits] of windows) {
      const length = 1 + bits.findLastIndex((octet) => octet !== 0)
      out.number(number, 1)
      out.number(length, 1)
      out.octets(bits.subarray(0, length))
    }
  },
  print: (octets) => {
    const types: string[] = []
    let before = -1
    while (octets.left > 0) {
      const window = octets.number(1)
      const bits = octets.string()
      const isRight = window > before && bits.length <= 32 && (bits.at(-1) ?? 0) !== 0
      if (!isRight || octets.isBad) return octets.fail()
      before = window
      for (let bit = 0; bit < bits.length * 8; bit++) {
        if ((bits[bit >> 3]! & (0x80 >> (bit & 7))) === 0) continue
        const code = window * 256 + bit
        // Type 0 is reserved, and no text writes it.
        if (code === 0) return octets.fail()
        types.push(names.get(code) ?? `TYPE${code}`)
      }
    }
    return types.join(' ')
  },
}

function codeNamed(text: string): number | undefined {
  const upper = text.toUpperCase()
  const digits = /^TYPE(\d{1,5})$/.exec(upper)?.[1]
  const code = digits === undefined ? typeNumbers[upper] : Number(digits)
  return code === undefined || code === 0 || code > 0xffff ? undefined : code
}
