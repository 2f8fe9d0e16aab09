// The client networks of a class, one by one, or evenly chosen ones where there are too many.
import { assert } from '#lib/assert.ts'
import type { Address } from './cuts.ts'
import type { ClassRanges, Partition } from './partition.ts'
import type { FamilySpace } from './space.ts'

type Kept<A extends Address> = Partition<A> & { readonly ranges: ClassRanges<A> }

/** Clients that stand for all of a class. */
export interface Probes {
  readonly count: number
  /** Of each address four words, as in `Client`. */
  readonly words: Int32Array
  /** What each of them counts. */
  readonly weights: Float64Array
  /** Each network is there: what is summed over them is exact. */
  readonly isWhole: boolean
}

/** By partition: most services that go by networks go by the same ones. */
const known = new WeakMap<object, Map<string, Probes>>()
/** Addresses that are kept of a partition, 24 octets each. */
const keptMax = 262_144

/** @param most beyond, so many are chosen, evenly over what counts */
export function networksOf<A extends Address>(
  partition: Partition<A>,
  number: number,
  most: number,
): Probes {
  let probesOf = known.get(partition)
  if (probesOf === undefined) known.set(partition, (probesOf = new Map<string, Probes>()))
  const key = `${number} ${most}`
  const found = probesOf.get(key)
  if (found !== undefined) return found
  const { ranges } = partition
  assert(ranges !== null, 'networks are looked for where the ranges of a class are kept')
  const kept = { ...partition, ranges }
  const probes = everyNetwork(kept, number, most) ?? chosenNetworks(kept, number, most)
  const sum = probesOf.values().reduce((all, { count }) => all + count, probes.count)
  if (sum <= keptMax) probesOf.set(key, probes)
  return probes
}

function everyNetwork<A extends Address>(
  { space, ranges }: Kept<A>,
  number: number,
  most: number,
): Probes | undefined {
  const { starts } = ranges
  const own = rowsOfClass(ranges, number)
  let count = 0
  for (const range of own) {
    count += space.networksIn(starts[range]!, starts[range + 1] ?? space.end)
    if (count > most) return undefined
  }
  const list = new ProbeList(space, count)
  for (const range of own) {
    const end = starts[range + 1] ?? space.end
    const counts = ranges.weights[range]! > 0
    for (let at = starts[range]!; at < end;) {
      const next = space.nextNetwork(at)
      const stop = next < end ? next : end
      list.add(at, counts ? space.weightOf(at, stop) : 0)
      at = stop
    }
  }
  return list.probes(true)
}

function chosenNetworks<A extends Address>(
  { space, ranges, weight }: Kept<A>,
  number: number,
  most: number,
): Probes {
  const { starts } = ranges
  const own = rowsOfClass(ranges, number)
  const whole = weight[number]!
  const list = new ProbeList(space, most)
  const each = whole / most
  let passed = 0
  let next = each / 2
  for (const range of own) {
    const counts = ranges.weights[range]!
    while (next < passed + counts && list.count < most) {
      const part = (next - passed) / counts
      list.add(space.within(starts[range]!, starts[range + 1] ?? space.end, part), 0)
      next += each
    }
    passed += counts
  }
  // Of a class whose clients count nothing, the first one stands for all.
  if (list.count === 0) list.add(starts[own[0]!]!, 0)
  const probes = list.probes(false)
  probes.weights.fill(whole / probes.count)
  return probes
}

function rowsOfClass({ rows, firstOf }: ClassRanges<Address>, number: number): Uint32Array {
  return rows.subarray(firstOf[number], firstOf[number + 1])
}

class ProbeList<A extends Address> {
  count = 0
  readonly #space: FamilySpace<A>
  readonly #words: Int32Array
  readonly #weights: Float64Array
  readonly #own = new Int32Array(4)

  /** @param most room for so many */
  constructor(space: FamilySpace<A>, most: number) {
    this.#space = space
    this.#words = new Int32Array(most * 4)
    this.#weights = new Float64Array(most)
  }

  add(address: A, weight: number): void {
    this.#space.toWords(address, this.#own)
    this.#words.set(this.#own, this.count * 4)
    this.#weights[this.count++] = weight
  }

  probes(isWhole: boolean): Probes {
    const { count } = this
    const words = this.#words.subarray(0, count * 4)
    return { count, words, weights: this.#weights.subarray(0, count), isWhole }
  }
}
