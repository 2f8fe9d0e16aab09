// Finds an earlier item with the same key.

/** @returns the earlier item; undefined: this is the first, and is remembered */
export function earlier<K, T>(known: Map<K, T>, key: K, one: T): T | undefined {
  const first = known.get(key)
  if (first === undefined) known.set(key, one)
  return first
}
