// Generators of well-formed rdata for each type, independent of the product.
import fc from 'fast-check'

type Octets = fc.Arbitrary<Buffer>

const joined = (...parts: Octets[]): Octets => fc.tuple(...parts).map((all) => Buffer.concat(all))
const bytes = (minLength: number, maxLength: number): Octets =>
  fc.uint8Array({ minLength, maxLength }).map((octets) => Buffer.from(octets))
const number = (length: number): Octets => bytes(length, length)
const below = (max: number): Octets => fc.integer({ min: 0, max }).map((value) => Buffer.of(value))

const label = fc.oneof(
  bytes(1, 63),
  fc.constantFrom('www', 'Mail', '_tcp', '@', '$', '#', '10', '*').map((text) => Buffer.from(text)),
)
const tail = fc.constantFrom('\0', '\x07example\x03com\0', '\x07EXAMPLE\x03com\0')

/** At most 255 octets. */
export const anyWireName: Octets = fc
  .tuple(fc.array(label, { maxLength: 3 }), tail)
  .map(([labels, end]) =>
    Buffer.concat([
      ...labels.flatMap((octets) => [Buffer.of(octets.length), octets]),
      Buffer.from(end, 'latin1'),
    ]),
  )

const string = bytes(0, 255).map((octets) => Buffer.concat([Buffer.of(octets.length), octets]))
const strings: Octets = fc
  .array(string, { minLength: 1, maxLength: 4 })
  .map((all) => Buffer.concat(all))
const word = (maxLength: number, minLength: number): Octets =>
  fc
    .array(fc.constantFrom(...'abcXYZ019'), { minLength, maxLength })
    .map((all) => Buffer.from([all.length, ...Buffer.from(all.join(''))]))

/** A digest type and its number of octets; any number for other types. */
const digest = (lengths: readonly (readonly [kind: number, octets: number])[]): Octets =>
  fc.oneof(
    joined(fc.constant(Buffer.of(200)), bytes(1, 70)),
    ...lengths.map(([kind, octets]) => joined(fc.constant(Buffer.of(kind)), number(octets))),
  )
const certificate = joined(
  number(2),
  digest([
    [1, 32],
    [2, 64],
  ]),
)

const size = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 9 }))
  .map(([digit, power]) => Buffer.of(digit * 16 + power))
const angle = (degrees: number): Octets =>
  fc.integer({ min: -degrees * 3_600_000, max: degrees * 3_600_000 }).map((value) => {
    const octets = Buffer.alloc(4)
    octets.writeUInt32BE(2 ** 31 + value)
    return octets
  })

const protocol = bytes(1, 20).map((octets) => Buffer.concat([Buffer.of(octets.length), octets]))
const protocols: Octets = fc
  .array(protocol, { minLength: 1, maxLength: 4 })
  .map((all) => Buffer.concat(all))
const many = (length: number): Octets =>
  fc.array(number(length), { minLength: 1, maxLength: 3 }).map((all) => Buffer.concat(all))
const none = fc.constant(Buffer.alloc(0))
const parameterValues: readonly (readonly [key: number, value: Octets])[] = [
  [1, protocols],
  [3, number(2)],
  [4, many(4)],
  [5, bytes(1, 40)],
  [6, many(16)],
  [7, fc.constantFrom('/q{?dns}', '/ü{?a,dns}').map((text) => Buffer.from(text))],
  [8, none],
  [667, bytes(0, 40)],
]
const octets16 = (value: number): Buffer => Buffer.of(value >> 8, value & 255)

const parameters: Octets = fc
  .tuple(
    fc.subarray([...parameterValues]),
    fc.boolean(),
    fc.tuple(...parameterValues.map(([, value]) => value)),
  )
  .map(([chosen, isMandatory, values]) => {
    const keys = chosen.map(([key]) => key)
    const rows: [number, Buffer][] = keys.map((key) => [
      key,
      values[parameterValues.findIndex(([other]) => other === key)]!,
    ])
    if (keys.includes(1)) rows.splice(1, 0, [2, Buffer.alloc(0)])
    if (isMandatory && keys.length > 0) rows.unshift([0, Buffer.concat(keys.map(octets16))])
    return Buffer.concat(
      rows.flatMap(([key, value]) => [octets16(key), octets16(value.length), value]),
    )
  })
const service = fc.oneof(
  joined(fc.constant(Buffer.alloc(2)), anyWireName),
  joined(fc.constant(Buffer.of(1, 7)), anyWireName, parameters),
)

