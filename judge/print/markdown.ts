// Prints a plan as a comment on a pull request: a title with the verdict, a table, and folded
// details.
import type { AnswerChange, ExpectedTraffic, Plan, PlannedScenario } from '#judge/document/model.ts'
import {
  amount,
  counted,
  countriesTitle,
  countryList,
  endpointText,
  movedOf,
  isAlike,
  percent,
  placeList,
  plural,
  recordLines,
  scenarioText,
  revisionText,
  hasCountries,
  hasTraffic,
  trafficTitle,
  verdict,
  weightText,
} from './phrases.ts'

const rowsMax = 50
const detailsMax = 20
const membersMax = 20
const placesMax = 10
/** Hosting services cut comments at 65,536 characters. */
const lengthMax = 60_000

export function printPlanMarkdown(plan: Plan): string {
  const { base, head, weights, scenarios, later, warnings } = plan
  const parts = [
    `### ${escaped(verdict(plan))}`,
    `From ${code(revisionText(base))} to ${code(revisionText(head))}.`,
    ...(weightText(weights) === '' ? [] : [`${escaped(weightText(weights))}.`]),
  ]
  let before: PlannedScenario | null = null
  for (const scenario of scenarios) {
    if (scenarios.length > 1) parts.push(`**At ${scenarioText(scenario)}**`)
    if (isAlike(scenario, before)) parts.push('The same.')
    else parts.push(...scenarioParts(scenario))
    before = scenario
  }
  if (later.length > 0) {
    const rows = later
      .slice(0, rowsMax)
      .map(
        ({ subject, what, nameCount }) =>
          `- ${escaped(`${subject}: ${what}`)} (${plural(nameCount, 'name')})`,
      )
    const more = later.length - rowsMax
    const rest = more > 0 ? [`- … and ${counted(more)} more`] : []
    const list = [...rows, ...rest].join('\n')
    parts.push(`**May differ later, or when members are down**\n\n${list}`)
  }
  for (const sentence of warnings) parts.push(`> ⚠️ ${escaped(sentence)}`)
  return `${withinLength(parts).join('\n\n')}\n`
}

/** Leaves out whole parts that do not fit. */
function withinLength(parts: readonly string[]): readonly string[] {
  const kept: string[] = []
  let length = 0
  for (const part of parts) {
    length += part.length + 2
    if (length > lengthMax) return [...kept, 'There is more: see `gslbd plan`.']
    kept.push(part)
  }
  return kept
}

function scenarioParts(scenario: PlannedScenario): readonly string[] {
  const { changes, traffic, omitted } = scenario
  if (changes.length === 0) return []
  const rows = changes
    .slice(0, rowsMax)
    .map((change) => `| ${code(change.name)} | ${change.type} | ${escaped(movedOf(change))} |`)
  const more = Math.max(0, changes.length - rowsMax) + omitted
  const rest = more > 0 ? [`… and ${plural(more, 'more answer')}.`] : []
  const table = ['| Name | Type | Effect |', '| --- | --- | --- |', ...rows].join('\n')
  return [
    ...[table, ...rest, ...countryParts(scenario)],
    ...(hasTraffic(scenario) ? trafficParts(traffic) : []),
    ...changes.slice(0, detailsMax).map(detailsOf),
  ]
}

function countryParts(scenario: PlannedScenario): readonly string[] {
  if (!hasCountries(scenario)) return []
  return [`${countriesTitle}: ${escaped(countryList(scenario.countries ?? [], placesMax))}`]
}

function trafficParts(traffic: ExpectedTraffic): readonly string[] {
  const { unit, members } = traffic
  const rows = members
    .slice(0, membersMax)
    .map(
      (member) =>
        `| ${code(endpointText(member))} | ${amount(member.before, unit)} | ` +
        `${amount(member.after, unit)} |`,
    )
  const head = `| ${trafficTitle(traffic)} | before | after |`
  const more = moreMembers(members.length)
  return [[head, '| --- | --: | --: |', ...rows, ...more].join('\n')]
}

function detailsOf(change: AnswerChange): string {
  const { name, type, movement } = change
  const lines = [`<details><summary>${code(name)} ${type}</summary>`, '']
  const records = recordLines(change)
  if (records.length > 0) lines.push('```diff', ...records.map(plainLine), '```', '')
  if (movement !== null) {
    const { members, countries, countriesOmitted, operators, operatorsOmitted } = movement.ipv4
    lines.push('| Clients go to | before | after |', '| --- | --: | --: |')
    for (const member of members.slice(0, membersMax)) {
      const { before, after } = member
      lines.push(`| ${code(endpointText(member))} | ${percent(before)} | ${percent(after)} |`)
    }
    lines.push(...moreMembers(members.length), '')
    for (const [title, places, omitted] of [
      ['Countries', countries, countriesOmitted],
      ['Operators', operators, operatorsOmitted],
    ] as const) {
      if (places === null || places.length + omitted === 0) continue
      lines.push(`${title}: ${escaped(placeList(places, placesMax, omitted))}`, '')
    }
  }
  return [...lines, '</details>'].join('\n')
}

const moreMembers = (count: number): readonly string[] =>
  count > membersMax ? [`| … and ${counted(count - membersMax)} more | | |`] : []

/** Escapes names, texts and organisations, so that none is markup, a link or a mention. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\r\n]+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_{}[\]()#|@~!]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

function code(text: string): string {
  return `<code>${escaped(text)}</code>`
}

/** Keeps a line from ending its code block. */
function plainLine(line: string): string {
  return line.replaceAll(/[\r\n]+/g, ' ').replaceAll('```', "'''")
}
