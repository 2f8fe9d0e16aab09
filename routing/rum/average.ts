// Rounds an average that browsers measured to 14 bits, so that the table and the journal have the
// same number.

/** Steps from one power of two to the next: half a step is a thousandth of the average. */
const steps = 512
/** Powers of two below 1 ms. */
const below = 16
export const rumCodeMax = 32 * steps - 1

/**
 * @param ms above 0, below 65,536
 * @returns 0 to `rumCodeMax`; of a longer time never a lower one
 */
export function rumCodeOf(ms: number): number {
  const power = Math.min(Math.max(Math.floor(Math.log2(ms)), -below), 15)
  const code = Math.round((power + ms / 2 ** power - 1 + below) * steps)
  return Math.min(Math.max(code, 0), rumCodeMax)
}

/** @returns milliseconds, which a float of 32 bits holds as they are */
export function rumMsOf(code: number): number {
  const power = Math.floor(code / steps) - below
  return (1 + (code % steps) / steps) * 2 ** power
}
