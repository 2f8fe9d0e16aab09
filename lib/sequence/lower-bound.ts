// Binary search in a sorted sequence.

/** @returns the first of `count` positions for which `isBefore` is false */
export function lowerBound(count: number, isBefore: (at: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}
