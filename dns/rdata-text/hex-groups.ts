// Groups of hex digits with a separator between them: hardware addresses, ILNP identifiers.
import type { Field } from './field.ts'

interface HexGroups {
  readonly groups: number
  /** Octets of a group. Two-octet groups may drop leading zeros. RFC 6742 section 2.1. */
  readonly bytes: 1 | 2
  readonly sign: ':' | '-'
  readonly example: string
}

export function hexGroupsField({ groups, bytes, sign, example }: HexGroups): Field {
  const form = `${groups} groups of hex digits with ${sign} between them: ${example}`
  const digits = bytes === 1 ? '[0-9a-f]{2}' : '[0-9a-f]{1,4}'
  const shape = new RegExp(`^${digits}(?:${sign}${digits}){${groups - 1}}$`, 'i')
  return {
    parse: (values, out) => {
      const token = values.takePlain(form)
      if (token === undefined) return
      if (!shape.test(token.text)) return values.fail(token.column, form)
      for (const group of token.text.split(sign)) out.number(parseInt(group, 16), bytes)
    },
    print: (octets) =>
      Array.from({ length: groups }, () =>
        octets
          .number(bytes)
          .toString(16)
          .padStart(bytes * 2, '0'),
      ).join(sign),
  }
}
