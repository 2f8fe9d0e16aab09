// Lists the client networks of a class: all of them, or an even choice where there are too many.
import { assert } from '#lib/assert.ts'
import type { Address } from './cuts.ts'
import type { ClassRanges, Partition, Probes } from './partition.ts'
import type { FamilySpace } from './space.ts'

/** Networks kept for a partition: most services that choose by networks use the same ones. */
interface Kept {
  /** By class: all its networks. */
  readonly whole: Map<number, Probes>
  /** By class and number: the chosen networks. */
  readonly chosen: Map<string, Probes>
  /** How many cells these lists occupy. */
  cells: number
}

const kept = new WeakMap<object, Kept>()
/** Cells that are kept, of 24 octets each: one for an address, and a few for a list. */
const cellsMax = 262_144
const cellsOfList = 16

/** Whether a class has more client networks than `most`. */
export function hasMoreNetworks<A extends Address>(
  partition: Partition<A>,
  number: number,
  most: number,
): boolean {
  return countUntil(partition.space, rangesOf(partition), number, most) > most
}

/** @param most networks of a class; of more, so many are chosen, evenly by weight */
export function networksOf<A extends Address>(
  partition: Partition<A>,
  number: number,
  most: number,
): Probes {
  let own = kept.get(partition)
  if (own === undefined) {
    own = { whole: new Map<number, Probes>(), chosen: new Map<string, Probes>(), cells: 0 }
    kept.set(partition, own)
  }
  const whole = own.whole.get(number)
  if (whole !== undefined && whole.count <= most) return whole
  const key = `${number} ${most}`
  const known = own.chosen.get(key)
  if (known !== undefined) return known
  const count = countUntil(partition.space, rangesOf(partition), number, most)
  const probes =
    count > most ? chosenNetworks(partition, number, most) : everyNetwork(partition, number, count)
  const cells = probes.count + cellsOfList
  if (own.cells + cells > cellsMax) return probes
  own.cells += cells
  if (probes.isWhole) own.whole.set(number, probes)
  else own.chosen.set(key, probes)
  return probes
}

function rangesOf<A extends Address>({ ranges }: Partition<A>): ClassRanges<A> {
  assert(ranges !== null, 'networks are looked for where the ranges of a class are kept')
  return ranges
}

/**
 * Counts the networks of a class, up to `most`.
 *
 * @returns any number above `most` when there are more
 */
function countUntil<A extends Address>(
  space: FamilySpace<A>,
  ranges: ClassRanges<A>,
  number: number,
  most: number,
): number {
  const { starts } = ranges
  let count = 0
  for (const range of rowsOfClass(ranges, number)) {
    count += space.networksIn(starts[range]!, starts[range + 1] ?? space.end)
    if (count > most) break
  }
  return count
}

function everyNetwork<A extends Address>(
  partition: Partition<A>,
  number: number,
  count: number,
): Probes {
  const { space } = partition
  const ranges = rangesOf(partition)
  const { starts } = ranges
  const list = new ProbeList(space, count)
  for (const range of rowsOfClass(ranges, number)) {
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
  partition: Partition<A>,
  number: number,
  most: number,
): Probes {
  const { space, weight } = partition
  const ranges = rangesOf(partition)
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
  // A class whose clients have no weight is represented by its first network.
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

  /** @param most capacity of the list */
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
