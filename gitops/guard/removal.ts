// Counts the names that a change removes, and compares them with the limit.
import type { NameOutline } from '#compiler/plan/name-outline.ts'

export interface Removal {
  readonly names: readonly string[]
  /** Names before. */
  readonly total: number
  /** Declared zones that had services and are not declared any more. */
  readonly zones: readonly string[]
  /** Percent that may go. */
  readonly percentMax: number
}

const namesListed = 5

/** null: so much may go. */
export function removalBetween(before: NameOutline, after: NameOutline): Removal | null {
  const left = new Set(after.names)
  const names = before.names.filter((name) => !left.has(name))
  const zones = [...before.zones]
    .filter(([zone, services]) => services > 0 && !after.zones.has(zone))
    .map(([zone]) => zone)
  const isLastGone = after.names.length === 0 && names.length > 0
  const total = before.names.length
  const percentMax = before.removedNamesMax
  const isTooMuch = isLastGone || zones.length > 0 || areTooMany(names.length, total, percentMax)
  return isTooMuch ? { names, total, zones, percentMax } : null
}

/** A single name may go, in a small configuration too. */
export function areTooMany(removed: number, total: number, percentMax: number): boolean {
  return removed > 1 && removed * 100 > total * percentMax
}

/** `3 of 4 names (a.example., b.example., c.example.) and 1 zone with services (example.)` */
export function wordsOf({ names, total, zones }: Removal): string {
  const ofNames =
    names.length === 0
      ? []
      : [`${names.length} of ${total} name${total === 1 ? '' : 's'} (${listed(names)})`]
  const ofZones =
    zones.length === 0
      ? []
      : [`${zones.length} zone${zones.length === 1 ? '' : 's'} with services (${listed(zones)})`]
  return [...ofNames, ...ofZones].join(' and ')
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesListed)
  const rest = names.length - shown.length
  return `${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`
}
