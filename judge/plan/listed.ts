// Bounds the list of differing answers: those that move the most clients are kept.
import type { AnswerChange, FamilyMovement } from '#judge/document/model.ts'

/** Members, flows, places and records in a whole plan: some 250 octets of JSON each. */
export const listedEntriesMax = 1_000_000

interface Kept {
  readonly change: AnswerChange
  readonly moved: number
  readonly entries: number
  readonly order: number
}

/** Collects the changes of one scenario in their order. */
export class ListedChanges {
  /** How many changes were added, listed or not. */
  count = 0
  readonly #entriesMax: number
  #kept: Kept[] = []
  #entries = 0

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  add(change: AnswerChange): void {
    const entries = entriesOf(change)
    this.#kept.push({ change, moved: largestMove(change), entries, order: this.count++ })
    this.#entries += entries
    // Sorted only when the list has twice the limit, since sorting is slow.
    if (this.#entries > 2 * this.#entriesMax) this.#cut()
  }

  get all(): readonly AnswerChange[] {
    if (this.#entries > this.#entriesMax) this.#cut()
    return this.#kept.map(({ change }) => change)
  }

  /** Removes the changes with the fewest moved clients, and of equal ones the last. */
  #cut(): void {
    const ranked = this.#kept.toSorted(
      (one, other) => other.moved - one.moved || one.order - other.order,
    )
    let entries = 0
    const end = ranked.findIndex((one) => (entries += one.entries) > this.#entriesMax)
    // The first change stays, however long it is.
    const kept = end < 0 ? ranked : ranked.slice(0, Math.max(1, end))
    this.#kept = kept.sort((one, other) => one.order - other.order)
    this.#entries = kept.reduce((sum, one) => sum + one.entries, 0)
  }
}

/** The larger share of moved clients of both families; 0: the answer sends nobody anywhere. */
export function largestMove({ movement }: AnswerChange): number {
  return movement === null ? 0 : Math.max(movement.ipv4.moved, movement.ipv6.moved)
}

function entriesOf({ before, after, movement }: AnswerChange): number {
  const ofAnswers = [before, after].reduce(
    (sum, { records, others }) => sum + records.length + others.length + 1,
    1,
  )
  return movement === null
    ? ofAnswers
    : ofAnswers + ofFamily(movement.ipv4) + ofFamily(movement.ipv6)
}

function ofFamily({ flows, members, countries, operators }: FamilyMovement): number {
  const places = (countries?.length ?? 0) + (operators?.length ?? 0)
  return 1 + 2 * flows.length + members.length + places
}
