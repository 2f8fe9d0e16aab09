// Counts the names that a change removes, and compares them with the limit: the one judge of what
// comes by Git and of what comes by the API.
import {
  isLeftWithoutPool,
  isLostBy,
  measures,
  nounOf,
  perMeasure,
  Presence,
  presenceBy,
} from '#compiler/lower/name-standing.ts'
import type { Measure, PerMeasure, Standing } from '#compiler/lower/name-standing.ts'
import type { NameOutline, Names } from '#compiler/lower/name-outline.ts'

export interface Removal {
  readonly measure: Measure
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

/** What a change takes away of the names that one measure counts. */
export interface Tally {
  readonly names: readonly LostName[]
  /** Names before. */
  readonly total: number
}

const namesListed = 5

/** null: so much may go. */
export function removalBetween(before: NameOutline, after: NameOutline): Removal | null {
  const totals = countsOf(before.names)
  const lost = lossesOf(standingsBetween(before.names, after.names))
  const tallies = perMeasure((measure) => ({ names: lost[measure], total: totals[measure] }))
  const zones = [...before.zones]
    .filter(([zone, count]) => count > 0 && !after.zones.has(zone))
    .map(([zone]) => zone)
  const measure = lastGone(tallies, before, after) ?? tooMany(tallies, before.removedNamesMax)
  if (measure === undefined && zones.length === 0) return null
  return removalOf(tallies, measure ?? 'all', zones)
}

export function removalOf(
  tallies: PerMeasure<Tally>,
  measure: Measure,
  zones: readonly string[],
): Removal {
  return { measure, ...tallies[measure], zones }
}

/** The first measure by which too many names go; undefined: so many may. */
export function tooMany(tallies: PerMeasure<Tally>, percentMax: number): Measure | undefined {
  return measures.find((measure) => {
    const { names, total } = tallies[measure]
    return areTooMany(names.length, total, percentMax)
  })
}

/** A single name may go, in a small configuration too. */
export function areTooMany(removed: number, total: number, percentMax: number): boolean {
  return removed > 1 && removed * 100 > total * percentMax
}

/** How many names each measure counts. */
export function countsOf(names: Names): PerMeasure<number> {
  const counts = { all: 0, balanced: 0, records: 0 }
  for (const standing of names.values()) {
    for (const measure of measures) counts[measure] += Number(presenceBy(measure, standing) > 0)
  }
  return counts
}

/** @param changes of each name: what stood there, and what stands there now */
export function lossesOf(
  changes: Iterable<readonly [name: string, before: Standing, now: Standing]>,
): PerMeasure<readonly LostName[]> {
  const lost = perMeasure((): LostName[] => [])
  for (const [name, before, now] of changes) {
    if (before === now) continue
    for (const measure of measures) {
      if (!isLostBy(measure, before, now)) continue
      lost[measure].push({ name, isLeft: isLeftWithoutPool(now) })
    }
  }
  return lost
}

/** `3 of 4 names (a.example., b.example., c.example.) and 1 zone with names (example.)` */
export function wordsOf({ measure, names, total, zones }: Removal): string {
  const ofNames =
    names.length === 0
      ? []
      : [
          `${names.length} of ${plural(total, nounOf[measure])} ` +
            `(${listed(names.map(wordsOfName))})`,
        ]
  const ofZones =
    zones.length === 0
      ? []
      : [`${zones.length} zone${zones.length === 1 ? '' : 's'} with names (${listed(zones)})`]
  return [...ofNames, ...ofZones].join(' and ')
}

function plural(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : noun.replace('name', 'names')}`
}

function wordsOfName({ name, isLeft }: LostName): string {
  return isLeft ? `${name} left without a pool` : name
}

function* standingsBetween(
  before: Names,
  after: Names,
): Generator<readonly [string, Standing, Standing]> {
  for (const [name, standing] of before) yield [name, standing, after.get(name) ?? 0]
}

/** The measure of which nothing answers any more, as something did. */
function lastGone(
  tallies: PerMeasure<Tally>,
  before: NameOutline,
  after: NameOutline,
): Measure | undefined {
  if (tallies.all.names.length > 0 && after.names.size === 0) return 'all'
  const kinds: readonly Measure[] = ['all', 'balanced']
  return kinds.find(
    (measure) =>
      tallies[measure].names.length > 0 &&
      hasAnswers(before.names, measure) &&
      !hasAnswers(after.names, measure),
  )
}

function hasAnswers(names: Names, measure: Measure): boolean {
  for (const standing of names.values()) {
    if (presenceBy(measure, standing) === Presence.Answers) return true
  }
  return false
}

export function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesListed)
  const rest = names.length - shown.length
  return `${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`
}
