// Reads the data of a record inside a message, with the names in it uncompressed. RFC 3597 section
// 4.
import { readMessageName } from './message-name.ts'
import { RrType } from './rrtype.ts'

/** Octets before the names of a type, and how many names follow. */
interface NameForm {
  readonly before: number
  readonly names: number
}

const one: NameForm = { before: 0, names: 1 }
const two: NameForm = { before: 0, names: 2 }
const afterTwoOctets: NameForm = { before: 2, names: 1 }

/**
 * Types whose data may hold compressed names: those of RFC 1035, and later ones that receivers must
 * be ready for. By their numbers: MD 3, MF 4, MB 7, MG 8, MR 9, MINFO 14, RP 17, AFSDB 18, RT 21,
 * PX 26, KX 36.
 */
const namesOf: Readonly<Record<number, NameForm>> = Object.freeze({
  [RrType.NS]: one,
  3: one,
  4: one,
  [RrType.CNAME]: one,
  [RrType.SOA]: two,
  7: one,
  8: one,
  9: one,
  [RrType.PTR]: one,
  14: two,
  [RrType.MX]: afterTwoOctets,
  17: two,
  18: afterTwoOctets,
  21: afterTwoOctets,
  26: { before: 2, names: 2 },
  [RrType.SRV]: { before: 6, names: 1 },
  36: afterTwoOctets,
  [RrType.DNAME]: one,
})

/** @returns a copy; undefined: its names cannot be read */
export function wholeRdata(
  message: Uint8Array,
  type: number,
  start: number,
  end: number,
): Uint8Array | undefined {
  const form = namesOf[type]
  // Not `slice`, which shares the octets of a Buffer.
  if (form === undefined || start === end) return new Uint8Array(message.subarray(start, end))
  let at = start + form.before
  const parts = [message.subarray(start, at)]
  for (let i = 0; i < form.names; i++) {
    const name = at < end ? readMessageName(message, at) : undefined
    if (name === undefined || name.end > end) return undefined
    parts.push(name.wire)
    at = name.end
  }
  return Buffer.concat([...parts, message.subarray(at, end)])
}
