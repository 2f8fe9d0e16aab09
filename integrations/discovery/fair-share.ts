// Divides the questions of a node fairly among tenants: many from one tenant crowd out no other.

/**
 * Tenants take turns; a question that another tenant has, too, costs no turn.
 *
 * @param questions by tenant, in the order in which they are wanted
 * @param max of all tenants together
 */
export function fairShare(
  questions: ReadonlyMap<string, readonly string[]>,
  max: number,
): ReadonlySet<string> {
  const shared = new Set<string>()
  let waiting = [...questions]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, keys]) => keys.values())
  while (waiting.length > 0 && shared.size < max) {
    waiting = waiting.filter((keys) => {
      for (const key of keys) {
        if (shared.has(key)) continue
        if (shared.size < max) shared.add(key)
        return true
      }
      return false
    })
  }
  return shared
}
