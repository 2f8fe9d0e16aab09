// Computes a space-filling key: places with near keys are near each other.
import type { LocationBuffers } from './geo-tables.ts'

const bits = 12

/** @returns for `RangeTableBuilder.build`: a key by row of the columns */
export function placeKeys({
  x,
  y,
  z,
}: Pick<LocationBuffers, 'x' | 'y' | 'z'>): (row: number) => number {
  const [xs, ys, zs] = [new Float32Array(x), new Float32Array(y), new Float32Array(z)]
  // The sine of the latitude and the longitude, each quantised, with interleaved bits (Morton).
  return (row) => {
    const longitude = Math.atan2(ys[row]!, xs[row]!) / (2 * Math.PI) + 0.5
    return spread(stepOf((zs[row]! + 1) / 2)) * 2 + spread(stepOf(longitude))
  }
}

/** @param share from 0 to 1 */
function stepOf(share: number): number {
  return Math.min(Math.floor(share * 2 ** bits), 2 ** bits - 1)
}

/** Inserts a zero before each bit of a number. */
function spread(step: number): number {
  let out = 0
  for (let bit = bits - 1; bit >= 0; bit--) out = out * 4 + ((step >> bit) & 1)
  return out
}
