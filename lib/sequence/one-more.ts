// Appends to a short list without the spare room that V8 adds: there may be a million such lists.

/** Beyond this, copying the list for each of its items would take longer than memory is worth. */
const shortMax = 4

/**
 * @param items may be changed in place, unless it is short
 * @returns the items and `item`: V8 keeps room for 16 more behind a list that was pushed to
 */
export function withOneMore<T>(items: readonly T[], item: T): readonly T[] {
  if (items.length < shortMax) return [...items, item]
  const long = items as T[]
  long.push(item)
  return long
}
