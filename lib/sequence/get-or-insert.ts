// What a map has for a key, made where it has nothing: `getOrInsertComputed` of later releases of
// Node, for maps of lists, sets and maps.

export function getOrInsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
