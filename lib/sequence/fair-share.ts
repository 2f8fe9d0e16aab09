// Divides a limited number of places fairly among tenants: many from one tenant crowd out no other.

/**
 * Tenants take turns; what another tenant wants, too, costs no turn.
 *
 * @param wanted by tenant, in the order in which they are wanted
 * @param max of all tenants together
 */
export function fairShare<T>(
  wanted: ReadonlyMap<string, readonly T[]>,
  max: number,
): ReadonlySet<T> {
  const shared = new Set<T>()
  let waiting = [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, own]) => own.values())
  while (waiting.length > 0 && shared.size < max) {
    waiting = waiting.filter((own) => {
      for (const one of own) {
        if (shared.has(one)) continue
        if (shared.size < max) shared.add(one)
        return true
      }
      return false
    })
  }
  return shared
}

/** The number that each may keep, so that all together keep `max` at most. */
export function fairMost(counts: readonly number[], max: number): number {
  let left = max
  for (const [at, count] of counts.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (counts.length - at))
    if (count > share) return share
    left -= count
  }
  return Infinity
}
