// Orders texts by code units: equal on every machine, whatever its locale.

/** For `sort`. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

interface Named {
  readonly name: string
  readonly uid: string
}

/** For `sort`: by name, then by id. */
export const byName = (a: Named, b: Named): number =>
  byCodeUnits(a.name, b.name) || byCodeUnits(a.uid, b.uid)
