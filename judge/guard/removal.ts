// Counts the names that a change removes, and compares them with the limit.
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
import type { Facts, NameFacts } from '#compiler/lower/name-outline.ts'
import { firstOf } from '#lib/text/first-of.ts'
import { isOwn, namesIn } from './change.ts'
import type { Change, TenantName } from './change.ts'

/** A name that is removed, or that no longer answers since its service has no pool. */
interface LostName {
  readonly name: string
  readonly isLeft: boolean
}

/** @returns the breach in words; undefined: the loss is within the limit */
export function removalIn(
  change: Change,
  percentMax: number,
  tenant: TenantName,
): string | undefined {
  const zones = goneZones(change)
  const lost = isOwn(change, isLess) ? lossesIn(change) : perMeasure((): LostName[] => [])
  if (zones.length === 0 && measures.every((measure) => lost[measure].length === 0))
    return undefined
  // Over the API a single name may always go: unlike in a file, that is no mistake.
  const last = change.part === undefined ? lastGone(lost, change) : undefined
  const isMany = last !== undefined || measures.some((measure) => lost[measure].length > 1)
  const totals = isMany || zones.length > 0 ? totalsOf(change, tenant) : perMeasure(() => 0)
  const measure =
    last ?? measures.find((one) => areTooMany(lost[one].length, totals[one], percentMax))
  if (measure === undefined && zones.length === 0) return undefined
  const counted = measure ?? 'all'
  const names = lost[counted].map(lostNameText)
  const ofNames = `${names.length} of ${plural(totals[counted], nounOf[counted])}`
  const ofZones = `${zones.length} zone${zones.length === 1 ? '' : 's'} with names`
  const parts = [
    ...(names.length === 0 ? [] : [`${ofNames} (${listed(names)})`]),
    ...(zones.length === 0 ? [] : [`${ofZones} (${listed(zones)})`]),
  ]
  return `removes ${parts.join(' and ')}`
}

/** A single loss is never too many, not even in a small configuration. */
export function areTooMany(removed: number, total: number, percentMax: number): boolean {
  return removed > 1 && removed * 100 > total * percentMax
}

/** Numbers of names before a change, as each measure counts them. */
export function totalsOf({ before, part }: Change, tenant: TenantName): PerMeasure<number> {
  if (part !== undefined) return part.totals.names(tenant)
  const counts = { all: 0, balanced: 0, records: 0 }
  for (const [, { standing }] of before.names) addTo(counts, standing, 1)
  return counts
}

export function addTo(counts: Record<Measure, number>, standing: Standing, step: 1 | -1): void {
  for (const measure of measures) {
    if (presenceBy(measure, standing) > Presence.Absent) counts[measure] += step
  }
}

function isLess({ standing: was }: NameFacts, { standing: now }: NameFacts): boolean {
  return was !== now && measures.some((measure) => isLostBy(measure, was, now))
}

function lossesIn(change: Change): PerMeasure<readonly LostName[]> {
  const lost = perMeasure((): LostName[] => [])
  for (const [name, { standing: was }, { standing: now }] of namesIn(change)) {
    if (was === now) continue
    for (const measure of measures) {
      if (isLostBy(measure, was, now)) lost[measure].push({ name, isLeft: isLeftWithoutPool(now) })
    }
  }
  return lost
}

/** Zones that had names and are no longer declared. */
function goneZones({ before, after }: Change): readonly string[] {
  const gone = [...before.zones].filter(
    ([zone, { hasNames }]) => hasNames && !after.zones.get(zone),
  )
  return gone.map(([zone]) => zone)
}

function plural(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : noun.replace('name', 'names')}`
}

function lostNameText({ name, isLeft }: LostName): string {
  return isLeft ? `${name} left without a pool` : name
}

/** The measure by which nothing answers any more, though something did. */
function lastGone(
  lost: PerMeasure<readonly LostName[]>,
  { before, after }: Change,
): Measure | undefined {
  if (lost.all.length > 0 && !hasAny(after.names, () => true)) return 'all'
  const kinds: readonly Measure[] = ['all', 'balanced']
  return kinds.find((measure) => {
    const answers = ({ standing }: NameFacts) => presenceBy(measure, standing) === Presence.Answers
    return (
      lost[measure].length > 0 && hasAny(before.names, answers) && !hasAny(after.names, answers)
    )
  })
}

function hasAny(names: Facts<NameFacts>, isOne: (facts: NameFacts) => boolean): boolean {
  for (const [, facts] of names) if (isOne(facts)) return true
  return false
}

export const listed = (names: readonly string[]): string => firstOf(names, 5)
