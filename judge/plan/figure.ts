// Rounds shares for output: sums of many fractions have wrong last digits.

/** Enough digits for a share of one IPv4 address. */
const digits = 12

/** Rounds a share of clients, 0 to 1: `0.8`, not `0.8000000000000002`. Only 0 becomes 0. */
export function figure(share: number): number {
  return share === 0 || share === 1 ? share : Number(share.toPrecision(digits))
}
