// Lists the names above a name, in presentation form.

/** Yields the names that enclose `key`, the nearest first, without the root. */
export function* enclosingNames(key: string): Generator<string> {
  for (let dot = key.indexOf('.'); dot < key.length - 1; dot = key.indexOf('.', dot + 1)) {
    if (key[dot - 1] === '\\' && isEscaped(key, dot)) continue
    yield key.slice(dot + 1)
  }
}

/** A dot inside a label has an odd number of backslashes before it. */
function isEscaped(key: string, at: number): boolean {
  let start = at
  while (key[start - 1] === '\\') start--
  return (at - start) % 2 === 1
}

export function isInside(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`)
}
