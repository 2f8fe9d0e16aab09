// Counts the names that a change removes, and compares them with the limit.
import { Presence } from '#compiler/plan/name-outline.ts'
import type { NameOutline, Names } from '#compiler/plan/name-outline.ts'

export interface Removal {
  readonly names: readonly LostName[]
  /** Names before. */
  readonly total: number
  /** Declared zones that had names and are not declared any more. */
  readonly zones: readonly string[]
}

/** A name that is gone, or that answers no more since its service has no pool. */
export interface LostName {
  readonly name: string
  readonly isLeft: boolean
}

const namesListed = 5

/** null: so much may go. */
export function removalBetween(before: NameOutline, after: NameOutline): Removal | null {
  const names = lostNames(before.names, after.names)
  const zones = [...before.zones]
    .filter(([zone, count]) => count > 0 && !after.zones.has(zone))
    .map(([zone]) => zone)
  const isLastGone = names.length > 0 && (after.names.size === 0 || isSilenced(before, after))
  const total = before.names.size
  const percentMax = before.removedNamesMax
  const isTooMuch = isLastGone || zones.length > 0 || areTooMany(names.length, total, percentMax)
  return isTooMuch ? { names, total, zones } : null
}

export function lostNames(before: Names, after: Names): LostName[] {
  const lost: LostName[] = []
  for (const [name, presence] of before) {
    const now = after.get(name) ?? Presence.Absent
    if (now < presence) lost.push({ name, isLeft: now > Presence.Absent })
  }
  return lost
}

/** A single name may go, in a small configuration too. */
export function areTooMany(removed: number, total: number, percentMax: number): boolean {
  return removed > 1 && removed * 100 > total * percentMax
}

/** `3 of 4 names (a.example., b.example., c.example.) and 1 zone with names (example.)` */
export function wordsOf({ names, total, zones }: Removal): string {
  const ofNames =
    names.length === 0
      ? []
      : [
          `${names.length} of ${total} name${total === 1 ? '' : 's'} ` +
            `(${listed(names.map(wordsOfName))})`,
        ]
  const ofZones =
    zones.length === 0
      ? []
      : [`${zones.length} zone${zones.length === 1 ? '' : 's'} with names (${listed(zones)})`]
  return [...ofNames, ...ofZones].join(' and ')
}

function wordsOfName({ name, isLeft }: LostName): string {
  return isLeft ? `${name} left without a pool` : name
}

/** No name has a pool any more. */
function isSilenced(before: NameOutline, after: NameOutline): boolean {
  return hasPool(before.names) && !hasPool(after.names)
}

function hasPool(names: Names): boolean {
  for (const presence of names.values()) if (presence === Presence.Answers) return true
  return false
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesListed)
  const rest = names.length - shown.length
  return `${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`
}
