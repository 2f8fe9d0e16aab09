// Defines the phrases that all printed forms of a plan share.
import { isDeepStrictEqual } from 'node:util'
import type {
  AnswerChange,
  ClientWeights,
  CountryMovement,
  Endpoint,
  FamilyMovement,
  PlaceMovement,
  Plan,
  PlannedAnswer,
  PlannedScenario,
  PlannedSide,
  PlanSummary,
  TrafficUnit,
} from '#judge/document/model.ts'
import { sentElsewhere } from '#judge/plan/sent-elsewhere.ts'

/** Formats `12.4 %`; small values keep their first significant digit. */
export function percent(share: number): string {
  const rounded = Math.round(share * 1_000) / 10
  if (share < 1 && rounded === 100) return '> 99.9 %'
  if (share === 0 || rounded > 0) return `${rounded} %`
  const shown = share * 100 < 1e-6 ? '< 0.000001' : digit(share * 100)
  return `${shown} %`
}

function digit(value: number): string {
  const places = Math.ceil(-Math.log10(value))
  return value.toFixed(Math.min(6, places))
}

/** Formats `1,000`. */
export const counted = (count: number): string => count.toLocaleString('en')

export function plural(count: number, word: string, words = `${word}s`): string {
  return `${counted(count)} ${count === 1 ? word : words}`
}

/** The verdict for a reviewer, in one line. */
export function verdict(plan: Plan): string {
  const { summary } = plan
  const { names, comparedNames, addedNames, removedNames, laterChanges } = summary
  const later = laterChanges === 0 ? '' : `; ${plural(laterChanges, 'change')} may show later`
  if (names === 0) return `no answer differs${later}`
  const apart = [
    ...(addedNames === 0 ? [] : [`${counted(addedNames)} new`]),
    ...(removedNames === 0 ? [] : [`${counted(removedNames)} gone`]),
  ]
  const of = apart.length === 0 ? '' : ` (${apart.join(', ')})`
  const differ = names === 1 ? 'answers' : 'answer'
  const what = `${counted(names)} of ${plural(comparedNames, 'name')} ${differ} differently${of}`
  return `${what}; ${movedText(plan)}${later}`
}

function movedText({ summary }: Plan): string {
  const { movedMax, movedMaxName, movedMaxError } = summary
  const near = marginText(movedMaxError)
  const gone = goneText(summary)
  if (movedMaxName === '') {
    const where = gone === '' ? '' : ' to another answer'
    return (near === '' ? 'no client moves' : `0 %${near} of clients move`) + where + gone
  }
  return `up to ${percent(movedMax)}${near} of the clients of a name move (${movedMaxName})${gone}`
}

/** Clients of a removed answer get nothing, which is no place to move to. */
function goneText({ removedAnswers: count }: PlanSummary): string {
  return count === 0 ? '' : `; ${plural(count, 'answer')} ${count === 1 ? 'is' : 'are'} gone`
}

const marginText = (error: number): string => (error === 0 ? '' : ` ± ${percent(error)}`)

export function revisionText({ source, commit }: PlannedSide): string {
  return commit === '' || source.startsWith(commit.slice(0, 7))
    ? source
    : `${source} (${commit.slice(0, 10)})`
}

/** Whether the answers of a scenario differ in the same way as those of the scenario before. */
export function isAlike(one: PlannedScenario, other: PlannedScenario | null): boolean {
  if (other === null || one.omitted !== other.omitted) return false
  return (
    isDeepStrictEqual(one.changes, other.changes) && isDeepStrictEqual(one.traffic, other.traffic)
  )
}

export function scenarioText({ at, health }: PlannedScenario): string {
  return `${at}, ${health === 'all-up' ? 'all members up' : 'health as given'}`
}

export function endpointText({ member, pool, region }: Endpoint): string {
  // Flows between pools have no member.
  if (member === '') return pool === '' ? 'members of others' : `members of ${pool}`
  const known = [pool, region === 'unknown' ? '' : region].filter((one) => one !== '')
  return known.length === 0 ? member : `${member} (${known.join(', ')})`
}

/** Says what moves: once when both families have the same figures, else for each family. */
export function movedOf({ movement, kind }: AnswerChange): string {
  if (movement === null || kind !== 'changed') return kind
  const { ipv4, ipv6 } = movement
  const own = familyText(ipv4)
  const other = familyText(ipv6)
  return own === other ? own : `IPv4: ${own}; IPv6: ${other}`
}

function familyText({ moved, differs, error, flows }: FamilyMovement): string {
  const near = marginText(error)
  const sent = sentElsewhere({ moved, flows })
  if (moved > 0 && sent === 0) {
    return `${percent(moved)}${near} of clients get an address, and had none`
  }
  if (sent < moved) {
    return `${percent(sent)}${near} of clients move, ${percent(moved - sent)} had no address`
  }
  if (moved > 0) return `${percent(moved)}${near} of clients move`
  const none = near === '' ? 'no client moves' : `0 %${near} of clients move`
  return differs === 0 ? none : `${none}, ${percent(differs)} get another answer`
}

