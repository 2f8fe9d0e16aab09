// The rdata of LOC as one field: latitude, longitude, altitude, size, precisions. RFC 1876.
import type { Field } from './field.ts'
import type { OctetReader } from './octets.ts'
import type { ValueReader } from './value-reader.ts'

/** The equator and the prime meridian; north and east are above. */
const middle = 2 ** 31
/** 100,000 m below the reference, in centimetres. */
const altitudeBase = 10_000_000

interface Axis {
  readonly says: string
  readonly degreesMax: number
  readonly negative: string
  readonly positive: string
}
const latitude: Axis = { says: 'latitude', degreesMax: 90, negative: 'S', positive: 'N' }
const longitude: Axis = { says: 'longitude', degreesMax: 180, negative: 'W', positive: 'E' }

/** Size, horizontal and vertical precision, with their defaults in centimetres. */
const lengths = [
  { says: 'the size', otherwise: 100 },
  { says: 'the horizontal precision', otherwise: 1_000_000 },
  { says: 'the vertical precision', otherwise: 1_000 },
] as const

export const locationField: Field = {
  parse: (values, out) => {
    const angles = [parseAngle(values, latitude), parseAngle(values, longitude)]
    const altitude = parseMetres(values, 'an altitude in metres, -100000.00m to 42849672.95m', true)
    const sizes = lengths.map(({ says, otherwise }) => {
      if (values.peek() === undefined) return otherwise
      return parseMetres(values, `${says} in metres, 0.00m to 90000000.00m`, false)
    })
    if (values.fault !== undefined) return
    out.number(0, 1)
    for (const size of sizes) out.number(packed(size!), 1)
    for (const angle of angles) out.number(angle!, 4)
    out.number(altitude! + altitudeBase, 4)
  },
  print: (octets) => {
    if (octets.number(1) !== 0) return octets.fail()
    const sizes = lengths.map(() => unpacked(octets))
    const angles = [printAngle(octets, latitude), printAngle(octets, longitude)]
    const altitude = metres(octets.number(4) - altitudeBase)
    return [...angles, altitude, ...sizes.map((size) => metres(size))].join(' ')
  },
}

/** @returns thousandths of a second of arc, from `middle` */
function parseAngle(values: ValueReader, axis: Axis): number | undefined {
  const { says, degreesMax, negative, positive } = axis
  const hemisphere = `${negative} or ${positive} after the ${says}`
  const first = values.takePlain(`the degrees of ${says}, 0 to ${degreesMax}`)
  if (first === undefined) return undefined
  if (!/^\d{1,3}$/.test(first.text) || Number(first.text) > degreesMax) {
    return values.fail(first.column, `the degrees of ${says}, 0 to ${degreesMax}`)
  }
  let angle = Number(first.text) * 3_600_000
  const parts = [
    { says: `minutes, 0 to 59, or ${hemisphere}`, shape: /^[0-5]?\d$/, scale: 60_000 },
    {
      says: `seconds, 0 to 59.999, or ${hemisphere}`,
      shape: /^(?:[0-5]?\d(?:\.\d{0,3})?|\.\d{1,3})$/,
      scale: 1_000,
    },
    { says: hemisphere, shape: undefined, scale: 0 },
  ]
  for (const { says: form, shape, scale } of parts) {
    const token = values.takePlain(form)
    if (token === undefined) return undefined
    const letter = token.text.toUpperCase()
    if (letter === negative || letter === positive) {
      if (angle > degreesMax * 3_600_000) {
        return values.fail(first.column, `a ${says} of at most ${degreesMax} degrees`)
      }
      return letter === positive ? middle + angle : middle - angle
    }
    if (shape?.test(token.text) !== true) return values.fail(token.column, form)
    angle += Math.round(Number(token.text) * scale)
  }
  return undefined
}

function printAngle(octets: OctetReader, axis: Axis): string {
  const angle = octets.number(4) - middle
  const size = Math.abs(angle)
  if (size > axis.degreesMax * 3_600_000) return octets.fail()
  const degrees = Math.floor(size / 3_600_000)
  const minutes = Math.floor(size / 60_000) % 60
  const seconds = ((size % 60_000) / 1_000).toFixed(3)
  return `${degrees} ${minutes} ${seconds} ${angle < 0 ? axis.negative : axis.positive}`
}

/** @returns centimetres */
function parseMetres(values: ValueReader, form: string, isAltitude: boolean): number | undefined {
  const token = values.takePlain(form)
  if (token === undefined) return undefined
  const shape = /^([+-]?)(?=\.?\d)(\d{0,8})(?:\.(\d{0,2}))?m?$/i.exec(token.text)
  if (shape === null || (shape[1] !== '' && !isAltitude)) return values.fail(token.column, form)
  const size = Number(shape[2]) * 100 + Number((shape[3] ?? '').padEnd(2, '0'))
  const centimetres = shape[1] === '-' ? -size : size
  const [min, max] = isAltitude ? [-altitudeBase, 0xffffffff - altitudeBase] : [0, 9_000_000_000]
  if (centimetres < min || centimetres > max) return values.fail(token.column, form)
  return centimetres
}

/** Packs a length into one digit and a power of ten, rounded down as the RFC's own program does. */
function packed(centimetres: number): number {
  let power = 0
  let digit = centimetres
  while (digit > 9) {
    digit = Math.floor(digit / 10)
    power++
  }
  return digit * 16 + power
}

function unpacked(octets: OctetReader): number {
  const octet = octets.number(1)
  const [digit, power] = [octet >> 4, octet & 15]
  // Zero times any power of ten prints the same, so only the power 0 is accepted.
  if (digit > 9 || power > 9 || (digit === 0 && power > 0)) octets.fail()
  return digit * 10 ** power
}

const metres = (centimetres: number): string => `${(centimetres / 100).toFixed(2)}m`
