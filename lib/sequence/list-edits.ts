// Computes the difference of two lists that differ in a few places, by identity of items.

interface ListEdits {
  /** From the old index of each item to its new one; -1: it was removed. */
  readonly moved: Int32Array
  /** Old indices of removed items. */
  readonly went: readonly number[]
  /** New indices of added items. */
  readonly came: readonly number[]
}

/** With more adjacent changes the lists are too different. */
const editWidthMax = 8

/** @returns undefined unless the items are nearly the same, in nearly the same order */
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

/** How many items to remove and add until both lists agree again. */
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
      // Both lists end here.
      if (isInside && known[at + went] === items[i + came]) return { went, came }
    }
  }
  return undefined
}
