// Orders texts by code units: equal on every machine, whatever its locale.

/** For `sort`. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