/** How clients were weighed, as a sentence without its full stop; '': by addresses. */
export function weightText({ by, source, seconds, sampled }: ClientWeights): string {
  if (by === 'addresses') return ''
  const parts = [
    ...(seconds === null ? [] : [`of ${plural(seconds, 'second')}`]),
    ...(sampled === null ? [] : [`computed of ${plural(sampled, 'sample')}`]),
  ]
  return `Clients are weighted by the traffic in ${[source, ...parts].join(', ')}`
}

/** What members get, as a table of texts. */
interface TrafficTable {
  readonly title: string
  readonly rows: readonly (readonly [member: string, before: string, after: string])[]
  /** Members without a row. */
  readonly more: number
}

/** @returns null: a single answer differs, and its own shares show the traffic already */
export function trafficTable(
  { changes, traffic: { unit, members } }: PlannedScenario,
  most: number,
): TrafficTable | null {
  if (members.length === 0 || (unit === 'share' && !isOfMany(changes))) return null
  const title = 'Expected traffic of the answers that differ'
  const rows = members
    .slice(0, most)
    .map((one) => [endpointText(one), amount(one.before, unit), amount(one.after, unit)] as const)
  const more = members.length - rows.length
  return { title: unit === 'share' ? `${title}, if each has as much` : title, rows, more }
}

const isOfMany = (changes: readonly AnswerChange[]): boolean =>
  changes.filter(({ movement }) => movement !== null).length > 1

/** Formats `12.4 %`, `35/s` or `1,200/day`. */
export function amount(value: number, unit: TrafficUnit): string {
  if (unit === 'share') return percent(value)
  if (value === 0) return '0'
  const [shown, per] =
    unit === 'queries' ? [value, ''] : value < 1 ? [value * 86_400, '/day'] : [value, '/s']
  return `${shown.toLocaleString('en', { maximumFractionDigits: shown < 100 ? 1 : 0 })}${per}`
}

/** Where the clients that move are: lists with their titles; none without a database. */
export function placesOf(
  { countries, countriesOmitted, operators, operatorsOmitted }: FamilyMovement,
  most: number,
): readonly (readonly [title: string, list: string])[] {
  const lists = [
    ['Countries', countries, countriesOmitted],
    ['Operators', operators, operatorsOmitted],
  ] as const
  return lists.flatMap(([title, places, omitted]) =>
    places === null || places.length + omitted === 0
      ? []
      : [[title, placeList(places, most, omitted)] as const],
  )
}

/** @param omitted how many further places there are */
function placeList(places: readonly PlaceMovement[], most: number, omitted: number): string {
  if (places.length === 0) return `${counted(omitted)}, not listed`
  const shown = places
    .slice(0, most)
    .map(({ place, moved }) => `${placeText(place)} ${percent(moved)}`)
  const more = Math.max(0, places.length - most) + omitted
  return shown.join(', ') + (more > 0 ? ` and ${counted(more)} more` : '')
}

export const countriesTitle =
  'Countries by the largest part of their clients that moves at one name'

/** Formats `DE 12.4 % (www.example.com.)`. */
export function countryList(countries: readonly CountryMovement[], most: number): string {
  const shown = countries
    .slice(0, most)
    .map(
      ({ place, movedOfPlace, name }) => `${placeText(place)} ${percent(movedOfPlace)} (${name})`,
    )
  const more = countries.length - most
  return shown.join(', ') + (more > 0 ? ` and ${counted(more)} more` : '')
}

const placeText = (place: string): string => (place === '' ? 'in no database' : place)

/** '': there is no list, or a single answer differs, whose own list is shown already. */
export function countriesOf({ changes, countries }: PlannedScenario, most: number): string {
  if (countries === null || countries.length === 0 || !isOfMany(changes)) return ''
  return countryList(countries, most)
}

/** Records that are removed and added, where no share shows the change. */
export function recordLines({ before, after }: AnswerChange): readonly string[] {
  const [was, is] = [linesOf(before), linesOf(after)]
  return [
    ...was.filter((line) => !is.includes(line)).map((line) => `- ${line}`),
    ...is.filter((line) => !was.includes(line)).map((line) => `+ ${line}`),
  ]
}

function linesOf({ rcode, records, others, policy, ttlSeconds }: PlannedAnswer): readonly string[] {
  if (policy !== '')
    return [...records, `${policy}${ttlSeconds === null ? '' : `, TTL ${ttlSeconds}`}`]
  const all = [...records, ...others]
  if (rcode !== 'NOERROR') return [...all, rcode]
  return all.length > 0 ? all : ['no record of this type']
}
