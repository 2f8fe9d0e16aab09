// The rdata that SVCB and HTTPS share: priority, target, sorted parameters. RFC 9460 section 2.
import { nameField, numberField } from './field.ts'
import type { Field } from './field.ts'
import { parameterName, parseParameter, printParameter } from './service-parameters.ts'
import type { ServiceParameter } from './service-parameters.ts'

const key = { mandatory: 0, alpn: 1, noDefaultAlpn: 2 } as const

const parameters: Field = {
  parse: (values, out) => {
    const found = new Map<number, ServiceParameter>()
    let bytes = 0
    for (let token = values.peek(); token !== undefined; token = values.peek()) {
      if (out.leading16 === 0) {
        return values.fail(token.column, 'no parameters after a priority of 0')
      }
      const parameter = parseParameter(values)
      if (parameter === undefined) return
      if (found.has(parameter.code)) {
        return values.fail(parameter.column, 'each parameter only once')
      }
      found.set(parameter.code, parameter)
      bytes += parameter.value.length
      if (bytes > 65_535) return values.fail(parameter.column, 'at most 65535 octets of rdata')
    }
    const complaint = complaintAbout(found)
    if (complaint !== undefined) return values.fail(complaint.column, complaint.expected)
    for (const code of [...found.keys()].sort((a, b) => a - b)) {
      out.number(code, 2)
      out.number(found.get(code)!.value.length, 2)
      out.octets(found.get(code)!.value)
    }
  },
  print: (octets, _origin, reader) => {
    const texts: string[] = []
    const found = new Map<number, ServiceParameter>()
    let before = -1
    if (octets.leading16 === 0 && octets.left > 0) return octets.fail()
    while (octets.left > 0) {
      const code = octets.number(2)
      const value = octets.take(octets.number(2))
      const text =
        octets.isBad || code <= before ? undefined : printParameter(code, value, reader?.keyMax)
      if (text === undefined) return octets.fail()
      found.set(code, { code, value, column: 0 })
      texts.push(text)
      before = code
    }
    return complaintAbout(found) === undefined ? texts.join(' ') : octets.fail()
  },
}

/** Checks what one parameter requires of the others. RFC 9460 sections 7.1.1 and 8. */
function complaintAbout(
  found: ReadonlyMap<number, ServiceParameter>,
): { readonly column: number; readonly expected: string } | undefined {
  const alone = found.get(key.noDefaultAlpn)
  if (alone !== undefined && !found.has(key.alpn)) {
    return { column: alone.column, expected: 'alpn=… beside no-default-alpn' }
  }
  const mandatory = found.get(key.mandatory)
  if (mandatory === undefined) return undefined
  const { value, column } = mandatory
  for (let i = 0; i < value.length; i += 2) {
    const code = value[i]! * 256 + value[i + 1]!
    if (found.has(code)) continue
    return {
      column,
      expected: `each mandatory parameter to be there: ${parameterName(code)} is not`,
    }
  }
  return undefined
}

/** Priority 0 is the alias mode: only a target follows. RFC 9460 section 2.4.2. */
export const serviceFields: readonly Field[] = [
  numberField('a priority', 2),
  nameField('the name of the target, or .'),
  parameters,
]
