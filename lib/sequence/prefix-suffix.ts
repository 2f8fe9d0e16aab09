// Finds the length of the common prefix and suffix of two octet arrays.

/** Sizes of native comparisons; after a difference the next smaller one continues. */
const blockSizes = [65_536, 4_096, 256, 16, 1]

/** Equal octets at the start and at the end; the two may overlap. */
export interface PrefixSuffix {
  readonly prefix: number
  readonly suffix: number
}

export function commonPrefixSuffix(a: Uint8Array, b: Uint8Array): PrefixSuffix {
  const shorter = Math.min(a.length, b.length)
  return {
    prefix: sameOctets(shorter, (from, to) => isEqual(a, from, to, b, from, to)),
    suffix: sameOctets(shorter, (from, to) =>
      isEqual(a, a.length - to, a.length - from, b, b.length - to, b.length - from),
    ),
  }
}

function sameOctets(count: number, isSame: (from: number, to: number) => boolean): number {
  let from = 0
  for (const size of blockSizes) {
    while (from + size <= count && isSame(from, from + size)) from += size
  }
  return from
}

function isEqual(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  return Buffer.compare(a.subarray(aStart, aEnd), b.subarray(bStart, bEnd)) === 0
}
