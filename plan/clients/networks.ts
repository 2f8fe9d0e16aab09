// The client networks of a class, one by one, or evenly chosen ones where there are too many.
import { assert } from '#lib/assert.ts'
import type { Address } from './cuts.ts'
import type { ClassRanges, Partition } from './partition.ts'

type Kept<A extends Address> = Partition<A> & { readonly ranges: ClassRanges<A> }

/** Clients that stand for all of a class. */
export interface Probes<A extends Address> {
  readonly addresses: readonly A[]
  /** What each of them counts. */
  readonly weights: readonly number[]
  /** Each network is there: what is summed over them is exact. */
  readonly isWhole: boolean
}

/** @param most beyond, so many are chosen, evenly over what counts */
export function networksOf<A extends Address>(
  partition: Partition<A>,
  number: number,
  most: number,
): Probes<A> {
  const { ranges } = partition
  assert(ranges !== null, 'networks are looked for where the ranges of a class are kept')
  const kept = { ...partition, ranges }
  return everyNetwork(kept, number, most) ?? chosenNetworks(kept, number, most)
}

function everyNetwork<A extends Address>(
  { space, ranges }: Kept<A>,
  number: number,
  most: number,
): Probes<A> | undefined {
  const addresses: A[] = []
  const weights: number[] = []
  for (const range of ranges.ofClass[number]!) {
    const end = ranges.ends[range]!
    const counts = ranges.weights[range]! > 0
    for (let at = ranges.starts[range]!; at < end;) {
      if (addresses.length === most) return undefined
      const next = space.nextNetwork(at)
      const stop = next < end ? next : end
      addresses.push(at)
      weights.push(counts ? space.weightOf(at, stop) : 0)
      at = stop
    }
  }
  return { addresses, weights, isWhole: true }
}

function chosenNetworks<A extends Address>(
  { space, ranges, weight }: Kept<A>,
  number: number,
  most: number,
): Probes<A> {
  const whole = weight[number]!
  const addresses: A[] = []
  const each = whole / most
  let passed = 0
  let next = each / 2
  for (const range of ranges.ofClass[number]!) {
    const counts = ranges.weights[range]!
    while (next < passed + counts && addresses.length < most) {
      const part = (next - passed) / counts
      addresses.push(space.within(ranges.starts[range]!, ranges.ends[range]!, part))
      next += each
    }
    passed += counts
  }
  // Of a class whose clients count nothing, the first one stands for all.
  if (addresses.length === 0) addresses.push(ranges.starts[ranges.ofClass[number]![0]!]!)
  return { addresses, weights: addresses.map(() => whole / addresses.length), isWhole: false }
}
