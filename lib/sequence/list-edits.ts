// Diff of two lists that differ in a few places: compares items by identity.

export interface ListEdits {
  /** Maps the old position of each item to its new one; -1: the item is gone. */
  readonly moved: Int32Array
  /** Old positions of the items that are gone. */
  readonly went: readonly number[]
  /** New positions of the items that were added. */
  readonly came: readonly number[]
}

/** More changes side by side than this are no edit any more. */
const editWidthMax = 8

/** @returns undefined when the items are not nearly those known, in nearly the same order */
export function editsOf<Item extends object>(
  known: readonly Item[],
  items: readonly Item[],
): ListEdits | undefined {
  const moved = new Int32Array(known.length).fill(-1)
  const went: number[] = []
  const came: number[] = []
  let at = 0
  let i = 0
  while (i < items.length || at < known.length) {
    if (items[i] === known[at]) {
      moved[at++] = i++
      continue
    }
    const step = nextCommon(known, at, items, i)
    if (step === undefined) return undefined
    for (const end = i + step.came; i < end; i++) came.push(i)
    for (const end = at + step.went; at < end; at++) went.push(at)
  }
  return { moved, went, came }
}

/** How many go and come until both lists have the same again. */
function nextCommon<Item extends object>(
  known: readonly Item[],
  at: number,
  items: readonly Item[],
  i: number,
): { went: number; came: number } | undefined {
  for (let width = 1; width <= 2 * editWidthMax; width++) {
    const least = Math.max(0, width - editWidthMax)
    for (let went = least; went <= Math.min(width, editWidthMax); went++) {
      const came = width - went
      const isInside = at + went <= known.length && i + came <= items.length
      // Beyond both ends stands the same nothing.
      if (isInside && known[at + went] === items[i + came]) return { went, came }
    }
  }
  return undefined
}