const prefix = (family: number, bytes: number): Octets =>
  fc
    .tuple(number(bytes), fc.integer({ min: 0, max: bytes * 8 }), fc.boolean())
    .map(([address, length, isOut]) => {
      let end = address.length
      while (end > 0 && address[end - 1] === 0) end--
      const head = Buffer.of(0, family, length, (isOut ? 0x80 : 0) | end)
      return Buffer.concat([head, address.subarray(0, end)])
    })
const prefixes: Octets = fc
  .array(fc.oneof(prefix(1, 4), prefix(2, 16)), { maxLength: 4 })
  .map((all) => Buffer.concat(all))
const kinds = [none, number(4), number(16), anyWireName]
const ipsec = fc.oneof(
  ...kinds.map((gateway, kind) =>
    joined(number(1), fc.constant(Buffer.of(kind, 2)), gateway, bytes(1, 40)),
  ),
  joined(number(1), fc.constant(Buffer.of(0, 0))),
)
const hostIdentity: Octets = fc
  .tuple(bytes(1, 20), bytes(1, 40), fc.array(anyWireName, { maxLength: 2 }))
  .map(([tag, key, servers]) =>
    Buffer.concat([Buffer.of(tag.length, 2), octets16(key.length), tag, key, ...servers]),
  )
/** Two windows of types, without type zero. */
const bitmap: Octets = fc
  .tuple(fc.integer({ min: 1, max: 127 }), fc.boolean(), fc.integer({ min: 1, max: 255 }))
  .map(([first, isLong, last]) =>
    Buffer.concat([
      Buffer.of(0, 1, first),
      isLong ? Buffer.of(255, 32, ...Buffer.alloc(31), last) : Buffer.alloc(0),
    ]),
  )
const digits: Octets = fc
  .array(fc.constantFrom(...'0123456789'), { minLength: 4, maxLength: 20 })
  .map((all) => Buffer.from([all.length, ...Buffer.from(all.join(''))]))
const substitution = fc
  .constantFrom('', '!^.*$!sip:x@example.com!', '/^(a|[b-d]{1,3})+$/\\1/i', '\xe9a\xe9\xe9')
  .map((text) => Buffer.from([text.length, ...Buffer.from(text, 'latin1')]))
const flagsWithKey = fc.integer({ min: 0, max: 0xbfff }).map(octets16)

const shapes: Readonly<Record<number, Octets>> = {
  1: number(4),
  2: anyWireName,
  5: anyWireName,
  6: joined(anyWireName, anyWireName, number(20)),
  12: anyWireName,
  13: joined(string, string),
  14: joined(anyWireName, anyWireName),
  15: joined(number(2), anyWireName),
  16: strings,
  17: joined(anyWireName, anyWireName),
  18: joined(number(2), anyWireName),
  19: digits,
  20: fc.oneof(string, joined(string, string)),
  21: joined(number(2), anyWireName),
  25: fc.oneof(
    joined(flagsWithKey, number(2), bytes(1, 80)),
    joined(fc.constant(Buffer.of(0xc0, 0)), number(2)),
  ),
  26: joined(number(2), anyWireName, anyWireName),
  28: number(16),
  29: joined(below(0), size, size, size, angle(90), angle(180), number(4)),
  33: joined(number(6), anyWireName),
  35: joined(number(4), word(5, 0), string, substitution, anyWireName),
  36: joined(number(2), anyWireName),
  37: joined(number(5), bytes(1, 80)),
  39: anyWireName,
  42: prefixes,
  43: joined(
    number(3),
    digest([
      [1, 20],
      [2, 32],
      [4, 48],
    ]),
  ),
  44: joined(
    number(1),
    digest([
      [1, 20],
      [2, 32],
    ]),
  ),
  45: ipsec,
  49: bytes(1, 80),
  52: certificate,
  53: certificate,
  55: hostIdentity,
  61: bytes(1, 200),
  62: joined(number(6), bitmap),
  63: joined(
    number(5),
    digest([
      [1, 48],
      [2, 64],
    ]),
  ),
  64: service,
  65: service,
  99: strings,
  104: number(10),
  105: number(6),
  106: number(10),
  107: joined(number(2), anyWireName),
  108: number(6),
  109: number(8),
  256: joined(number(4), bytes(1, 80)),
  257: joined(number(1), word(15, 1), bytes(0, 80)),
}

/** Well-formed rdata of a type; any octets for a type that has no form of its own. */
export const anyRdata = (type: number): Octets => shapes[type] ?? bytes(0, 80)
