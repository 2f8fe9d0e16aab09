// Computes the share of moved clients of each country and operator.
import type { Address } from '#judge/clients/cuts.ts'
import type { Breakdown, Partition } from '#judge/clients/partition.ts'
import type { CountryMovement, PlaceMovement } from '#judge/document/model.ts'

/** By row of a table of places: the weight that moves, and the whole weight. */
export interface MovedByPlace {
  readonly moved: Float64Array
  readonly wholeOf: Float64Array
}

/** The places of one answer with moved clients. */
interface PlaceList {
  readonly places: readonly PlaceMovement[] | null
  /** How many further places have moved clients. */
  readonly omitted: number
}

export const noList: PlaceList = Object.freeze({ places: null, omitted: 0 })

/** Cached for names that are removed: all their clients move, and there may be many such names. */
const everyone = new WeakMap<Breakdown, MovedByPlace>()

/** Spreads the moved share of a class evenly over its places. */
export function movedByPlace<A extends Address>(
  { weight }: Partition<A>,
  breakdown: Breakdown,
  movedOf: Float64Array,
): MovedByPlace {
  const { first, place, weight: weights, wholeOf } = breakdown
  if (movedOf.every((moved, number) => moved === weight[number])) {
    const known = everyone.get(breakdown) ?? { moved: wholeOf, wholeOf }
    everyone.set(breakdown, known)
    return known
  }
  const moved = new Float64Array(wholeOf.length)
  for (const [number, its] of movedOf.entries()) {
    if (its === 0) continue
    const part = its / weight[number]!
    for (let at = first[number]!; at < first[number + 1]!; at++) {
      moved[place[at]!]! += weights[at]! * part
    }
  }
  return { moved, wholeOf }
}

/** Lists places with the most moved clients first. */
export function placeList(
  { moved, wholeOf }: MovedByPlace,
  total: number,
  nameOf: (row: number) => string,
  placesMax: number,
): PlaceList {
  if (placesMax === 0) return { places: [], omitted: moved.filter((one) => one > 0).length }
  const rows = [...moved.keys()].filter((row) => moved[row]! > 0)
  const places = rows
    .sort((one, other) => moved[other]! - moved[one]! || one - other)
    .slice(0, placesMax)
    .map((row) => ({
      place: nameOf(row),
      moved: moved[row]! / total,
      movedOfPlace: moved[row]! / wholeOf[row]!,
    }))
  return { places, omitted: rows.length - places.length }
}

/** Keeps, for each country, the name with the most moved clients. */
export class MostOfCountries {
  readonly #nameOf: (row: number) => string
  readonly #most = new Map<string, CountryMovement>()
  readonly #added = new WeakSet<MovedByPlace>()

  constructor(nameOf: (row: number) => string) {
    this.#nameOf = nameOf
  }

  add(name: string, byCountry: MovedByPlace): void {
    if (this.#added.has(byCountry)) return
    this.#added.add(byCountry)
    for (const [place, movedOfPlace] of movedOfPlaces(byCountry, this.#nameOf)) {
      const known = this.#most.get(place)
      if (known !== undefined && known.movedOfPlace >= movedOfPlace) continue
      this.#most.set(place, { place, movedOfPlace, name })
    }
  }

  get list(): readonly CountryMovement[] {
    return [...this.#most.values()].sort(
      (one, other) => other.movedOfPlace - one.movedOfPlace || (one.place < other.place ? -1 : 1),
    )
  }
}

/** By name of the place: rows that differ only in their continent are one country. */
function movedOfPlaces(
  { moved, wholeOf }: MovedByPlace,
  nameOf: (row: number) => string,
): ReadonlyMap<string, number> {
  const sums = new Map<string, { moved: number; whole: number }>()
  for (const [row, whole] of wholeOf.entries()) {
    if (whole === 0) continue
    const name = nameOf(row)
    const sum = sums.get(name) ?? { moved: 0, whole: 0 }
    sum.moved += moved[row]!
    sum.whole += whole
    sums.set(name, sum)
  }
  const parts = [...sums].map(([name, sum]) => [name, Math.min(1, sum.moved / sum.whole)] as const)
  return new Map(parts.filter(([, part]) => part > 0))
}
